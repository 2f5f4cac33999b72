import type { KubeObject } from '@openstack-operator/kube';
import { beforeAll, describe, expect, test } from 'vitest';
import { definition, keywords, uncompilable, values, wrongDefinitions } from './definitions.ts';
import { type RuleCase, rules, transitions } from './rules.ts';
import { type Answer, type Body, stable, type TestServer, testServer } from './server.ts';

// The snapshots are the real server's: vitest run --config test/kubernetes/conformance/vitest.config.ts --project kubernetes -u

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = '/apis/conformance.example.com/v1';
let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
});

/** What a refusal says, each cause once. */
function refusal(answer: Body): unknown {
  const causes = answer.details?.causes?.map(({ field, message }) => `${field}: ${message}`);
  return stable([answer.code, answer.reason, ...(causes ? [...new Set(causes)].sort() : [answer.message])]);
}

async function served(crd: KubeObject): Promise<string> {
  const created = await server.request('POST', definitions, { body: crd });
  expect(created.status, JSON.stringify(created.body.message)).toBe(201);
  const path = `${group}/namespaces/${namespace}/${crd.metadata.name?.split('.')[0]}`;
  while ((await server.request('GET', path)).status !== 200);
  return path;
}

async function gone(crd: KubeObject): Promise<void> {
  await server.request('DELETE', `${definitions}/${crd.metadata.name}`);
}

function instance(crd: KubeObject, name: string, spec: object): KubeObject {
  const { names } = crd['spec'] as { names: { kind: string } };
  return { apiVersion: 'conformance.example.com/v1', kind: names.kind, metadata: { name }, spec };
}

/** The spec that was stored, or what was said against it. */
function verdict(answer: Answer): unknown {
  return answer.body.kind === 'Status' ? refusal(answer.body) : (answer.body as KubeObject)['spec'];
}

describe('definitions that are refused', () => {
  test.each(Object.entries(wrongDefinitions))('%s', async (_name, [spec, version]) => {
    const answer = await server.request('POST', `${definitions}?dryRun=All`, {
      body: definition('wrong', spec, version),
    });
    const says = answer.body.kind === 'Status' ? refusal(answer.body) : ['accepted'];
    // What follows is the engine's.
    const comparable = (says as unknown[]).map((line) =>
      String(line).replace(/(error parsing regexp|Invalid regular).*/, ''),
    );
    expect(comparable).toMatchSnapshot();
  });

  test.each(Object.entries(uncompilable))('a rule with %s', async (_name, rule) => {
    const spec = {
      type: 'object',
      properties: { a: { type: 'string', maxLength: 9 } },
      'x-kubernetes-validations': [{ rule }],
    };
    const answer = await server.request('POST', `${definitions}?dryRun=All`, { body: definition('wrong', spec) });
    // The words after this are the compiler's.
    const causes = answer.body.details?.causes?.map(({ field, message }) => [
      field,
      message?.split('compilation failed')[0],
    ]);
    expect([answer.status, causes]).toMatchSnapshot();
  });

  test('groups of the community need an approval', async () => {
    const body = definition('wrong', { type: 'object' });
    const spec = { ...(body['spec'] as object), group: 'openstack.k8s.io' };
    const name = 'wrongs.openstack.k8s.io';
    const says: unknown[] = [];
    for (const approval of [undefined, 'yes', 'unapproved, an experiment', 'https://example.com/approval']) {
      const annotations = approval === undefined ? {} : { 'api-approved.kubernetes.io': approval };
      const asked = { ...body, metadata: { name, annotations }, spec };
      const answer = await server.request('POST', `${definitions}?dryRun=All`, { body: asked });
      says.push(answer.status === 201 ? 'accepted' : refusal(answer.body));
    }
    expect(says).toMatchSnapshot();
  });
});

describe('what a schema demands', () => {
  const crd = definition('keyword', { type: 'object', properties: keywords });
  let path: string;
  beforeAll(async () => {
    path = await served(crd);
    return () => gone(crd);
  });

  test.each(Object.entries(values))('%s', async (field, tried) => {
    const verdicts: unknown[] = [];
    for (const value of tried) {
      const body = instance(crd, 'x', { [field]: value });
      verdicts.push([value, verdict(await server.request('POST', `${path}?dryRun=All`, { body }))]);
    }
    expect(verdicts).toMatchSnapshot();
  });

  test('unknown fields are dropped, told of, or refused', async () => {
    const body = {
      ...instance(crd, 'x', { odd: 1, defaulted: { b: { odd: 1 } }, map: [{ name: 'a', odd: 1 }] }),
      odd: 1,
    };
    const says: unknown[] = [];
    for (const validation of ['Ignore', 'Warn', 'Strict']) {
      const answer = await server.request('POST', `${path}?dryRun=All&fieldValidation=${validation}`, { body });
      says.push([validation, answer.headers['warning'], verdict(answer)]);
    }
    expect(says).toMatchSnapshot();
  });
});

describe('what CEL rules demand', () => {
  const properties = Object.fromEntries(
    Object.entries(rules).map(([name, { schema, rule }]: [string, RuleCase]) => [
      name,
      { ...schema, 'x-kubernetes-validations': [rule] },
    ]),
  );
  const crd = definition('rule', { type: 'object', properties });
  let path: string;
  beforeAll(async () => {
    path = await served(crd);
    return () => gone(crd);
  });

  test.each(Object.entries(rules))('%s', async (field, { values: tried }) => {
    const verdicts: unknown[] = [];
    for (const value of tried) {
      const body = instance(crd, 'x', { [field]: value });
      verdicts.push([value, verdict(await server.request('POST', `${path}?dryRun=All`, { body }))]);
    }
    expect(verdicts).toMatchSnapshot();
  });
});

describe('what may become of a stored value', () => {
  const properties = Object.fromEntries(Object.entries(transitions).map(([name, { schema }]) => [name, schema]));
  const crd = definition('transition', { type: 'object', properties });
  let path: string;
  beforeAll(async () => {
    path = await served(crd);
    return () => gone(crd);
  });

  test.each(Object.entries(transitions))('%s', async (field, { from, to }) => {
    const body = instance(crd, `t-${field}`, from === null ? {} : { [field]: from });
    const created = await server.request('POST', path, { body });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const contentType = 'application/merge-patch+json';
    const verdicts: unknown[] = [];
    for (const value of to) {
      const patch = { spec: { [field]: value } };
      const at = `${path}/${body.metadata.name}?dryRun=All`;
      verdicts.push([value, verdict(await server.request('PATCH', at, { body: patch, contentType }))]);
    }
    expect(verdicts).toMatchSnapshot();
  });

  test('a mistake that is older than its rule is forgiven until it is touched', async () => {
    const loose = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } } };
    const aging = definition('aging', loose);
    const place = await served(aging);
    await server.request('POST', place, { body: instance(aging, 'old', { a: 'too long', b: 1 }) });
    const strict = {
      type: 'object',
      properties: {
        a: { type: 'string', maxLength: 3, 'x-kubernetes-validations': [{ rule: "self.startsWith('x')" }] },
        b: { type: 'integer', maximum: 0 },
      },
    };
    const contentType = 'application/merge-patch+json';
    const version = {
      ...(aging['spec'] as { versions: object[] }).versions[0],
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: strict } } },
    };
    await server.request('PATCH', `${definitions}/${aging.metadata.name}`, {
      body: { spec: { versions: [version] } },
      contentType,
    });
    const patch = (body: object) => server.request('PATCH', `${place}/old?dryRun=All`, { body, contentType });
    // The new schema is served a moment after it is stored.
    while ((await patch({ spec: { b: 2 } })).status === 200);
    const says = [
      verdict(await patch({ metadata: { labels: { a: 'b' } } })),
      verdict(await patch({ spec: { a: 'another' } })),
      verdict(await patch({ spec: { a: 'xyz', b: 0 } })),
    ];
    expect(says).toMatchSnapshot();
    await gone(aging);
  });
});
