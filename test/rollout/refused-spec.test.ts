import { Keystone, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly } from './cloud.ts';

test('a mistake that only the definition of the service knows is told before anything of it begins, with its whole path', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const keystone = { components: { api: { replcas: 2 } }, databaseRef: { names: 'elsewhere' } };
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, keystone })));
  await cloud.until(() => cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady') !== undefined);
  const told = cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady');
  expect(told?.reason).toBe('SpecRefused');
  expect(told?.message).toContain('spec.keystone.components.api.replcas: unknown field');
  expect(told?.message).toContain('spec.keystone.databaseRef.names: unknown field');
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud', 'MariaDBReady')?.status).toBe('False');

  // The others come up, and nothing of Keystone does.
  await cloud.until(() => cloud.isReady('MariaDB', 'my-cloud-mariadb'));
  expect(cloud.get('Keystone', 'my-cloud-keystone')).toBeUndefined();
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { keystone: { components: null, databaseRef: null } },
  });
  await cloud.ready();
});

test('a change that a service cannot take leaves it as it is; one that it can take goes on', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.ready();
  const before = cloud.get('Keystone', 'my-cloud-keystone');

  const wrong = { components: { api: { replicas: 500, processes: 4 } }, recordsAudit: { schedule: 'whenever' } };
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { keystone: wrong, memcached: { maxConnections: 2048 } },
  });
  await cloud.until(
    () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady')?.reason === 'SpecRefused',
  );
  const { message = '' } = cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady') ?? {};
  expect(message).toContain('spec.keystone.components.api.replicas: ');
  expect(message).toContain('should be less than or equal to 100');
  expect(message).toContain('spec.keystone.recordsAudit.schedule: ');
  await cloud.clock.advance(120_000);
  expect(cloud.get('Keystone', 'my-cloud-keystone')?.metadata.generation).toBe(before?.metadata.generation);
  expect(cloud.isReady('Keystone', 'my-cloud-keystone')).toBe(true);
  expect(cloud.get('Memcached', 'my-cloud-memcached')).toMatchObject({ spec: { maxConnections: 2048 } });

  const right = { components: { api: { replicas: 1, processes: 4 } }, recordsAudit: null };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { keystone: right } });
  await cloud.ready();
  expect(cloud.get('Keystone', 'my-cloud-keystone')).toMatchObject({ spec: { components: { api: { processes: 4 } } } });
  expect(cloud.condition(Keystone, 'my-cloud-keystone')?.status).toBe('True');
});
