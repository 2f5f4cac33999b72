import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, only } from './cloud.ts';
import { ask, login, request } from './keystone.ts';

// What keeps volumes where the kernel of the node has to do it: here it never does.

const url = 'http://my-cloud-cinder-api.openstack.svc:8776/v3';
const files = { name: 'files', type: 'nfs', rootHelpers: true, nfs: { shares: ['10.0.0.20:/a'] } };
const services = only('mariadb', 'memcached', 'keystone', 'rabbitmq');

interface Volume {
  readonly id: string;
  readonly status: string;
}

/** A volume of a backend, when the cloud is done with it. */
async function made(cloud: Cloud, backend: string): Promise<Volume> {
  const token = await login(cloud);
  const answer = await request(cloud, token, 'POST', `${url}/volumes`, { volume: { size: 1, volume_type: backend } });
  const { id } = (JSON.parse(answer) as { volume: Volume }).volume;
  await cloud.clock.advance(5000);
  return (JSON.parse(await ask(cloud, token, `${url}/volumes/${id}`)) as { volume: Volume }).volume;
}

function logOf(cloud: Cloud, backend: string): string {
  const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(`my-cloud-cinder-volume-${backend}-`));
  return cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name: pod?.metadata.name ?? '' });
}

const stateBackends = (cloud: Cloud, ...backends: readonly object[]) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { backends } } });

let cloud: Cloud;

beforeAll(async () => {
  cloud = await createCloud();
  await cloud.startOperator();
  const cinder = { backends: [files] };
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...services, cinder })));
  await cloud.ready();
  await cloud.clock.advance(60_000);
});
afterAll(() => cloud.rehearsal.stop());

test('shares are mounted by processes that may become root, and volumes are made in them', async () => {
  expect(await made(cloud, 'files')).toMatchObject({
    status: 'available',
    'os-vol-host-attr:host': 'my-cloud-cinder@files#files',
  });
});

test('a backend of which no share can be mounted says which, and another share helps', async () => {
  await stateBackends(cloud, { ...files, nfs: { shares: ['nas.example.com:/a'] } });
  await cloud.ready();
  await cloud.clock.advance(120_000);
  expect(await made(cloud, 'files')).toMatchObject({ status: 'error' });
  expect(logOf(cloud, 'files')).toContain(
    'NFS mount failed for share nas.example.com:/a. Error - mount.nfs: Failed to resolve server nas.example.com',
  );
  expect(logOf(cloud, 'files')).toContain('NfsNoSharesMounted: No mounted NFS shares found');
  await stateBackends(cloud, { ...files, nfs: { shares: ['nas.example.com:/a', '10.0.0.20:/a'] } });
  await cloud.ready();
  await cloud.clock.advance(60_000);
  expect(await made(cloud, 'files')).toMatchObject({ status: 'available' });
});
