import { beforeAll, expect, test } from 'vitest';
import { newKind } from './definitions.ts';
import { type Body, stable, type TestServer, testServer } from './server.ts';

let server: TestServer;
let namespace: string;
let base: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  base = `/api/v1/namespaces/${namespace}/configmaps`;
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const metadata = { name, labels: { half: name < 'c' ? 'first' : 'second' } };
    await server.request('POST', base, { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata } });
  }
});

const namesOf = (body: Pick<Body, 'items'>) => body.items?.map(({ metadata }) => metadata.name);

test('a list says its kind once', async () => {
  const { body } = await server.request('GET', `${base}?labelSelector=half=first`);
  const shape = { ...body, items: body.items?.map((item) => Object.keys(item).sort()) };
  expect(stable(shape)).toMatchInlineSnapshot(`
    {
      "apiVersion": "v1",
      "items": [
        [
          "metadata",
        ],
        [
          "metadata",
        ],
      ],
      "kind": "ConfigMapList",
      "metadata": {
        "resourceVersion": "<version>",
      },
    }
  `);
});

test('pages continue the moment of the first one', async () => {
  const first = (await server.request('GET', `${base}?limit=2`)).body;
  expect(namesOf(first)).toEqual(['a', 'b']);
  const list = first.metadata as { continue?: string; remainingItemCount?: number; resourceVersion?: string };
  expect(list.remainingItemCount).toBe(3);
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bb' } };
  await server.request('POST', base, { body });
  const token = encodeURIComponent(list.continue ?? '');
  const second = (await server.request('GET', `${base}?limit=2&continue=${token}`)).body;
  expect(namesOf(second)).toEqual(['c', 'd']);
  expect(second.metadata.resourceVersion).toBe(list.resourceVersion);
  const next = encodeURIComponent((second.metadata as { continue?: string }).continue ?? '');
  const third = (await server.request('GET', `${base}?limit=2&continue=${next}`)).body;
  expect([namesOf(third), Object.keys(third.metadata)]).toEqual([['e'], ['resourceVersion']]);
  await server.request('DELETE', `${base}/bb`);
});

test('a selected list does not say how many remain', async () => {
  const { body } = await server.request('GET', `${base}?limit=1&labelSelector=half=first`);
  expect(Object.keys(body.metadata).sort()).toEqual(['continue', 'resourceVersion']);
});

test('an exact version shows the past', async () => {
  const before = (await server.request('GET', base)).body.metadata.resourceVersion;
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'later' } };
  await server.request('POST', base, { body });
  const exact = await server.request('GET', `${base}?resourceVersion=${before}&resourceVersionMatch=Exact`);
  expect(namesOf(exact.body)).not.toContain('later');
  expect(exact.body.metadata.resourceVersion).toBe(before);
  const atLeast = await server.request('GET', `${base}?resourceVersion=${before}&resourceVersionMatch=NotOlderThan`);
  expect(namesOf(atLeast.body)).toContain('later');
  await server.request('DELETE', `${base}/later`);
});

test('what is forgotten is refused, of a page with a token for the rest as it is now', async ({ skip }) => {
  if (!(await server.forgetBefore(3))) skip('nobody reaches the etcd of this server');
  const { path, kind } = await newKind(server);
  const things = path(namespace);
  for (const name of ['a', 'b', 'c']) {
    await server.request('POST', things, {
      body: { apiVersion: 'conformance.example.com/v1', kind, metadata: { name } },
    });
  }
  const exact = await server.request('GET', `${things}?resourceVersion=2&resourceVersionMatch=Exact`);
  expect([exact.status, exact.body.reason, exact.body.message]).toEqual([
    410,
    'Expired',
    'The resourceVersion for the provided list is too old.',
  ]);
  const tokenOf = ({ metadata }: Body) => (metadata as { continue?: string }).continue ?? '';
  const page = await server.request('GET', `${things}?limit=1`);
  const token = JSON.parse(Buffer.from(tokenOf(page.body), 'base64url').toString()) as object;
  const old = Buffer.from(JSON.stringify({ ...token, rv: 2 })).toString('base64url');
  const { body } = await server.request('GET', `${things}?limit=1&continue=${old}`);
  expect([body.code, body.reason]).toEqual([410, 'Expired']);
  expect(body.message).toMatch(/^The provided continue parameter is too old to display a consistent list result/);
  const rest = await server.request('GET', `${things}?limit=1&continue=${tokenOf(body)}`);
  expect(namesOf(rest.body)).toEqual(['b']);
});

test('wrong options are refused', async () => {
  const answers = [];
  for (const query of [
    'continue=e30',
    'continue=e30&resourceVersion=5',
    'resourceVersionMatch=Exact',
    'resourceVersionMatch=Exact&resourceVersion=0',
    'resourceVersionMatch=Sometimes&resourceVersion=5',
    'resourceVersion=abc',
    'sendInitialEvents=true',
    'limit=abc',
  ]) {
    const { status, body } = await server.request('GET', `${base}?${query}`);
    answers.push([query, status, body.reason, body.message]);
  }
  expect(answers).toMatchInlineSnapshot(`
    [
      [
        "continue=e30",
        400,
        "BadRequest",
        "invalid continue token: continue key is not valid: server does not recognize this encoded version ",
      ],
      [
        "continue=e30&resourceVersion=5",
        400,
        "BadRequest",
        "invalid continue token: continue key is not valid: server does not recognize this encoded version ",
      ],
      [
        "resourceVersionMatch=Exact",
        422,
        "Invalid",
        "ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
      ],
      [
        "resourceVersionMatch=Exact&resourceVersion=0",
        422,
        "Invalid",
        "ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"",
      ],
      [
        "resourceVersionMatch=Sometimes&resourceVersion=5",
        422,
        "Invalid",
        "ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Sometimes": supported values: "Exact", "NotOlderThan", """,
      ],
      [
        "resourceVersion=abc",
        400,
        "BadRequest",
        "invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax",
      ],
      [
        "sendInitialEvents=true",
        422,
        "Invalid",
        "ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
      ],
      [
        "limit=abc",
        400,
        "BadRequest",
        "strconv.ParseInt: parsing "abc": invalid syntax",
      ],
    ]
  `);
});

test('a version of the future times out', async () => {
  const { status, body } = await server.request(
    'GET',
    `${base}?resourceVersion=999999999&resourceVersionMatch=NotOlderThan`,
  );
  const message = body.message?.replace(/current: \d+/, 'current: <version>');
  expect([status, { ...body, message }]).toMatchInlineSnapshot(`
    [
      504,
      {
        "apiVersion": "v1",
        "code": 504,
        "details": {
          "causes": [
            {
              "message": "Too large resource version",
              "reason": "ResourceVersionTooLarge",
            },
          ],
          "retryAfterSeconds": 1,
        },
        "kind": "Status",
        "message": "Timeout: Too large resource version: 999999999, current: <version>",
        "metadata": {},
        "reason": "Timeout",
        "status": "Failure",
      },
    ]
  `);
});

test('a list of all namespaces holds those of each', async () => {
  const { body } = await server.request('GET', '/api/v1/configmaps?labelSelector=half=second');
  const mine = body.items?.filter(({ metadata }) => metadata.namespace === namespace);
  expect(namesOf({ items: mine ?? [] })).toEqual(['c', 'd', 'e']);
});
