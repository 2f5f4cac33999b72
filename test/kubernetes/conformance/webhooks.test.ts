import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Answer, type TestServer, testServer, uniqueName } from './server.ts';
import { type AdmissionReview, startWebhooks, type Verdict, type WebhookServer } from './webhook-server.ts';

let server: TestServer;
let webhooks: WebhookServer;
let namespace: string;
let base: string;
const registered: string[] = [];
beforeAll(async () => {
  server = await testServer();
  webhooks = await startWebhooks();
}, 30_000);
afterAll(() => webhooks.close());
beforeEach(async () => {
  namespace = await server.namespace();
  base = `/api/v1/namespaces/${namespace}/configmaps`;
});
afterEach(async () => {
  for (const path of registered.splice(0)) await server.request('DELETE', path);
});

const configMap = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});

/**
 * Registers webhooks for the ConfigMaps of the test's namespace, and waits until each write of such a kind asks them
 * (a real server hears of a configuration a moment later): until `asked` says that a dry run did.
 */
async function register(
  type: 'Mutating' | 'Validating',
  stated: readonly object[],
  takesEffect: (answer: Answer) => boolean,
): Promise<void> {
  const plural = `${type.toLowerCase()}webhookconfigurations`;
  const name = uniqueName('conformance');
  const collection = `/apis/admissionregistration.k8s.io/v1/${plural}`;
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${type}WebhookConfiguration`,
    metadata: { name },
    webhooks: stated.map((webhook, position) => ({
      name: `w${position}.conformance.example.com`,
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 2,
      ...webhook,
    })),
  };
  const created = await server.request('POST', collection, { body });
  expect(created.status, created.body.message).toBe(201);
  registered.push(`${collection}/${name}`);
  for (let tries = 0; tries < 5000; tries += 1) {
    if (takesEffect(await server.request('POST', `${base}?dryRun=All`, { body: configMap('probe') }))) return;
  }
  throw new Error('the webhooks were not asked');
}

/** A webhook that notes what it is asked, and answers so. */
function noting(verdict: (review: AdmissionReview) => Verdict) {
  const reviews: AdmissionReview[] = [];
  const clientConfig = webhooks.webhook((review) => {
    if (review.request.name !== 'probe') reviews.push(review);
    return verdict(review);
  });
  return { clientConfig, reviews };
}

const isRefused = ({ status }: Answer) => status >= 400;
const isWarned = ({ headers }: Answer) => headers['warning'] !== undefined;
const words = ({ status, body }: Answer) => [status, body.reason, body.message];

test('a validating webhook refuses in its own words', async () => {
  const verdicts: Record<string, object> = {
    message: { allowed: false, status: { message: 'not this one', code: 418, reason: 'Teapot' } },
    reason: { allowed: false, status: { reason: 'Forbidden' } },
    nothing: { allowed: false },
    probe: { allowed: false },
  };
  const { clientConfig } = noting(({ request }) => verdicts[request.name ?? ''] ?? {});
  await register('Validating', [{ clientConfig }], isRefused);
  const answers: unknown[] = [];
  for (const name of ['message', 'reason', 'nothing', 'other']) {
    answers.push(words(await server.request('POST', base, { body: configMap(name) })));
  }
  expect(answers).toEqual([
    [418, 'Teapot', 'admission webhook "w0.conformance.example.com" denied the request: not this one'],
    [400, 'Forbidden', 'admission webhook "w0.conformance.example.com" denied the request: Forbidden'],
    [400, undefined, 'admission webhook "w0.conformance.example.com" denied the request without explanation'],
    [201, undefined, undefined],
  ]);
});

test('a webhook is asked about what is written, and may warn', async () => {
  const { clientConfig, reviews } = noting(() => ({ warnings: ['mind the gap'] }));
  const rules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] },
  ];
  await register('Validating', [{ clientConfig, rules }], isWarned);
  const created = await server.request('POST', base, { body: configMap('a', { data: { a: '1' } }) });
  expect(created.headers['warning']).toBe('299 - "mind the gap"');
  const patch = { contentType: 'application/merge-patch+json', body: { data: { a: '2' } } };
  await server.request('PATCH', `${base}/a?dryRun=All`, patch);
  await server.request('DELETE', `${base}/a`);
  const seen = reviews.map(({ request }) => {
    const { uid: _, userInfo, options: __, object, oldObject, ...rest } = request as Record<string, unknown>;
    const data = (one: unknown) => (one === null ? null : (one as { data?: unknown }).data);
    return { ...rest, user: (userInfo as { username: string }).username, object: data(object), old: data(oldObject) };
  });
  const common = {
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    requestResource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'a',
    namespace,
    user: 'kubernetes-admin',
  };
  expect(seen).toEqual([
    { ...common, operation: 'CREATE', dryRun: false, object: { a: '1' }, old: null },
    { ...common, operation: 'UPDATE', dryRun: true, object: { a: '2' }, old: { a: '1' } },
    { ...common, operation: 'DELETE', dryRun: false, object: null, old: { a: '1' } },
  ]);
});

test('mutating webhooks change what is stored, one after the other, before it is validated', async () => {
  const labelled =
    (name: string) =>
    ({ object }: AdmissionReview['request']) => {
      const labels = { ...object?.metadata.labels, [name]: String(Object.keys(object?.metadata.labels ?? {}).length) };
      const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/metadata/labels', value: labels }]));
      return { patchType: 'JSONPatch', patch: patch.toString('base64') };
    };
  const first = noting(({ request }) => labelled('first')(request));
  const second = noting(({ request }) =>
    request.name === 'wrong'
      ? {
          patchType: 'JSONPatch',
          patch: Buffer.from('[{"op":"add","path":"/data","value":{"a/b":"x"}}]').toString('base64'),
        }
      : labelled('second')(request),
  );
  const both = [{ clientConfig: first.clientConfig }, { clientConfig: second.clientConfig }];
  await register('Mutating', both, ({ body }) => body.metadata.labels !== undefined);
  const created = await server.request('POST', base, { body: configMap('a') });
  expect(created.body.metadata.labels).toEqual({ first: '0', second: '1' });
  expect((await server.request('GET', `${base}/a`)).body.metadata.labels).toEqual({ first: '0', second: '1' });
  const wrong = await server.request('POST', base, { body: configMap('wrong') });
  expect([wrong.status, wrong.body.details?.causes?.map(({ field }) => field)]).toEqual([422, ['data[a/b]']]);
});

test('a webhook that cannot be asked fails the write, or is passed over', async () => {
  const signal = noting(() => ({ warnings: ['asked'] }));
  const ends = [
    ['nobody', webhooks.nobody()],
    ['silence', webhooks.webhook(() => 'silence')],
    ['status', webhooks.webhook(() => 500)],
    ['uid', webhooks.webhook(() => ({ uid: 'another' }))],
  ] as const;
  const only = (key: string) => ({ objectSelector: { matchLabels: { end: key } }, timeoutSeconds: 1 });
  const failing = ends.map(([name, clientConfig]) => ({ clientConfig, ...only(name) }));
  const ignored = ends.map(([name, clientConfig]) => ({
    clientConfig,
    ...only(`${name}-ignored`),
    failurePolicy: 'Ignore',
  }));
  await register('Validating', [{ clientConfig: signal.clientConfig }, ...failing, ...ignored], isWarned);
  const ask = async (end: string) => {
    const metadata = { name: uniqueName('a'), labels: { end } };
    const answer = await server.request('POST', base, { body: { ...configMap('a'), metadata } });
    return [answer.status, answer.body.reason, answer.body.message?.replaceAll(/:\d+\//g, ':<port>/')];
  };
  const failed = 'Internal error occurred: failed calling webhook "w<n>.conformance.example.com": ';
  const answers = await Promise.all(ends.map(([name]) => ask(name)));
  expect(
    answers.map(([status, reason, message]) => [status, reason, String(message).replace(/"w\d/, '"w<n>')]),
  ).toEqual([
    [
      500,
      'InternalError',
      `${failed}failed to call webhook: Post "https://127.0.0.1:<port>/nobody?timeout=1s": dial tcp 127.0.0.1:1: connect: connection refused`,
    ],
    [
      500,
      'InternalError',
      expect.stringMatching(
        /failed to call webhook: Post "https:\/\/127\.0\.0\.1:<port>\/\d\?timeout=1s": context deadline exceeded$/,
      ),
    ],
    [
      500,
      'InternalError',
      `${failed}failed to call webhook: an error on the server ("") has prevented the request from succeeding`,
    ],
    [500, 'InternalError', expect.stringMatching(/expected response\.uid="[-0-9a-f]+", got "another"$/)],
  ]);
  const passed = await Promise.all(ends.map(([name]) => ask(`${name}-ignored`)));
  expect(passed.map(([status]) => status)).toEqual([201, 201, 201, 201]);
});

test('rules say what a webhook is asked about', async () => {
  const { clientConfig, reviews } = noting(({ request }) => (request.name === 'probe' ? { allowed: false } : {}));
  const rules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
    {
      apiGroups: ['apps'],
      apiVersions: ['*'],
      operations: ['*'],
      resources: ['deployments/status', 'deployments/scale'],
    },
    { apiGroups: ['*'], apiVersions: ['v1'], operations: ['DELETE'], resources: ['*'], scope: 'Cluster' },
  ];
  await register('Validating', [{ clientConfig, rules }], isRefused);
  await server.request('POST', `/api/v1/namespaces/${namespace}/secrets`, { body: { metadata: { name: 's' } } });
  const selector = { app: 'a' };
  const template = { metadata: { labels: selector }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const body = { metadata: { name: 'd' }, spec: { selector: { matchLabels: selector }, template } };
  await server.request('POST', deployments, { body });
  const merge = (change: object) => ({ contentType: 'application/merge-patch+json', body: change });
  await server.request('PATCH', `${deployments}/d`, merge({ spec: { replicas: 2 } }));
  await server.request('PATCH', `${deployments}/d/status`, merge({ status: { replicas: 1 } }));
  await server.request('PATCH', `${deployments}/d/scale`, merge({ spec: { replicas: 3 } }));
  await server.request('DELETE', `${deployments}/d`);
  // A real server whose cache lags behind its etcd makes a change anew, and asks anew.
  const asked = reviews.map(({ request }) => [request.operation, request['subResource'], request.name].join(' '));
  expect([...new Set(asked)]).toEqual(['UPDATE status d', 'UPDATE scale d']);
});
