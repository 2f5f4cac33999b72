import type { RunningOperator } from '@openstack-operator/cli';
import { PersistentVolumeClaim } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';

const size = (cloud: Cloud, name: string) =>
  (cloud.get('PersistentVolumeClaim', name)?.['spec'] as { resources: object } | undefined)?.resources;
const of = (storage: string) => ({ requests: { storage } });
const enlarge = (cloud: Cloud, name: string) =>
  cloud.change(PersistentVolumeClaim, name, { spec: { resources: of('30Gi') } });
/** What the operator writes in two minutes and a full resync. */
async function written(cloud: Cloud, operator: RunningOperator): Promise<string[]> {
  const writes: string[] = [];
  operator.onWrite(({ method, path }) => {
    if (!path.includes('/leases/')) writes.push(`${method} ${path}`);
  });
  await cloud.clock.advance(60_000);
  operator.runtime.resync();
  await cloud.clock.advance(60_000);
  return writes;
}

test('the volume of images may be enlarged by hand: it stays so, and nothing is written', async () => {
  const { cloud, operator } = await readyCloud({ spec: { glance: { storage: { size: '20Gi' } } } });
  const name = cloud.list('PersistentVolumeClaim').find(({ metadata }) => metadata.name.includes('glance'))?.metadata
    .name as string;
  await cloud.clock.advance(60_000);
  await enlarge(cloud, name);
  expect(await written(cloud, operator)).toEqual([]);
  // Another field of the claim is stated, too, and the size that it has with it.
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { deletionPolicy: 'Delete' } });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { storage: { size: '25Gi' } } } });
  await cloud.ready();
  expect(size(cloud, name)).toEqual(of('30Gi'));
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { storage: { size: '40Gi' } } } });
  await cloud.ready();
  expect(size(cloud, name)).toEqual(of('40Gi'));
});

test('the volume of a StatefulSet may be enlarged by hand before its resource asks for more', async () => {
  const { cloud, operator } = await readyCloud({ spec: identityOnly });
  const name = 'data-my-cloud-mariadb-0';
  const uid = () => cloud.get('StatefulSet', 'my-cloud-mariadb')?.metadata.uid;
  const [before, pod] = [uid(), cloud.get('Pod', 'my-cloud-mariadb-0')?.metadata.uid];
  await enlarge(cloud, name);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { mariadb: { storage: { size: '20Gi' } } } });
  await cloud.ready();
  expect(uid()).not.toBe(before);
  expect(cloud.get('Pod', 'my-cloud-mariadb-0')?.metadata.uid).toBe(pod);
  // A member that comes later has room for the same data.
  expect(cloud.get('StatefulSet', 'my-cloud-mariadb')).toMatchObject({
    spec: { volumeClaimTemplates: [{ spec: { resources: of('30Gi') } }] },
  });
  expect(size(cloud, name)).toEqual(of('30Gi'));
  await cloud.clock.advance(60_000);
  expect(await written(cloud, operator)).toEqual([]);
});
