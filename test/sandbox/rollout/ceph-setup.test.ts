import { Secret, type StoredObject } from '@openstack-operator/kube';
import { CephStorage, type CephStorageStatus, OpenStackControlPlane } from '@openstack-operator/openstack';
import { beforeAll, expect, test } from 'vitest';
import { beside as besideIn, bringCeph, fsid, keyOf, keyring, monitor, secret } from './ceph.ts';
import { type Cloud, controlPlane, createCloud, identityOnly } from './cloud.ts';

const pools = [
  { name: 'images', purpose: 'glance-images', replicaCount: 2 },
  { name: 'volumes', purpose: 'cinder-volumes' },
];
const external = { monitorHosts: monitor, fsid, admin: { keyringSecretName: 'ceph-admin' } };
const cinder = { backends: [{ name: 'fast', type: 'ceph', cephPoolName: 'volumes' }] };
const spec = {
  ...identityOnly,
  rabbitmq: {},
  cinder,
  cephStorage: { external, pools, fileSystems: [{ name: 'files' }] },
};

let cloud: Cloud;

/** What a program prints beside the monitor. */
const beside = (...command: readonly string[]) => besideIn(cloud, ...command);

/** What a command of the administrator prints. */
const asAdmin = (...argv: readonly string[]) => beside('ceph', ...argv);

const status = () => (cloud.get('CephStorage', 'my-cloud-ceph')?.['status'] ?? {}) as CephStorageStatus;

const told = (type: string) => cloud.condition(CephStorage, 'my-cloud-ceph', type)?.message ?? '';
const setup = () => cloud.get('Job', 'my-cloud-ceph-setup');
const change = (more: object) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cephStorage: { external: more } } });
/** Lets the Job run again. */
async function again(): Promise<void> {
  const first = setup()?.metadata.uid;
  const asked = { 'openstack.k8s.io/reconcile-at': String(cloud.clock.now()) };
  await cloud.change(CephStorage, 'my-cloud-ceph', { metadata: { annotations: asked } });
  await cloud.until(() => setup()?.metadata.uid !== first && setup() !== undefined);
  await cloud.until(() => cloud.isReady('CephStorage', 'my-cloud-ceph'));
}

/** What the cluster has. */
const store = () => beside('cat', '/var/lib/ceph/mon/ceph-a/store.db');

beforeAll(async () => {
  cloud = await createCloud();
  await cloud.startOperator();
  await bringCeph(cloud);
  await cloud.settle(cloud.rehearsal.create(secret('ceph-admin', { 'ceph.client.admin.keyring': keyOf('b') })));
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
});

test('a key that the cluster does not know is told with its user and its Secret, and nothing is made', async () => {
  await cloud.until(() => told('SetupReady').includes('client.admin cannot ask the monitors'));
  expect(told('SetupReady')).toContain(
    'RADOS permission denied (error connecting to the cluster) (Secret ceph-admin has its keyring, under ceph.client.admin.keyring): nothing was made',
  );
  expect(await asAdmin('osd', 'pool', 'application', 'get', 'volumes')).toContain('ENOENT');
});

test('pools, the filesystem and users are made, with the rights that services need and with keys of the operator', async () => {
  await cloud.change(Secret, 'ceph-admin', { stringData: { 'ceph.client.admin.keyring': keyring(keyOf('a')) } });
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  const { pools: made, filesystems } = JSON.parse(await store()) as Record<string, object>;
  expect(made).toMatchObject({
    images: { applications: { rbd: {} }, size: 2 },
    volumes: { applications: { rbd: {} }, size: 3 },
  });
  expect(filesystems).toEqual(['files']);
  const data = cloud.get('Secret', 'my-cloud-ceph-cephx-keys')?.['data'] as Record<string, string>;
  const key = Buffer.from(data['ceph.client.cinder.keyring'] ?? '', 'base64').toString();
  expect(await asAdmin('auth', 'get', 'client.cinder')).toBe(
    `[client.cinder]\n\tkey = ${key}\n\tcaps mgr = "profile rbd pool=volumes"\n\tcaps mon = "profile rbd"\n\tcaps osd = "profile rbd pool=volumes, profile rbd-read-only pool=images"\n`,
  );
  expect(await asAdmin('auth', 'get', 'client.manila')).toContain('caps mgr = "allow rw"\n\tcaps mon = "allow r"\n');
});

test('the key of the administrator is in pods of this Job alone', () => {
  const isCarrier = ({ metadata, data }: StoredObject) =>
    metadata.namespace === 'openstack' &&
    Object.values((data ?? {}) as Record<string, string>).some((text) =>
      Buffer.from(text, 'base64').toString().includes(keyOf('a')),
    );
  const carriers = cloud
    .list('Secret')
    .filter(isCarrier)
    .map(({ metadata }) => metadata.name);
  expect(carriers).toEqual(['ceph-admin', 'my-cloud-ceph-setup-config-files']);
  const mounts = ({ spec }: StoredObject) => carriers.some((name) => JSON.stringify(spec ?? {}).includes(`"${name}"`));
  const users = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob']
    .flatMap((kind) => cloud.list(kind))
    .filter(mounts);
  expect(users.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(['Job my-cloud-ceph-setup']);
});

test('how the cluster is, and what its pools hold for whom, is told, of a pool that is full as well', async () => {
  const [images, volumes] = [
    { name: 'images', purposes: ['glance-images'], stored: '0', used: '0', available: '4.75Gi' },
    { name: 'volumes', purposes: ['cinder-volumes'], stored: '0', used: '0', available: '3.17Gi' },
  ];
  expect(status()).toMatchObject({
    health: { status: 'HEALTH_OK' },
    capacity: { total: '10Gi', used: '0', available: '10Gi' },
    pools: [images, volumes],
    fileSystems: [{ name: 'files', stored: '0', used: '0', available: '3.17Gi' }],
  });
  await asAdmin('osd', 'pool', 'set-quota', 'volumes', 'max_bytes', '30');
  await beside('rados', '--pool', 'volumes', 'put', 'an-object', '/etc/ceph/ceph.conf');
  await cloud.until(() => status().health?.status === 'HEALTH_WARN');
  expect(status().health?.message).toBe("1 pool(s) full; pool 'volumes' is full (running out of quota)");
  expect(status().pools).toEqual([images, { ...volumes, stored: '37', used: '111' }]);
  // What the CronJob has seen is shown at once; that its runs fail, when three of them have.
  await cloud.until(() => told('Ready').includes('client.cinder cannot write in pool volumes: no answer'));
  expect(told('Ready')).not.toContain('{');
  await asAdmin('osd', 'pool', 'set-quota', 'volumes', 'max_bytes', '0');
  await cloud.until(() => cloud.isReady('CephStorage', 'my-cloud-ceph'));
  expect(status().health).toEqual({ status: 'HEALTH_OK' });
  expect(status().schedules?.['health-check']?.message).toBe(`HEALTH_OK; cluster ${fsid} at ${monitor}`);
});

test('a second run changes nothing', async () => {
  const before = await store();
  await again();
  expect(await store()).toBe(before);
});

test('rights that are missing are added to those that somebody else has given', async () => {
  const given = ['mon', 'allow *', 'osd', 'profile rbd-read-only pool=images,allow r pool=logs', 'mds', 'allow r'];
  await asAdmin('auth', 'caps', 'client.cinder', ...given);
  await again();
  expect((await asAdmin('auth', 'get', 'client.cinder')).split('\n').slice(2)).toEqual([
    '\tcaps mds = "allow r"',
    '\tcaps mgr = "profile rbd pool=volumes"',
    '\tcaps mon = "allow *"',
    '\tcaps osd = "profile rbd-read-only pool=images,allow r pool=logs, profile rbd pool=volumes"',
    '',
  ]);
});

test('a pool of another application and a user with another key are told, and left as they are', async () => {
  const more = [...pools, { name: 'cephfs.files.data', purpose: 'nova-ephemeral' }];
  await cloud.settle(
    cloud.rehearsal.create(
      secret(
        'ceph-keyrings',
        Object.fromEntries(
          ['cinder', 'glance', 'manila', 'nova'].map((user) => [`ceph.client.${user}.keyring`, keyOf(user[0] ?? '')]),
        ),
      ),
    ),
  );
  const before = await asAdmin('auth', 'get', 'client.cinder');
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { cephStorage: { pools: more, external: { keyringSecretName: 'ceph-keyrings' } } },
  });
  await cloud.until(() => told('SetupReady').includes('pool cephfs.files.data is of another application than rbd'));
  expect(told('SetupReady')).toContain(
    'client.cinder has another key in the cluster than here: put what `ceph auth get` prints of it into Secret ceph-keyrings',
  );
  expect(await asAdmin('auth', 'get', 'client.cinder')).toBe(before);
  // It was not there, and is made with the key that was brought.
  expect(await asAdmin('auth', 'get', 'client.nova')).toContain(`key = ${keyOf('n')}`);
  // To leave it out would give services keys that a cluster in use does not know.
  await expect(change({ keyringSecretName: null })).rejects.toThrow('cannot be left out after creation');
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { cephStorage: { pools, external: { keyringSecretName: 'my-cloud-ceph-cephx-keys' } } },
  });
});

test('without the field everything is tried, and nothing is made; keys of the operator go on', async () => {
  const keys = cloud.get('Secret', 'my-cloud-ceph-cephx-keys')?.metadata.uid;
  await change({ admin: null });
  await cloud.until(() => setup() === undefined && cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  expect(cloud.get('Secret', 'my-cloud-ceph-cephx-keys')?.metadata.uid).toBe(keys);
  const missing = [...pools, { name: 'backups', purpose: 'cinder-backups' }];
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cephStorage: { pools: missing } } });
  await cloud.until(() => told('PoolsReady').includes('client.cinder-backup cannot write in pool backups'));
  expect(await asAdmin('osd', 'pool', 'application', 'get', 'backups')).toContain('ENOENT');
});

test('a cloud of the same name uses the keys that the one before it has left, and the users that it has made', async () => {
  const keys = () => cloud.get('Secret', 'my-cloud-ceph-cephx-keys')?.['data'];
  const before = keys();
  const clusterBefore = await store();
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(
    () => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined && cloud.list('CephStorage').length === 0,
  );
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  expect(keys()).toEqual(before);
  expect(await store()).toBe(clusterBefore);
});

test('the Secret with the keys is not made anew: the cluster would not know the others', async () => {
  await cloud.remove(Secret, 'my-cloud-ceph-cephx-keys');
  const told = () => cloud.condition(CephStorage, 'my-cloud-ceph', 'CredentialsReady')?.message ?? '';
  await cloud.until(() =>
    told().includes('Secret my-cloud-ceph-cephx-keys is gone, and with it the keys that the cluster knows users by'),
  );
  expect(cloud.get('Secret', 'my-cloud-ceph-cephx-keys')).toBeUndefined();
});
