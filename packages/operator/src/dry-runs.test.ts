import { ApiError, realClock, type StoredObject, virtualClock } from '@openstack-operator/kube';
import type { Composition } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import type { ComposeContext } from './context.ts';
import { DryRuns } from './dry-runs.ts';

const child = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Keystone', metadata: { name: 'a', namespace: 'ns' } };
const composition: Composition = {
  steps: [
    {
      condition: 'KeystoneReady',
      needs: [],
      awaits: [],
      objects: [{ verb: 'apply', object: child, specFrom: 'spec.keystone' }],
    },
  ],
  complete: true,
  status: {},
};

const contextOf = {
  object: { kind: 'OpenStackControlPlane' } as StoredObject,
  key: 'ns/a',
  signal: new AbortController().signal,
  cache: { get: () => undefined },
};

/** What the condition says when the API server answers so. */
async function told(status: Partial<ApiError['status']>): Promise<string | undefined> {
  const context = {
    ...contextOf,
    clock: virtualClock(),
    client: { apply: () => Promise.reject(new ApiError({ apiVersion: 'v1', kind: 'Status', ...status }, 'PATCH')) },
  } as unknown as ComposeContext;
  const dryRuns = new DryRuns();
  expect(await dryRuns.ask(context, composition)).toBe(true);
  expect(await dryRuns.ask(context, composition)).toBe(false);
  return dryRuns.judged(context, composition.steps).steps[0]?.problem?.message;
}

const typed = 'failed to create typed patch object (ns/a; openstack.k8s.io/v1alpha1, Kind=Keystone): ';

test.each<[string, Partial<ApiError['status']>, string | undefined]>([
  [
    'one field',
    { code: 500, message: `${typed}.spec.a.b: expected map, got &{5}` },
    'spec.keystone.a.b: expected map, got &{5}',
  ],
  [
    'several',
    { code: 500, message: `${typed}errors:\n  .spec.a: field not declared in schema\n  .spec.b: no` },
    'spec.keystone.a: unknown field; spec.keystone.b: no',
  ],
  [
    'a validation',
    { code: 422, details: { causes: [{ field: 'spec.a', message: 'spec.a in body should be less than 1' }] } },
    'spec.keystone.a: should be less than 1',
  ],
  ['another field', { code: 422, details: { causes: [{ field: 'metadata.name', message: 'no' }] } }, undefined],
  ['a quota', { code: 403, message: 'exceeded quota: .spec.a: b' }, undefined],
])('an answer about %s', async (_what, status, expected) => {
  expect(await told(status)).toBe(expected);
});

test('what the API server has not answered is asked again, and nothing is changed until it is', async () => {
  const message = 'etcd is away: .spec.a: b';
  const answers = [new ApiError({ apiVersion: 'v1', kind: 'Status', code: 503, message }, 'PATCH'), undefined];
  const apply = () => {
    const error = answers.shift();
    return error === undefined ? Promise.resolve(child) : Promise.reject(error);
  };
  const context = { ...contextOf, clock: virtualClock(), client: { apply } } as unknown as ComposeContext;
  const dryRuns = new DryRuns();
  expect(await dryRuns.ask(context, composition)).toBe(true);
  expect(dryRuns.judged(context, composition.steps).steps[0]?.problem).toMatchObject({
    reason: 'Waiting',
    message: `nothing is changed before the API server says whether it takes all of it: PATCH: ${message}`,
    requeueAfter: 5000,
  });
  expect(await dryRuns.ask(context, composition)).toBe(true);
  expect(dryRuns.judged(context, composition.steps).steps[0]?.problem).toBeUndefined();
  expect(await dryRuns.ask(context, composition)).toBe(false);
});

test('keys as long as an object, whatever they look like, are read once and cut', async () => {
  const key = '<:.spec:.spec:'.repeat(70_000);
  const began = realClock.now();
  const message = await told({ code: 500, message: `${typed}.spec.${key}>x y: field not declared in schema` });
  expect(message?.length).toBeLessThan(1000);
  expect(realClock.now() - began).toBeLessThan(1000);
});
