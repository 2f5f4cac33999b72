import { Pod } from '@openstack-operator/kube';
import { Glance, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { blockStorage, type Cloud, cephStorage, controlPlane, createCloud, only } from './cloud.ts';
import { entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const blocks = { name: 'blocks', type: 'cinder', volumeType: 'images' };
const pool = { name: 'ceph', type: 'ceph', cephPoolName: 'volumes' };
const images = { name: 'images', backend: 'ceph', extraSpecs: { multiattach: '<is> True' } };
const glance = { storageType: 'ceph', nodeNetworks: ['10.0.0.0/16'] };
const services = only('mariadb', 'memcached', 'keystone', 'rabbitmq');
const spec = { ...services, cephStorage, cinder: { backends: [pool], volumeTypes: [images] }, glance };
const name = 'my-cloud-glance';
const api = `http://${name}-api.openstack.svc:9292/v2/images`;
const cinder = 'http://my-cloud-cinder-api.openstack.svc:8776/v3';

interface Volume {
  readonly id: string;
  readonly name: string | null;
  readonly status: string;
  readonly volume_type: string;
  readonly source_volid?: string;
  readonly 'os-vol-tenant-attr:tenant_id': string;
}

async function started(more: object): Promise<Cloud> {
  const cloud = await createCloud();
  await cloud.startOperator();
  const keyring = (letter: number) => Buffer.alloc(28, letter).toString('base64');
  const stringData = { 'ceph.client.glance.keyring': keyring(1), 'ceph.client.cinder.keyring': keyring(2) };
  const metadata = { name: 'ceph-keyrings', namespace: 'openstack' };
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }));
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...spec, ...more })));
  return cloud;
}

const shared = sharedCloud(async () => {
  const cloud = await started({});
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  const additionalStores = [blocks];
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { additionalStores } } });
  const files = () => JSON.stringify(cloud.list('Deployment').filter(({ metadata }) => metadata.name.startsWith(name)));
  const before = files();
  await cloud.until(() => files() !== before);
  await cloud.ready();
  return { cloud };
});

/** Asks as the administrator. */
async function asked(cloud: Cloud) {
  const token = await login(cloud);
  return (method: string, url: string, body?: object | string, ...headers: string[]) =>
    request(cloud, token, method, url, body, headers);
}

async function volumes(cloud: Cloud): Promise<Volume[]> {
  const answer = await (await asked(cloud))('GET', `${cinder}/volumes?all_tenants=1`);
  return (JSON.parse(answer) as { volumes: Volume[] }).volumes;
}

async function image(cloud: Cloud, data: string): Promise<string> {
  const ask = await asked(cloud);
  const made = await ask('POST', api, { name: 'cirros', disk_format: 'raw', container_format: 'bare' });
  const { id } = JSON.parse(made) as { id: string };
  await ask('PUT', `${api}/${id}/file`, data, 'X-Image-Meta-Store: blocks');
  return id;
}

function logOf(cloud: Cloud, prefix: string): string {
  const pods = cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith(prefix));
  return pods
    .map(({ metadata }) => cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name: metadata.name }))
    .join('');
}

test('an image is a volume of the project of services, which has no quota of them; a volume of it is a clone', async () => {
  const { cloud } = await shared();
  const ask = await asked(cloud);
  const data = 'a disk: "quoted", 100 %\n\ttwo lines';
  const id = await image(cloud, data);
  const project = (await entitiesOf(cloud, 'projects')).find((one) => one['name'] === 'service')?.id ?? '';
  const [kept] = await volumes(cloud);
  expect(kept).toMatchObject({
    name: `image-${id}`,
    status: 'available',
    volume_type: 'images',
    'os-vol-tenant-attr:tenant_id': project,
  });
  expect(await ask('GET', `${api}/${id}/file`)).toBe(data);
  expect(await ask('GET', `${api}/${id}`)).not.toContain('cinder://');
  expect(JSON.parse(await ask('GET', `${cinder}/os-quota-sets/${project}`))).toMatchObject({
    quota_set: { volumes: -1, gigabytes: -1 },
  });

  await ask('POST', `${cinder}/volumes`, { volume: { size: 1, imageRef: id } });
  await cloud.clock.advance(10_000);
  const clone = (await volumes(cloud)).find((one) => one.id !== kept?.id);
  expect(clone).toMatchObject({ status: 'available', source_volid: kept?.id });
  expect(logOf(cloud, 'my-cloud-cinder-volume-ceph-')).not.toContain('Image download');

  await ask('DELETE', `${api}/${id}`);
  await cloud.clock.advance(10_000);
  expect((await volumes(cloud)).map((one) => one.id)).toEqual([clone?.id]);
  await ask('DELETE', `${cinder}/volumes/${clone?.id}`);
  await cloud.clock.advance(10_000);
});

test('what the store is, is remembered, and Cinder stays for it', async () => {
  const { cloud } = await shared();
  expect(cloud.get('Glance', name)?.status).toMatchObject({
    lasting: { 'spec.additionalStores[name=blocks]': 'cinder', 'spec.cinderRef': 'Cinder my-cloud-cinder' },
  });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { enabled: false } } });
  const told = (type: string) => cloud.condition(OpenStackControlPlane, 'my-cloud', type);
  await cloud.until(() => told('CinderReady')?.reason === 'InUse');
  expect(told('CinderReady')?.message).toContain('spec.glance needs it: the Cinder is kept until nothing needs it');
  expect(told('GlanceReady')?.message).toContain('Glance needs spec.cinder, which is disabled; enable it');
  expect(cloud.isReady('Cinder', 'my-cloud-cinder')).toBe(true);
});

test('an upload fails while Cinder does not answer, and a pod that starts then does not come up', async () => {
  const { cloud } = await shared();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { replicas: 0 } } });
  await cloud.until(() => !cloud.list('Pod').some(({ metadata }) => metadata.name.startsWith('my-cloud-cinder-api-')));
  await expect(image(cloud, 'a disk')).rejects.toThrow('HTTP/1.1 500');
  expect(logOf(cloud, `${name}-api-`)).toContain('ConnectFailure: Unable to establish connection to http://my-cloud');
  const [pod] = cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith(`${name}-api-`));
  await cloud.remove(Pod, pod?.metadata.name ?? '');
  await cloud.clock.advance(60_000);
  expect(cloud.isReady('Glance', name)).toBe(false);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { replicas: null } } });
  await cloud.until(() => cloud.isReady('Glance', name));
});

test('without a Cinder there is no Glance with such a store, and in backends that are not in Ceph there is none either', async () => {
  const { cinder: _cinder, ...without } = spec;
  const cloud = await createCloud();
  await cloud.startOperator();
  const stores = { ...glance, additionalStores: [blocks] };
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...without, glance: stores })));
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'GlanceReady')?.message ?? '';
  await cloud.until(() => told().includes('Glance needs spec.cinder, which is absent; state it'));

  const backends = blockStorage.backends.slice(0, 1);
  const other = await started({
    cinder: { backends },
    glance: { ...stores, additionalStores: [{ ...blocks, volumeType: undefined }] },
  });
  const said = () => other.condition(Glance, name, 'ConfigReady')?.message ?? '';
  await other.until(() => said().includes('volumes of the default type may lie in backend share of the Cinder'));
});
