import type { KubeObject } from '@openstack-operator/kube';
import { Cinder, MariaDB, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { blockStorage, type Cloud, identityOnly, readyCloud, withResources } from './cloud.ts';
import { rowImage, rows } from './kept-rows.ts';

const spec = { ...identityOnly, rabbitmq: {}, cinder: blockStorage };

/** A cloud with a volume. */
async function cloudWithVolume(more: object = {}): Promise<Cloud> {
  const { cloud } = await readyCloud({ images: [rowImage], spec: { ...spec, ...more } });
  await rows(cloud, 'make', ['cinder']);
  return cloud;
}

const change = (cloud: Cloud, spec: object) => cloud.change(OpenStackControlPlane, 'my-cloud', { spec });
const cinder = (cloud: Cloud): KubeObject | undefined => cloud.get('Cinder', 'my-cloud-cinder');
const told = (cloud: Cloud) => cloud.condition(OpenStackControlPlane, 'my-cloud', 'CinderReady');
const jobs = (cloud: Cloud) => cloud.list('Job').filter(({ metadata: { name } }) => name.endsWith('resource-count'));

test.each([
  ['disabled', { enabled: false }],
  ['left out', null],
])('a Cinder with a volume that is %s works on, says why, and goes when the volume is gone', async (_title, off) => {
  const cloud = await cloudWithVolume();
  await change(cloud, { cinder: off });
  await cloud.until(() => told(cloud)?.reason === 'ResourcesExist', 5);
  expect(told(cloud)).toMatchObject({
    status: 'False',
    message:
      'spec.cinder: Cinder my-cloud-cinder is disabled, and kept: Cinder my-cloud-cinder has 1 volume: delete them, enable it again, or annotate Cinder my-cloud-cinder with openstack.k8s.io/delete-with-resources=true to disable it all the same: they stay then, and nothing manages them',
  });
  await cloud.clock.advance(300_000);
  expect(cloud.isReady('Cinder', 'my-cloud-cinder')).toBe(true);
  await rows(cloud, 'take', ['cinder']);
  await cloud.until(() => cinder(cloud) === undefined, 5);
  await cloud.ready();
});

test('the annotation disables it all the same; enabled again it has its volume', async () => {
  const cloud = await cloudWithVolume();
  await change(cloud, { cinder: { enabled: false } });
  await cloud.until(() => told(cloud)?.reason === 'ResourcesExist', 5);
  await cloud.change(Cinder, 'my-cloud-cinder', withResources);
  await cloud.until(() => cinder(cloud) === undefined, 5);
  await change(cloud, { cinder: { enabled: true } });
  await cloud.ready();
  await change(cloud, { cinder: { enabled: false } });
  await cloud.until(() => told(cloud)?.message?.includes('has 1 volume') === true, 5);
});

test('what nobody can count holds as well', async () => {
  const cloud = await cloudWithVolume();
  cloud.rehearsal.sandbox.nodes.stop('node-1');
  await change(cloud, { cinder: { enabled: false } });
  await cloud.until(() => told(cloud)?.reason === 'ResourcesUnknown', 10);
  expect(told(cloud)?.message).toContain(
    'how many volumes and backups Cinder my-cloud-cinder has is not known: Job my-cloud-cinder-resource-count does not end. It is asked again every minute; let it answer, enable it again, or annotate Cinder my-cloud-cinder',
  );
  expect(cinder(cloud)).toBeDefined();
});

test('one that was never Ready is not asked', async () => {
  const { cloud } = await readyCloud({ spec: { ...spec, cinder: null } });
  await change(cloud, { cinder: { ...blockStorage, nodeSelector: { no: 'such' } } });
  await cloud.clock.advance(120_000);
  expect(cloud.isReady('Cinder', 'my-cloud-cinder')).toBe(false);
  await change(cloud, { cinder: null });
  await cloud.until(() => cinder(cloud)?.metadata.deletionTimestamp !== undefined, 2);
  expect(jobs(cloud)).toEqual([]);
});

test('a control plane that keeps its data is deleted unasked; one that does not waits', async () => {
  const cloud = await cloudWithVolume({ deletionPolicy: 'Delete' });
  const live = () => cloud.get('OpenStackControlPlane', 'my-cloud');
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  const gone = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'ResourcesGone');
  await cloud.until(() => gone()?.reason === 'ResourcesExist', 5);
  expect(gone()?.message).toBe(
    'Cinder my-cloud-cinder has 1 volume: delete them, set deletionPolicy to Retain, or annotate OpenStackControlPlane my-cloud with openstack.k8s.io/delete-with-resources=true to delete it all the same: what is known of them is lost then',
  );
  await cloud.clock.advance(300_000);
  expect(cloud.isReady('Cinder', 'my-cloud-cinder')).toBe(true);
  await change(cloud, { deletionPolicy: 'Retain' });
  await cloud.until(() => live() === undefined, 5);
});

const database = (cloud: Cloud) => cloud.get('MariaDB', 'my-cloud-mariadb');

test('a database that goes with its data waits for what services know of', async () => {
  const cloud = await cloudWithVolume({ deletionPolicy: 'Delete' });
  const gone = () => cloud.condition(MariaDB, 'my-cloud-mariadb', 'ResourcesGone');
  const uid = database(cloud)?.metadata.uid;
  await cloud.remove(MariaDB, 'my-cloud-mariadb');
  await cloud.until(() => gone()?.reason === 'ResourcesExist', 5);
  expect(gone()?.message).toBe(
    'Cinder my-cloud-cinder has 1 volume: delete them, set deletionPolicy to Retain, or annotate MariaDB my-cloud-mariadb with openstack.k8s.io/delete-with-resources=true to delete it all the same: what is known of them is lost then',
  );
  await cloud.clock.advance(300_000);
  expect(database(cloud)?.metadata.uid).toBe(uid);
  await rows(cloud, 'take', ['cinder']);
  await cloud.until(() => database(cloud)?.metadata.uid !== uid, 5);
});

test('the database of a control plane that goes does not wait', async () => {
  const cloud = await cloudWithVolume({ deletionPolicy: 'Delete' });
  await cloud.change(OpenStackControlPlane, 'my-cloud', withResources);
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(() => database(cloud) === undefined, 5);
});
