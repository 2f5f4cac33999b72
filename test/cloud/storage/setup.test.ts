import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../kubernetes/clients/command.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix } from '../running-cloud.ts';
import { until } from '../until.ts';
import { ceph } from './client.ts';

const name = `${prefix}ceph`;
const [images, volumes] = [`${prefix}images`, `${prefix}volumes`];
const users = { cinder: `${prefix}cinder`, glance: `${prefix}glance` };
const admin = `${prefix}ceph-admin`;

let namespace: string;
let external: { readonly monitorHosts: string };
/** Where the images of this cloud come from. */
let source: { readonly imageRegistry?: string; readonly imageTag?: string };

const kubectl = (...argv: readonly string[]) => program('kubectl', '-n', namespace, ...argv);

async function apply(object: object): Promise<void> {
  const environment = process.env as Record<string, string>;
  const stdin = JSON.stringify(object);
  const { code, stderr } = await run('kubectl', ['-n', namespace, 'apply', '-f', '-'], { environment, stdin });
  expect([code, stderr]).toEqual([0, '']);
}

const bring = (key: string) =>
  apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: admin },
    stringData: { 'ceph.client.admin.keyring': key },
  });

interface Entity {
  readonly key: string;
  readonly caps: Readonly<Record<string, string>>;
}

async function entity(user: string): Promise<Entity> {
  const [found] = await ceph<Entity[]>('auth', 'get', `client.${user}`);
  if (found === undefined) throw new Error(`Ceph has no user ${user}`);
  return found;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}

/** Waits until a condition of the CephStorage is so, of the generation and of the request of now. */
async function is(type: string, status: string, words: RegExp): Promise<void> {
  const said = async () => {
    const { metadata, status } = JSON.parse(await kubectl('get', 'cephstorage', name, '-o', 'json')) as {
      metadata: { annotations?: Record<string, string> };
      status?: { conditions?: readonly Condition[]; lastHandledReconcileAt?: string };
    };
    const asked = metadata.annotations?.['openstack.k8s.io/reconcile-at'];
    return asked === status?.lastHandledReconcileAt ? (status?.conditions ?? []) : [];
  };
  await until({
    what: `${type} of CephStorage ${name} to be ${status}, with the words ${words}`,
    seconds: 240,
    probe: async () =>
      (await said()).some((one) => one.type === type && one.status === status && words.test(one.message)) || undefined,
    explain: async () => JSON.stringify(await said()),
  });
}

const again = () =>
  kubectl('annotate', 'cephstorage', name, `openstack.k8s.io/reconcile-at=${randomUUID()}`, '--overwrite');

async function forget(): Promise<void> {
  await kubectl('delete', 'cephstorage', name, '--ignore-not-found', '--wait');
  await kubectl('delete', 'secret', admin, `${name}-cephx-keys`, '--ignore-not-found');
  await kubectl('delete', 'configmap', `${name}-lasting`, '--ignore-not-found');
  for (const user of Object.values(users)) await ceph('auth', 'rm', `client.${user}`);
  for (const pool of [images, volumes])
    await ceph('osd', 'pool', 'delete', pool, pool, '--yes-i-really-really-mean-it');
}

beforeAll(async () => {
  const { metadata } = await controlPlane();
  namespace = metadata.namespace;
  const { spec } = JSON.parse(await kubectl('get', 'cephstorage', `${metadata.name}-ceph`, '-o', 'json')) as {
    readonly spec: { readonly external: typeof external } & typeof source;
  };
  const { imageRegistry, imageTag } = spec;
  external = { monitorHosts: spec.external.monitorHosts };
  source = { ...(imageRegistry && { imageRegistry }), ...(imageTag && { imageTag }) };
  await forget();
});
afterAll(forget);

test('a wrong key of the administrator is told; with the right one pools and users are made, and services could use them', async () => {
  await bring((await entity('cinder')).key);
  await apply({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'CephStorage',
    metadata: { name },
    spec: {
      ...source,
      external: { ...external, admin: { keyringSecretName: admin } },
      users,
      pools: [
        { name: images, purpose: 'glance-images', replicaCount: 1 },
        { name: volumes, purpose: 'cinder-volumes' },
      ],
    },
  });
  await is('SetupReady', 'False', /client\.admin cannot ask the monitors at .*: nothing was made/);
  await bring((await entity('admin')).key);
  // It would try for minutes before it gives up, and is not killed for a change.
  await kubectl('delete', 'job', `${name}-setup`, '--wait=false');
  await is('Ready', 'True', /^/);
  expect(await ceph('osd', 'pool', 'application', 'get', volumes)).toEqual({ rbd: {} });
  expect(await ceph('osd', 'pool', 'get', images, 'size')).toMatchObject({ size: 1 });
  const profile = (pool: string) => `profile rbd pool=${pool}`;
  expect((await entity(users.cinder)).caps).toEqual({
    mon: 'profile rbd',
    osd: `${profile(volumes)}, profile rbd-read-only pool=${images}`,
    mgr: profile(volumes),
  });
}, 600_000);

test('a right that was taken away comes back behind what somebody else has given; a further run leaves it so', async () => {
  const { key } = await entity(users.cinder);
  const osd = `allow r pool=vms,profile rbd-read-only pool=${images}`;
  await ceph('auth', 'caps', `client.${users.cinder}`, 'mon', 'profile rbd', 'osd', osd, 'mds', 'allow r');
  await again();
  await is('Ready', 'True', /^/);
  const changed = await entity(users.cinder);
  expect(changed).toMatchObject({
    key,
    caps: {
      mon: 'profile rbd',
      osd: `${osd}, profile rbd pool=${volumes}`,
      mgr: `profile rbd pool=${volumes}`,
      mds: 'allow r',
    },
  });
  await again();
  await is('Ready', 'True', /^/);
  expect(await entity(users.cinder)).toEqual(changed);
  expect(await ceph('osd', 'pool', 'application', 'get', images)).toEqual({ rbd: {} });
});
