import { type KubeObject, Secret } from '@openstack-operator/kube';
import { CephStorage, Manila, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, withResources } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const url = 'http://my-cloud-manila-api.openstack.svc:8786/v2';
/** A key of Ceph: a header of 12 bytes, and 16 of the key. */
const key = Buffer.alloc(28, 1).toString('base64');
const keyrings = 'ceph-keyrings';
const filesystem = (name: string) => ({ name, type: 'cephfs', cephFSName: `${name}-files` });
const cephStorage = {
  external: { monitorHosts: '10.0.0.11,10.0.0.12', keyringSecretName: keyrings },
  fileSystems: ['fast', 'slow'].map((name) => ({ name: `${name}-files` })),
};
const spec = {
  ...identityOnly,
  rabbitmq: {},
  cephStorage,
  manila: { backends: [filesystem('fast'), filesystem('slow')] },
};

/** As `ceph auth get` prints it. */
const keyring = (key: string) => ({
  'ceph.client.manila.keyring': `[client.manila]\n\tkey = ${key}\n\tcaps mgr = "allow rw"\n\tcaps mon = "allow r"\n`,
});

function secret(values: Readonly<Record<string, string>>): KubeObject {
  const metadata = { name: keyrings, namespace: 'openstack' };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: values };
}

/** A cloud whose Ceph has this key. */
async function begun(value = key) {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(secret(keyring(value))));
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  return cloud;
}

const shared = sharedCloud(async () => {
  const cloud = await begun();
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  return { cloud };
});

interface Share {
  readonly id: string;
  readonly status: string;
  readonly share_type_name: string;
  readonly host: string;
}

/** A share of the administrator, when the cloud is done with it. */
async function made(cloud: Cloud, share: object = {}): Promise<Share> {
  const body = { share: { size: 1, share_proto: 'CEPHFS', ...share } };
  const answer = await request(cloud, await login(cloud), 'POST', `${url}/shares`, body);
  const { id, status } = (JSON.parse(answer) as { share: Share }).share;
  expect(status).toBe('creating');
  await cloud.clock.advance(5000);
  return shareOf(cloud, id);
}

async function shareOf(cloud: Cloud, id: string): Promise<Share> {
  const answer = await request(cloud, await login(cloud), 'GET', `${url}/shares/${id}`);
  return (JSON.parse(answer) as { share: Share }).share;
}

async function services(cloud: Cloud): Promise<string[]> {
  const answer = await ask(cloud, await login(cloud), `${url}/services`);
  const { services = [] } = JSON.parse(answer) as { services?: Record<string, string>[] };
  return services.map(({ binary, host, state }) => `${binary} ${host} ${state}`).sort();
}

/** The cloud that is shared, without shares. */
async function emptied(): Promise<Cloud> {
  const { cloud } = await shared();
  const token = await login(cloud);
  const { shares } = JSON.parse(await ask(cloud, token, `${url}/shares`)) as { shares: Share[] };
  for (const { id } of shares) await request(cloud, token, 'DELETE', `${url}/shares/${id}`);
  await cloud.clock.advance(5000);
  return cloud;
}

test('below a control plane that states it, each backend has a process and a type, and shares become available', async () => {
  const cloud = await emptied();
  expect(cloud.isReady('Manila', 'my-cloud-manila')).toBe(true);
  const workloads = cloud.list('Deployment').map(({ metadata }) => metadata.name);
  expect(workloads.filter((name) => name.startsWith('my-cloud-manila-'))).toEqual([
    'my-cloud-manila-api',
    'my-cloud-manila-data',
    'my-cloud-manila-scheduler',
    'my-cloud-manila-share-fast',
    'my-cloud-manila-share-slow',
  ]);
  expect(await services(cloud)).toEqual([
    'manila-data my-cloud-manila-data up',
    'manila-scheduler my-cloud-manila-scheduler up',
    'manila-share my-cloud-manila@fast up',
    'manila-share my-cloud-manila@slow up',
  ]);
  const types = JSON.parse(await ask(cloud, await login(cloud), `${url}/types`)) as {
    share_types: { name: string; extra_specs: object }[];
  };
  expect(types.share_types.map(({ name }) => name)).toEqual(['fast', 'slow']);
  expect(types.share_types[1]?.extra_specs).toEqual({
    share_backend_name: 'slow',
    driver_handles_share_servers: 'False',
    snapshot_support: 'True',
    create_share_from_snapshot_support: 'True',
  });
  expect(await made(cloud)).toMatchObject({
    status: 'available',
    share_type_name: 'fast',
    host: 'my-cloud-manila@fast#cephfs',
  });
  expect(await made(cloud, { share_type: 'slow' })).toMatchObject({ host: 'my-cloud-manila@slow#cephfs' });
  expect(await entitiesOf(cloud, 'services')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'manila', type: 'shared-file-system' }),
      expect.objectContaining({ name: 'manilav2', type: 'sharev2' }),
    ]),
  );
});

test('types of shares are made as they are stated, and changed with them; what somebody changed by hand is set back', async () => {
  const cloud = await emptied();
  const typesOf = async () => {
    const answer = await ask(cloud, await login(cloud), `${url}/types?is_public=all`);
    return (JSON.parse(answer) as { share_types: { id: string; name: string }[] }).share_types;
  };
  const gold = { name: 'gold', backend: 'slow', isPublic: false };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { manila: { shareTypes: [gold] } } });
  await cloud.ready();
  expect(await made(cloud, { share_type: 'gold' })).toMatchObject({ host: 'my-cloud-manila@slow#cephfs' });
  const changed = { ...gold, description: 'Slow.', isPublic: true, extraSpecs: { snapshot_support: 'False' } };
  const manila = { shareTypes: [changed], defaultShareType: 'gold' };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { manila } });
  await cloud.ready();
  // The scheduler finds no backend that makes no snapshots: all that serve make them.
  expect(await made(cloud)).toMatchObject({ status: 'error', share_type_name: 'gold' });
  const [, , type] = await typesOf();
  expect(type).toMatchObject({
    description: 'Slow.',
    'share_type_access:is_public': true,
    extra_specs: { share_backend_name: 'slow', driver_handles_share_servers: 'False', snapshot_support: 'False' },
  });
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { manila: { shareTypes: [{ ...gold, isPublic: true }], defaultShareType: 'gold' } },
  });
  await cloud.ready();
  const extra_specs = { snapshot_support: 'True', share_backend_name: 'fast' };
  await request(cloud, await login(cloud), 'POST', `${url}/types/${type?.id}/extra_specs`, { extra_specs });
  await cloud.clock.advance(3_660_000);
  expect(await made(cloud)).toMatchObject({ host: 'my-cloud-manila@slow#cephfs', share_type_name: 'gold' });
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { manila: { shareTypes: null, defaultShareType: null } },
  });
  await cloud.ready();
  expect((await typesOf()).map(({ name }) => name)).toEqual(['fast', 'slow', 'gold']);
});

test('what it has stored is there after it was switched off and on', async () => {
  const cloud = await emptied();
  const { id } = await made(cloud);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { ...withResources, spec: { manila: { enabled: false } } });
  await cloud.until(() => cloud.get('Manila', 'my-cloud-manila') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { manila: { enabled: null } } });
  await cloud.ready();
  expect(await shareOf(cloud, id)).toMatchObject({ status: 'available' });
});

test('a backend that finds no cluster is told by its pod, and works when it finds one', async () => {
  const cloud = await emptied();
  await cloud.change(Secret, keyrings, { stringData: keyring('no-key') });
  await cloud.until(() => !cloud.isReady('Manila', 'my-cloud-manila'));
  await cloud.clock.advance(120_000);
  expect(await services(cloud)).toContain('manila-share my-cloud-manila@fast down');
  expect(cloud.condition(Manila, 'my-cloud-manila', 'DeploymentReady')?.message).toContain('my-cloud-manila-share-');
  await cloud.change(Secret, keyrings, { stringData: keyring(key) });
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'), 30);
  await cloud.clock.advance(30_000);
  expect(await made(cloud)).toMatchObject({ status: 'available' });
});

// The last one of the cloud that is shared: the filesystem of a backend is another one then.
test('a backend that is removed gets no new shares, keeps its process for those it has, and is forgotten without any', async () => {
  const cloud = await emptied();
  const { id } = await made(cloud, { share_type: 'slow' });
  const state = (...backends: readonly object[]) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { manila: { backends } } });
  const told = () => cloud.condition(Manila, 'my-cloud-manila', 'RemovedBackendsEmpty')?.message ?? '';
  const slowProcess = () => cloud.get('Deployment', 'my-cloud-manila-share-slow');
  await state(filesystem('fast'));
  await cloud.until(() => told().includes('shares: 1 of my-cloud-manila@slow'), 30);
  expect(slowProcess()).toBeDefined();
  expect(await made(cloud, { share_type: 'slow' })).toMatchObject({ status: 'error' });
  await request(cloud, await login(cloud), 'DELETE', `${url}/shares/${id}`);
  await cloud.until(() => slowProcess() === undefined, 120);
  await state(filesystem('fast'), { ...filesystem('slow'), cephFSName: 'fast-files' });
  await cloud.until(() => slowProcess() !== undefined);
  await cloud.ready();
  expect(await made(cloud, { share_type: 'slow' })).toMatchObject({ status: 'available' });
});

test('a key that is none is told by the check of filesystems; with another one all goes on', async () => {
  const cloud = await begun('no-key');
  const checked = () => cloud.condition(CephStorage, 'my-cloud-ceph', 'PoolsReady')?.message ?? '';
  await cloud.until(() => checked().includes('client.manila cannot keep shares in filesystem fast-files'));
  expect(checked()).toContain(
    "RADOS invalid argument (error connecting to the cluster) (it needs mon 'allow r', mgr 'allow rw'); client.manila cannot keep shares in filesystem slow-files",
  );
  await cloud.change(Secret, keyrings, { stringData: keyring(key) });
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'), 30);
  expect(await made(cloud)).toMatchObject({ status: 'available' });
});

test('wrong backends are refused with the field and the way out', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const refusedWith = async (manila: object) =>
    cloud.settle(
      cloud.rehearsal.create(controlPlane({ ...spec, manila })).then(
        () => 'accepted',
        (error: unknown) => String(error),
      ),
    );
  const backends = (...backends: object[]) => ({ backends });
  expect(await refusedWith({})).toContain('spec.manila.backends: ');
  expect(await refusedWith(backends({ name: 'x', type: 'lvm' }))).toContain('spec.manila.backends[0].type');
  expect(await refusedWith(backends(filesystem('nova')))).toContain('choose another name');
  expect(await refusedWith(backends({ name: 'x', type: 'nfs' }))).toContain('type cephfs or nfs needs cephFSName');
  expect(await refusedWith(backends({ ...filesystem('x'), shareServers: true }))).toContain(
    'shareServers can be set for type netapp or custom only',
  );
  expect(await refusedWith({ ...backends(filesystem('x')), defaultBackend: 'y' })).toContain(
    'spec.manila.defaultBackend',
  );
  expect(await refusedWith({ enabled: false })).toBe('accepted');
});
