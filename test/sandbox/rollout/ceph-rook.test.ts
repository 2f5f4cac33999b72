import type { KubeObject } from '@openstack-operator/kube';
import { CephStorage, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly, monitorsOf } from './cloud.ts';
import { cloudWithRights } from './operator-access.ts';
import { CephClient, playRook, serveRook } from './rook.ts';

const backend = (name: string) => ({ name, type: 'ceph', cephPoolName: name });
const messengers = (host: string) => `[v2:${host}:3300,v1:${host}:6789]`;

/** A cloud with volumes in a Ceph of Rook, whose operator has the rights of config/rbac; `refused`: what these lack. */
async function volumesAtRook() {
  const { cloud, refused } = await cloudWithRights();
  const cinder = { backends: [backend('fast'), backend('slow')] };
  const spec = { ...identityOnly, rabbitmq: {}, cephStorage: { mode: 'rook' }, cinder };
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  const told = (type: string) => cloud.condition(CephStorage, 'my-cloud-ceph', type);
  return { cloud, refused, told };
}

const capsOf = (client: KubeObject | undefined) =>
  (client?.['spec'] as { caps: Record<string, string> } | undefined)?.caps;

test('Rook makes pools and users; its monitors and keys are used as they appear, and stay when the cloud goes', async () => {
  const { cloud, refused, told } = await volumesAtRook();
  await cloud.until(() => told('RookReady')?.reason === 'ApiMissing');
  expect(told('RookReady')?.message).toContain(
    'the cluster does not serve ceph.rook.io/v1 CephBlockPool; install Rook',
  );

  await serveRook(cloud);
  await cloud.until(() => told('RookReady')?.reason === 'Progressing');
  expect(told('RookReady')?.message).toContain(
    'CephBlockPool fast: status.phase is not there yet, not Ready (Rook begins once the CephCluster of this namespace is Ready)',
  );
  expect(told('ConfigReady')).toMatchObject({ status: 'False', reason: 'Waiting' });

  await playRook(cloud, messengers('10.0.0.11'));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  const pools = 'profile rbd pool=fast, profile rbd pool=slow';
  const caps = { mon: 'profile rbd', osd: pools, mgr: pools };
  expect(capsOf(cloud.get('CephClient', 'cinder'))).toEqual(caps);
  const found = () => (cloud.get('CephStorage', 'my-cloud-ceph')?.status as { found?: object } | undefined)?.found;
  expect(found()).toEqual({ fsid: expect.any(String), monitorHosts: messengers('10.0.0.11') });
  const keyring = cloud.get('Secret', 'my-cloud-ceph-config-files')?.['data'] as Record<string, string>;
  expect(Buffer.from(keyring['ceph.client.cinder.keyring'] ?? '', 'base64').toString()).toBe(
    `[client.cinder]\n\tkey = ${Buffer.alloc(28, 'cinder').toString('base64')}\n`,
  );
  expect(monitorsOf(cloud, 'my-cloud-cinder-volume')).toEqual([messengers('10.0.0.11')]);

  // Another quorum of the same cluster, then the monitors of another one.
  await playRook(cloud, messengers('10.0.0.12'));
  await cloud.until(() => monitorsOf(cloud, 'my-cloud-cinder-volume').includes(messengers('10.0.0.12')));
  await cloud.ready();
  await playRook(cloud, messengers('10.0.9.12'));
  await cloud.until(() => told('PoolsReady')?.message.includes(' in Secret rook-ceph-config') === true);
  expect(monitorsOf(cloud, 'my-cloud-cinder-volume')).not.toContain(messengers('10.0.9.12'));
  await playRook(cloud, messengers('10.0.0.12'));
  await cloud.ready();

  // A backend that is stated no more has volumes until somebody has looked.
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { backends: [backend('fast')] } } });
  const stated = () => cloud.get('CephStorage', 'my-cloud-ceph')?.['spec'] as { pools?: readonly object[] } | undefined;
  await cloud.until(() => stated()?.pools?.length === 1);
  await cloud.clock.advance(60_000);
  expect(cloud.get('CephBlockPool', 'slow')?.metadata.deletionTimestamp).toBeUndefined();
  expect(Object.values(capsOf(cloud.get('CephClient', 'cinder')) ?? {}).sort()).toEqual(Object.values(caps).sort());

  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined);
  await cloud.until(() => cloud.get('CephStorage', 'my-cloud-ceph') === undefined);
  expect(['CephBlockPool', 'CephClient'].flatMap((kind) => cloud.list(kind)).map(({ metadata }) => metadata)).toEqual(
    ['fast', 'slow', 'cinder'].map((name) => expect.objectContaining({ name })),
  );
  expect(cloud.list('CephBlockPool').flatMap(({ metadata }) => metadata.deletionTimestamp ?? [])).toEqual([]);
  expect(refused).toEqual([]);
});

test('a user that somebody else has made is not taken over', async () => {
  const { cloud, told } = await volumesAtRook();
  await serveRook(cloud);
  const metadata = { name: 'cinder', namespace: 'openstack' };
  const theirs = { apiVersion: 'ceph.rook.io/v1', kind: 'CephClient', metadata, spec: { caps: { mon: 'allow r' } } };
  await cloud.settle(cloud.rehearsal.sandbox.client().create(CephClient, theirs));
  await cloud.until(() => told('RookReady')?.reason === 'ForeignObject');
  expect(told('RookReady')?.message).toContain('CephClient');
  expect(capsOf(cloud.get('CephClient', 'cinder'))).toEqual({ mon: 'allow r' });
});

test('with deletionPolicy: Delete what Rook has goes with the resource, and not before; Retain keeps it, said in time', async () => {
  const cloud = await createCloud();
  await serveRook(cloud);
  await cloud.startOperator();
  const make = (name: string) => {
    const pools = ['volumes', 'more'].map((pool) => ({ name: `${name}-${pool}`, purpose: 'cinder-volumes' }));
    const spec = { mode: 'rook', users: { cinder: name }, pools, deletionPolicy: 'Delete' };
    const metadata = { name, namespace: 'openstack' };
    const resource = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'CephStorage', metadata, spec };
    return cloud.settle(cloud.rehearsal.create(resource));
  };
  const pools = () => cloud.list('CephBlockPool').map(({ metadata }) => metadata.name);
  const isOwned = (name: string) => cloud.get('CephBlockPool', name)?.metadata.ownerReferences?.length === 1;
  await make('one');
  await make('two');
  await cloud.until(() => isOwned('one-volumes') && isOwned('two-volumes'));
  await playRook(cloud, messengers('10.0.0.11'));
  await cloud.until(() => cloud.isReady('CephStorage', 'one') && cloud.isReady('CephStorage', 'two'));

  const [kept, gone] = [{ name: 'two-volumes', purpose: 'cinder-volumes' }, 'two-more'];
  await cloud.change(CephStorage, 'two', { spec: { pools: [kept] } });
  await cloud.clock.advance(60_000);
  expect(pools()).toContain(gone);
  await cloud.change(CephStorage, 'two', { spec: { deletionPolicy: 'Retain' } });
  await cloud.until(() => !isOwned('two-volumes') && !isOwned(gone));
  for (const name of ['one', 'two']) await cloud.remove(CephStorage, name);
  await cloud.until(() => cloud.list('CephStorage').length === 0);
  await cloud.until(() => !pools().includes('one-volumes'));
  expect(pools()).toEqual(['two-more', 'two-volumes']);
  expect(cloud.list('CephClient').map(({ metadata }) => metadata.name)).toEqual(['two']);
});
