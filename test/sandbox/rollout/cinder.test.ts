import { ConfigMap, type KubeObject, Secret } from '@openstack-operator/kube';
import { CephStorage, Cinder, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { blockStorage, type Cloud, controlPlane, createCloud, identityOnly, withResources } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const url = 'http://my-cloud-cinder-api.openstack.svc:8776/v3';
/** A key of Ceph: a header of 12 bytes, and 16 of the key. */
const key = Buffer.alloc(28, 1).toString('base64');
const keyrings = 'ceph-keyrings';
const pool = (name: string) => ({ name, type: 'ceph', cephPoolName: `${name}-volumes` });
const cephStorage = {
  external: { monitorHosts: '10.0.0.11,10.0.0.12', keyringSecretName: keyrings },
  pools: ['fast', 'slow'].map((name) => ({ name: `${name}-volumes`, purpose: 'cinder-volumes' })),
};
const spec = { ...identityOnly, rabbitmq: {}, cephStorage, cinder: { backends: [pool('fast'), pool('slow')] } };

function secret(name: string, values: Readonly<Record<string, string>>): KubeObject {
  const metadata = { name, namespace: 'openstack' };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: values };
}

/** As `ceph auth get` prints it. */
const keyring = (key: string) => ({
  'ceph.client.cinder.keyring': `[client.cinder]\n\tkey = ${key}\n\tcaps mon = "profile rbd"\n`,
});

/** A cloud with the Secret that its backends name. */
async function cloudWith(more: object = {}) {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(secret(keyrings, keyring(key))));
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...spec, ...more })));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  return { cloud };
}

interface Volume {
  readonly id: string;
  readonly status: string;
  readonly volume_type: string;
  readonly 'os-vol-host-attr:host': string;
}

/** A volume of the administrator, when the cloud is done with it. */
async function made(cloud: Cloud, volume: object = {}): Promise<Volume> {
  const token = await login(cloud);
  const answer = await request(cloud, token, 'POST', `${url}/volumes`, { volume: { size: 1, ...volume } });
  const { id, status } = (JSON.parse(answer) as { volume: Volume }).volume;
  expect(status).toBe('creating');
  await cloud.clock.advance(5000);
  return volumeOf(cloud, id);
}

async function volumeOf(cloud: Cloud, id: string): Promise<Volume> {
  const answer = await request(cloud, await login(cloud), 'GET', `${url}/volumes/${id}`);
  return (JSON.parse(answer) as { volume: Volume }).volume;
}

async function services(cloud: Cloud): Promise<string[]> {
  const answer = await ask(cloud, await login(cloud), `${url}/os-services`);
  const { services = [] } = JSON.parse(answer) as { services?: Record<string, string>[] };
  return services.map(({ binary, host, state }) => `${binary} ${host} ${state}`).sort();
}

const shared = sharedCloud(() => cloudWith());

/** The cloud that is shared, without volumes. */
async function emptied(): Promise<Cloud> {
  const { cloud } = await shared();
  const token = await login(cloud);
  const { volumes } = JSON.parse(await ask(cloud, token, `${url}/volumes`)) as { volumes: Volume[] };
  for (const { id } of volumes) await request(cloud, token, 'DELETE', `${url}/volumes/${id}`);
  await cloud.clock.advance(5000);
  return cloud;
}

test('below a control plane that states it, each backend has a process and a type, and volumes become available', async () => {
  const cloud = await emptied();
  expect(cloud.isReady('Cinder', 'my-cloud-cinder')).toBe(true);
  const workloads = cloud.list('Deployment').map(({ metadata }) => metadata.name);
  expect(workloads.filter((name) => name.startsWith('my-cloud-cinder-volume-'))).toEqual([
    'my-cloud-cinder-volume-fast',
    'my-cloud-cinder-volume-slow',
  ]);
  expect(await services(cloud)).toEqual([
    'cinder-scheduler my-cloud-cinder-scheduler up',
    'cinder-volume my-cloud-cinder@fast up',
    'cinder-volume my-cloud-cinder@slow up',
  ]);
  const types = JSON.parse(await ask(cloud, await login(cloud), `${url}/types`)) as {
    volume_types: { name: string }[];
  };
  expect(types.volume_types.map(({ name }) => name)).toEqual(['__DEFAULT__', 'fast', 'slow']);
  expect(await made(cloud)).toMatchObject({
    status: 'available',
    volume_type: 'fast',
    'os-vol-host-attr:host': 'my-cloud-cinder@fast#fast-volumes',
  });
  expect(await made(cloud, { volume_type: 'slow' })).toMatchObject({
    'os-vol-host-attr:host': 'my-cloud-cinder@slow#slow-volumes',
  });
  expect(await entitiesOf(cloud, 'services')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'cinder', type: 'block-storage' }),
      expect.objectContaining({ name: 'cinderv3', type: 'volumev3' }),
    ]),
  );
});

test('what it has stored is there after it was switched off and on', async () => {
  const cloud = await emptied();
  const { id } = await made(cloud);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { ...withResources, spec: { cinder: { enabled: false } } });
  await cloud.until(() => cloud.get('Cinder', 'my-cloud-cinder') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { enabled: null } } });
  await cloud.ready();
  expect(await volumeOf(cloud, id)).toMatchObject({ status: 'available' });
});

test('types of volumes are made as they are stated, changed with them, and there for whom they are for', async () => {
  const gold = { name: 'gold', backend: 'slow', isPublic: false, qos: { specs: { total_iops_sec: '100' } } };
  const backends = [pool('fast'), pool('slow')];
  const cloud = await emptied();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { volumeTypes: [gold] } } });
  await cloud.ready();
  const slow = { 'os-vol-host-attr:host': 'my-cloud-cinder@slow#slow-volumes' };
  expect(await made(cloud, { volume_type: 'gold' })).toMatchObject(slow);
  const qos = { consumer: 'both', specs: { total_iops_sec: '200' } };
  const changed = { ...gold, description: 'Fast.', isPublic: true, extraSpecs: { multiattach: '<is> True' }, qos };
  const cinder = { backends, volumeTypes: [changed], defaultVolumeType: 'gold' };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder } });
  await cloud.ready();
  expect(await made(cloud)).toMatchObject(slow);
  const asked = async (path: string) => ask(cloud, await login(cloud), `${url}${path}`);
  const { volume_types: types } = JSON.parse(await asked('/types')) as { volume_types: { name: string }[] };
  expect(types.find(({ name }) => name === 'gold')).toMatchObject({
    description: 'Fast.',
    is_public: true,
    extra_specs: { multiattach: '<is> True', volume_backend_name: 'slow' },
  });
  expect(JSON.parse(await asked('/qos-specs'))).toMatchObject({ qos_specs: [{ name: 'gold', ...qos }] });
});

/** Changes the backends of the cloud. */
const stateBackends = (cloud: Cloud, ...backends: readonly object[]) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { backends } } });
const told = (cloud: Cloud, condition: string) => cloud.condition(Cinder, 'my-cloud-cinder', condition)?.message ?? '';
const slowProcess = (cloud: Cloud) => cloud.get('Deployment', 'my-cloud-cinder-volume-slow');
const statusOf = async (cloud: Cloud) => {
  const answer = await ask(cloud, await login(cloud), `${url}/os-services?host=my-cloud-cinder%40slow`);
  return (JSON.parse(answer) as { services: { status: string }[] }).services[0]?.status;
};

test('a backend that is removed gets no new volumes, and its process stays for as long as volumes lie on it', async () => {
  const cloud = await emptied();
  const { id } = await made(cloud, { volume_type: 'slow' });
  await stateBackends(cloud, pool('fast'));
  await cloud.until(() => told(cloud, 'RemovedBackendsEmpty').includes('volumes: 1 of my-cloud-cinder@slow'), 30);
  expect(await statusOf(cloud)).toBe('disabled');
  expect(await made(cloud, { volume_type: 'slow' })).toMatchObject({ status: 'error' });
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { cinder: { components: { volume: { nodeSelector: { disk: 'new' } } } } },
  });
  await cloud.until(() => JSON.stringify(slowProcess(cloud)).includes('"disk":"new"'));
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { components: null } } });
  await request(cloud, await login(cloud), 'DELETE', `${url}/volumes/${id}`);
  await cloud.until(() => slowProcess(cloud) === undefined, 120);
  await cloud.ready();
});

test('the name of a backend means no other pool, not even after Cinder was disabled', async () => {
  const cloud = await emptied();
  await made(cloud, { volume_type: 'slow' });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { ...withResources, spec: { cinder: { enabled: false } } });
  await cloud.until(() => cloud.get('Cinder', 'my-cloud-cinder') === undefined);
  await stateBackends(cloud, pool('fast'));
  await stateBackends(cloud, pool('fast'), { ...pool('slow'), cephPoolName: 'fast-volumes' });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { enabled: null } } });
  await cloud.until(() => told(cloud, 'ConfigReady').includes('it was ceph my-cloud-cinder@slow#slow-volumes before'));
  expect(slowProcess(cloud)).toBeUndefined();
  await stateBackends(cloud, pool('fast'));
  await cloud.until(() => told(cloud, 'RemovedBackendsEmpty').includes('volumes: 1 of my-cloud-cinder@slow'), 60);
  expect(slowProcess(cloud)).toBeDefined();
});

test('a bare key will do, and a new one reaches the processes of volumes', async () => {
  const cloud = await emptied();
  await cloud.change(Secret, keyrings, { stringData: { 'ceph.client.cinder.keyring': key } });
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect(await made(cloud)).toMatchObject({ status: 'available' });
  await cloud.change(Secret, keyrings, { stringData: { 'ceph.client.cinder.keyring': 'no-key' } });
  await cloud.until(() => !cloud.isReady('CephStorage', 'my-cloud-ceph'));
  await cloud.clock.advance(300_000);
  expect(await services(cloud)).toContain('cinder-volume my-cloud-cinder@fast down');
  const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-cinder-volume-fast-'));
  const log = cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name: pod?.metadata.name ?? '' });
  expect(log).toContain('RADOS invalid argument (error connecting to the cluster)');
  await cloud.change(Secret, keyrings, { stringData: { 'ceph.client.cinder.keyring': key } });
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'), 30);
  await cloud.clock.advance(60_000);
  expect(await made(cloud)).toMatchObject({ status: 'available' });
});

// The last one of the cloud that is shared: the pool of a backend is another one then.
test('a backend that was empty is forgotten: its name is free, and what is made by that name is used', async () => {
  const cloud = await emptied();
  await stateBackends(cloud, pool('fast'));
  await cloud.until(() => slowProcess(cloud) === undefined, 120);
  await cloud.ready();
  await stateBackends(cloud, pool('fast'), { ...pool('slow'), cephPoolName: 'fast-volumes' });
  await cloud.until(() => slowProcess(cloud) !== undefined);
  await cloud.ready();
  expect(await statusOf(cloud)).toBe('enabled');
  expect(await made(cloud, { volume_type: 'slow' })).toMatchObject({
    'os-vol-host-attr:host': 'my-cloud-cinder@slow#fast-volumes',
  });
  // It is counted anew: what was found the first time says nothing.
  await stateBackends(cloud, pool('fast'));
  await cloud.until(() => told(cloud, 'RemovedBackendsEmpty').includes('volumes: 1 of my-cloud-cinder@slow'), 30);
});

test('a key that is none is told by the check of pools; with another one all goes on', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(secret(keyrings, keyring('no-key'))));
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  const pools = () => cloud.condition(CephStorage, 'my-cloud-ceph', 'PoolsReady')?.message ?? '';
  await cloud.until(() => pools().includes('client.cinder cannot write in pool fast-volumes'));
  expect(pools()).toContain(
    "RADOS invalid argument (error connecting to the cluster) (it needs mon 'profile rbd', osd 'profile rbd pool=fast-volumes'); client.cinder cannot write in pool slow-volumes",
  );
  await cloud.change(Secret, keyrings, { stringData: keyring(key) });
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'), 30);
  expect(await made(cloud)).toMatchObject({ status: 'available' });
});

test('a Ceph that nobody uses goes when it is disabled, one that is named stays', async () => {
  const { cloud } = await cloudWith({ cinder: blockStorage });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cephStorage: { enabled: false } } });
  await cloud.until(() => cloud.get('CephStorage', 'my-cloud-ceph') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cephStorage: { enabled: null } } });
  await cloud.ready();
  const named = { cephStorageRef: { name: 'my-cloud-ceph' } };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: named } });
  await cloud.ready();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cephStorage: { enabled: false } } });
  await cloud.clock.advance(120_000);
  expect(cloud.get('CephStorage', 'my-cloud-ceph')?.metadata.deletionTimestamp).toBeUndefined();
});

test('a Ceph stays while a Cinder that is disabled remembers volumes there', async () => {
  const { cloud } = await cloudWith();
  await made(cloud);
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    ...withResources,
    spec: { cinder: null, cephStorage: null },
  });
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'CephStorageReady')?.message ?? '';
  await cloud.until(() => told().includes('(ConfigMap my-cloud-cinder-lasting): the CephStorage is kept'));
  await cloud.until(() => cloud.get('Cinder', 'my-cloud-cinder') === undefined);
  await cloud.clock.advance(120_000);
  expect(cloud.get('CephStorage', 'my-cloud-ceph')?.metadata.deletionTimestamp).toBeUndefined();
  await cloud.remove(ConfigMap, 'my-cloud-cinder-lasting');
  await cloud.until(() => cloud.get('CephStorage', 'my-cloud-ceph') === undefined);
});

test('wrong backends are refused with the field and the way out', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const refusedWith = async (cinder: object) => {
    const object = controlPlane({ ...spec, cinder });
    return cloud.settle(
      cloud.rehearsal.create(object).then(
        () => 'accepted',
        (error: unknown) => String(error),
      ),
    );
  };
  expect(await refusedWith({})).toContain('spec.cinder.backends: ');
  expect(await refusedWith({ backends: [{ name: 'x', type: 'lvm' }] })).toContain('type lvm needs lvmVolumeGroup');
  expect(await refusedWith({ backends: [{ ...pool('nova') }] })).toContain('choose another name');
  expect(await refusedWith({ backends: [{ name: 'x', type: 'ceph' }] })).toContain('type ceph needs cephPoolName');
  expect(await refusedWith({ enabled: false })).toBe('accepted');
});
