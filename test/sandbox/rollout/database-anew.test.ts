import { PersistentVolumeClaim, Pod } from '@openstack-operator/kube';
import { MariaDB } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { blockStorage, type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { rowImage, rows } from './kept-rows.ts';
import { login } from './keystone.ts';

const spec = { ...identityOnly, rabbitmq: {}, cinder: blockStorage, deletionPolicy: 'Delete' };
const database = (cloud: Cloud) => cloud.get('MariaDB', 'my-cloud-mariadb');
const jobs = (cloud: Cloud) =>
  Object.fromEntries(
    cloud
      .list('Job')
      .filter(({ metadata: { name } }) => !/audit|purge|count/.test(name))
      .map(({ metadata: { name, uid } }) => [name, uid]),
  );

/** Waits until the cloud has done all that it is to do, and expects tables, an administrator and records in the new database. */
async function expectFilled(cloud: Cloud): Promise<void> {
  await cloud.clock.advance(30_000);
  await cloud.ready();
  await rows(cloud, 'make', ['cinder']);
  await login(cloud);
}

test('a database that is made anew is filled anew, once', async () => {
  const { cloud } = await readyCloud({ images: [rowImage], spec });
  const first = jobs(cloud);
  await cloud.clock.advance(300_000);
  expect(jobs(cloud)).toEqual(first);
  const { uid } = database(cloud)?.metadata ?? {};
  await cloud.remove(MariaDB, 'my-cloud-mariadb');
  await cloud.until(() => database(cloud)?.metadata.uid !== uid, 5);
  await expectFilled(cloud);
  const second = jobs(cloud);
  await cloud.clock.advance(300_000);
  expect(jobs(cloud)).toEqual(second);
});

test('so is one that begins anew because somebody accepts the loss of its data', async () => {
  const { cloud } = await readyCloud({ images: [rowImage], spec: { ...spec, deletionPolicy: 'Retain' } });
  await cloud.remove(PersistentVolumeClaim, 'data-my-cloud-mariadb-0');
  await cloud.remove(Pod, 'my-cloud-mariadb-0');
  await cloud.until(() => cloud.condition(MariaDB, 'my-cloud-mariadb')?.reason === 'VolumeLost', 5);
  const claim = () => cloud.get('PersistentVolumeClaim', 'data-my-cloud-mariadb-0')?.metadata;
  await cloud.until(() => claim()?.deletionTimestamp === undefined && claim() !== undefined, 5);
  const annotations = { 'openstack.k8s.io/accept-data-loss': claim()?.uid };
  await cloud.change(MariaDB, 'my-cloud-mariadb', { metadata: { annotations } });
  await expectFilled(cloud);
});
