import { type KubeObject, Namespace, Secret } from '@openstack-operator/kube';
import { OpenStackControlPlane, Placement } from '@openstack-operator/openstack';
import { beforeEach, expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { entitiesOf } from './keystone.ts';

const namespace = 'openstack';
const finalizer = 'openstack.k8s.io/external-records';
let cloud: Cloud;

const list = (collection: string) => entitiesOf(cloud, collection);

/** What a Secret of the cloud holds, decoded. */
const secret = (name: string) =>
  Buffer.from(
    ((cloud.get('Secret', name)?.['data'] ?? {}) as Record<string, string>)['password'] ?? '',
    'base64',
  ).toString();

/** Databases of the server. */
async function databases(): Promise<string> {
  const login = ['-h127.0.0.1', '-uroot', `-p${secret('my-cloud-mariadb-root-password')}`];
  const argv = ['mariadb', ...login, '-e', 'SHOW DATABASES'];
  const pod = { namespace, name: 'my-cloud-mariadb-0' };
  return (await cloud.settle(cloud.rehearsal.sandbox.pods.exec(pod, argv))).stdout;
}

/** A Placement that knows database server, cache and Keystone by their addresses alone, in a region of its own. */
async function placement(spec: object = {}, where = namespace): Promise<void> {
  const admin = (name: string, data: object) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: where },
    stringData: data,
  });
  await cloud.settle(
    cloud.rehearsal.create(
      admin('their-database', { username: 'root', password: secret('my-cloud-mariadb-root-password') }),
    ),
  );
  await cloud.settle(
    cloud.rehearsal.create(
      admin('their-keystone', {
        username: 'admin',
        password: secret('my-cloud-keystone-admin-password'),
        projectName: 'admin',
        userDomainName: 'Default',
        projectDomainName: 'Default',
      }),
    ),
  );
  const resource: KubeObject = {
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'Placement',
    metadata: { name: 'edge', namespace: where },
    spec: {
      region: 'Edge',
      databaseRef: { external: { host: 'my-cloud-mariadb.openstack.svc', secretName: 'their-database' } },
      cacheRef: { external: { servers: ['my-cloud-memcached.openstack.svc:11211'] } },
      keystoneRef: {
        external: { authURL: 'http://my-cloud-keystone-api.openstack.svc:5000/v3', secretName: 'their-keystone' },
      },
      ...spec,
    },
  };
  await cloud.settle(cloud.rehearsal.create(resource));
}

/** Messages of the events of a reason. */
const events = (reason: string) =>
  cloud
    .list('Event')
    .map((event) => event as unknown as { reason?: string; message?: string })
    .filter((event) => event.reason === reason)
    .map(({ message = '' }) => message);

const exists = () => cloud.list('Placement').length > 0;

beforeEach(async () => {
  ({ cloud } = await readyCloud({ spec: identityOnly }));
});

test('Retain: the user is disabled, the endpoints go, the data stay; created again, all is back', async () => {
  await placement();
  await cloud.until(() => cloud.isReady('Placement', 'edge'));
  expect(cloud.get('Placement', 'edge')?.metadata.finalizers).toContain(finalizer);
  expect((await list('endpoints')).filter((one) => one['region_id'] === 'Edge')).toHaveLength(3);
  await cloud.remove(Placement, 'edge');
  await cloud.until(() => !exists(), 5);
  expect((await list('endpoints')).filter((one) => one['region_id'] === 'Edge')).toEqual([]);
  expect((await list('services')).map((one) => one['name'])).toEqual(['keystone']);
  expect((await list('users')).find((one) => one['name'] === 'placement')).toMatchObject({ enabled: false });
  expect(await databases()).toContain('placement');
  expect(events('Deregistered').join()).toContain('endpoints of placement in region Edge');
  await cloud.settle(cloud.rehearsal.sandbox.client().delete(Secret, { namespace, name: 'their-database' }));
  await cloud.settle(cloud.rehearsal.sandbox.client().delete(Secret, { namespace, name: 'their-keystone' }));
  await cloud.clock.advance(60_000);
  await placement();
  await cloud.until(() => cloud.isReady('Placement', 'edge'));
  expect((await list('users')).find((one) => one['name'] === 'placement')).toMatchObject({ enabled: true });
});

test('Delete: the databases and their user go as well', async () => {
  await placement({ deletionPolicy: 'Delete' });
  await cloud.until(() => cloud.isReady('Placement', 'edge'));
  expect(await databases()).toContain('placement');
  await cloud.remove(Placement, 'edge');
  await cloud.until(() => !exists(), 5);
  expect(await databases()).not.toContain('placement');
  expect(events('DeregistrationFailed')).toEqual([]);
});

test('a Keystone that is gone: the resource goes after a while, and an event lists what is left behind', async () => {
  await placement();
  await cloud.until(() => cloud.isReady('Placement', 'edge'));
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(() => cloud.list('Keystone').length === 0);
  await cloud.remove(Placement, 'edge');
  await cloud.clock.advance(120_000);
  expect(exists()).toBe(true);
  await cloud.until(() => !exists(), 20);
  expect(events('DeregistrationFailed').join()).toContain(
    'Left behind, to be removed by hand: user placement and endpoints of placement in region Edge of Keystone',
  );
});

test('one that never registered goes at once', async () => {
  await placement({ databaseRef: { external: { host: 'nowhere.example', secretName: 'their-database' } } });
  await cloud.clock.advance(30_000);
  await cloud.remove(Placement, 'edge');
  await cloud.until(() => !exists(), 12);
});

test('a namespace that is deleted is not held up', async () => {
  await placement({}, 'edge');
  await cloud.until(() => cloud.get('Placement', 'edge', 'edge')?.metadata.finalizers?.includes(finalizer) === true);
  await cloud.until(() => cloud.get('Secret', 'edge-endpoint-create', 'edge') !== undefined);
  await cloud.settle(cloud.rehearsal.sandbox.client().delete(Namespace, { name: 'edge' }));
  await cloud.until(() => cloud.get('Namespace', 'edge', '') === undefined && !exists(), 10);
});

test('a database server of the namespace that is not there yet keeps nobody waiting whose own is elsewhere', async () => {
  const stranger: KubeObject = {
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'MariaDB',
    metadata: { name: 'stranger', namespace: 'edge' },
    spec: { image: 'registry.invalid/no-such:1' },
  };
  await cloud.settle(cloud.rehearsal.create(stranger));
  await placement({}, 'edge');
  await cloud.until(() => cloud.get('Job', 'edge-db-create', 'edge') !== undefined);
});
