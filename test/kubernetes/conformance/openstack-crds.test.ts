import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validateResource } from '@openstack-operator/cli';
import { type Api, children, group, kinds, type OpenApiSchema, version } from '@openstack-operator/openstack';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { minimalSpecs } from './minimal-specs.ts';
import { config, readConfig, serveOurKinds } from './openstack-definitions.ts';
import { refusedSpecs } from './openstack-rules.ts';
import { refusal } from './refusal.ts';
import { type TestServer, testServer } from './server.ts';

let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await testServer();
  await serveOurKinds(server);
  namespace = await server.namespace();
});

/** Bytes of all annotations of an object: kubectl apply writes the object itself, as JSON, into one of them. */
const mostAnnotations = 256 * 1024;

test.each(readdirSync(join(config, 'crd/bases')))('%s is small enough for kubectl apply', (file) => {
  const definition: unknown = parse(readFileSync(join(config, 'crd/bases', file), 'utf8'));
  expect(Buffer.byteLength(JSON.stringify(definition))).toBeLessThan(mostAnnotations - 1024);
});

/** What is undefined in `spec` is left out of the minimal one. */
const objectOf = (api: Api, spec: object, name = 'x') => ({
  apiVersion: `${group}/${version}`,
  kind: api.kind,
  metadata: { name, namespace },
  spec: JSON.parse(JSON.stringify({ ...minimalSpecs.get(api.kind), ...spec })) as object,
});

const create = (api: Api, spec: object, name?: string) =>
  refusal(server.client.create(api, objectOf(api, spec, name), { dryRun: true, fieldValidation: 'Strict' }));

test.each(readdirSync(join(config, 'samples')).filter((file) => !/^(kustomization|gateway)/.test(file)))(
  'the sample %s is accepted as it is',
  async (file) => {
    const sample = readConfig(`samples/${file}`);
    const api = kinds.find(({ kind }) => kind === sample.kind) as Api;
    const object = { ...sample, metadata: { ...sample.metadata, namespace } } as never;
    const created = await server.client.create(api, object, { dryRun: true, fieldValidation: 'Strict' });
    expect(created.spec).toMatchObject(sample['spec'] as object);
  },
);

test.each(kinds.map((api) => [api.kind, api] as const))(
  'an empty %s is accepted, with its defaults',
  async (_kind, api) => {
    const { spec, ...rest } = objectOf(api, {});
    const object = minimalSpecs.has(api.kind) ? { ...rest, spec } : rest;
    const created = await server.client.create(api, object as never, { dryRun: true, fieldValidation: 'Strict' });
    const defaults = Object.entries(api.spec.schema.properties ?? {}).flatMap(([name, { default: value }]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    expect(created.spec).toMatchObject(Object.fromEntries(defaults));
  },
);

/** The cases of the kinds, and the same ones below a control plane. */
const controlPlane = kinds.find(({ kind }) => kind === 'OpenStackControlPlane') as Api;
const cases = refusedSpecs.flatMap((one) => {
  const child = children.find(({ kind }) => kind === one.kind.kind);
  // The release is the whole cloud's.
  if (child === undefined || one.field === 'spec.release') return [one];
  const below = (spec: object) => ({ [child.field]: { ...minimalSpecs.get(child.kind), ...spec } });
  const field = one.field.replace(/^spec/, `spec.${child.field}`);
  return [one, { ...one, kind: controlPlane, field, spec: below(one.spec), instead: below(one.instead) }];
});

test.each(cases.map((one) => [one.kind.kind, one.field, JSON.stringify(one.spec), one] as const))(
  'a %s is refused for %s when it says %s',
  async (_kind, field, _spec, { kind, spec, words, instead }) => {
    // Below a control plane shapes that services share are only named: what is in them, `validate` says.
    const validated = kind === controlPlane ? validateResource(objectOf(kind, spec)) : [];
    expect([...((await create(kind, spec)) ?? []), ...validated]).toContainEqual(
      expect.objectContaining({ field, message: expect.stringContaining(words) }),
    );
    expect(await create(kind, instead)).toBeUndefined();
    expect(validateResource(objectOf(kind, instead))).toEqual([]);
  },
);

describe.each(kinds.map((api) => [api.kind, api] as const))('the name of a %s', (_kind, api) => {
  const longest = 'a'.repeat(api.nameLength);
  test('leaves room for the names of what is made from it', async () => {
    expect(await create(api, {}, longest)).toBeUndefined();
    expect(await create(api, {}, `${longest}a`)).toContainEqual(
      expect.objectContaining({ field: 'metadata.name', message: expect.stringContaining('is too long') }),
    );
  });
  test('can be the name of a Service', async () => {
    for (const name of ['1a', 'a.b']) {
      expect(await create(api, {}, name)).toContainEqual(
        expect.objectContaining({ field: 'metadata.name', message: expect.stringContaining('begin with a letter') }),
      );
    }
  });
});

test('configuration keeps texts, numbers, truth values, lists and null as they are', async () => {
  const api = kinds.find(({ kind }) => kind === 'Keystone') as Api;
  const config = { 'keystone.conf': { DEFAULT: { debug: true, a: 'text', n: 2.5, list: ['a', 1], gone: null } } };
  const created = await server.client.create(api, objectOf(api, { config }), { dryRun: true });
  expect(created.spec).toMatchObject({ config });
});

test('every rule is met by a case above', () => {
  const rules = (schema: OpenApiSchema, path: string): { field: string; message: string }[] => [
    ...(schema['x-kubernetes-validations'] ?? [])
      .filter(({ rule }) => !rule.includes('oldSelf'))
      .map(({ message, fieldPath = '' }) => ({ field: `${path}${fieldPath}`, message })),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) => rules(child, `${path}.${name}`)),
    ...(schema.additionalProperties === undefined ? [] : rules(schema.additionalProperties, `${path}[]`)),
    ...(schema.items === undefined ? [] : rules(schema.items, `${path}[]`)),
  ];
  const isMet = (api: Api, { field, message }: { field: string; message: string }) =>
    cases.some(
      (one) => one.kind === api && one.field.replace(/\[[^\]]+\]/g, '[]') === field && message.includes(one.words),
    );
  const unmet = kinds.flatMap((api) =>
    rules(api.spec.schema, 'spec')
      .filter((one) => !isMet(api, one))
      .map(({ field, message }) => `${api.kind} ${field}: ${message}`),
  );
  expect(unmet).toEqual([]);
});
