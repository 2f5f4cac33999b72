import { ConfigMap, type KubeObject, Secret } from '@openstack-operator/kube';
import { Keystone } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly } from './cloud.ts';

const key = { name: 'brought', key: 'token' };
const metadata = { name: 'brought', namespace: 'openstack' };
const api = 'my-cloud-keystone-api';

interface Source {
  readonly kind: 'Secret' | 'ConfigMap';
  readonly field: 'secretKeyRef' | 'configMapKeyRef';
  readonly object: (token?: string) => KubeObject;
}
const sources: readonly Source[] = [
  {
    kind: 'Secret',
    field: 'secretKeyRef',
    object: (token) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      stringData: { other: 'x', ...(token && { token }) },
    }),
  },
  {
    kind: 'ConfigMap',
    field: 'configMapKeyRef',
    object: (token) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { other: 'x', ...(token && { token }) },
    }),
  },
];

/** A cloud whose Keystone takes a variable from an object that its user brings. */
async function withVariable(valueFrom: object): Promise<Cloud> {
  const cloud = await createCloud();
  await cloud.startOperator();
  const env = [{ name: 'EXTRA', valueFrom }];
  await cloud.settle(
    cloud.rehearsal.create(controlPlane({ ...identityOnly, keystone: { components: { api: { env } } } })),
  );
  return cloud;
}
const deployment = (cloud: Cloud) => cloud.condition(Keystone, 'my-cloud-keystone', 'DeploymentReady');
const pods = (cloud: Cloud) =>
  cloud
    .list('Pod')
    .filter(({ metadata: { name } }) => name.startsWith(`${api}-`))
    .map(({ metadata: { uid } }) => uid)
    .sort();

describe.each(sources)('a variable from a $kind that the user brings', ({ kind, field, object }) => {
  const path = `spec.components.api.env[0].valueFrom.${field}.name`;

  test('waits for it by name, takes it up when it comes, and rolls the pods when it changes', async () => {
    const cloud = await withVariable({ [field]: key });
    await cloud.until(() => deployment(cloud)?.reason === `${kind}Missing`);
    expect(deployment(cloud)?.message).toBe(`${path}: ${kind} brought does not exist; create it`);
    await cloud.settle(cloud.rehearsal.create(object('one')));
    await cloud.ready();
    const before = pods(cloud);
    await cloud.clock.advance(60_000);
    expect(pods(cloud)).toEqual(before);
    const { data, stringData } = object('two') as { data?: object; stringData?: object };
    await cloud.change(kind === 'Secret' ? Secret : ConfigMap, 'brought', data ? { data } : { stringData });
    await cloud.clock.advance(60_000);
    await cloud.ready();
    expect(pods(cloud)).toHaveLength(before.length);
    expect(pods(cloud).filter((uid) => before.includes(uid))).toEqual([]);
  });

  test('names the key that is missing, and goes on when it is there', async () => {
    const cloud = await withVariable({ [field]: key });
    await cloud.settle(cloud.rehearsal.create(object()));
    await cloud.until(() => deployment(cloud)?.reason === `${kind}KeyMissing`);
    expect(deployment(cloud)?.message).toBe(`${path}: ${kind} brought has no key token; it has other`);
    await cloud.change(kind === 'Secret' ? Secret : ConfigMap, 'brought', {
      data: { token: kind === 'Secret' ? 'b25l' : 'one' },
    });
    await cloud.ready();
  });

  test('is left out when it is optional and missing', async () => {
    const cloud = await withVariable({ [field]: { ...key, optional: true } });
    await cloud.ready();
    const before = pods(cloud);
    await cloud.settle(cloud.rehearsal.create(object('one')));
    await cloud.clock.advance(60_000);
    await cloud.ready();
    expect(pods(cloud).filter((uid) => before.includes(uid))).toEqual([]);
  });
});
