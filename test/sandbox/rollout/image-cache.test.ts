import { Pod } from '@openstack-operator/kube';
import { Cinder, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { blockStorage, type Cloud, controlPlane, createCloud, only } from './cloud.ts';
import { ask, call, entitiesOf, login, request } from './keystone.ts';

const volumes = 'http://my-cloud-cinder-api.openstack.svc:8776/v3';
const images = 'http://my-cloud-glance-api.openstack.svc:9292/v2/images';
const cinder = 'my-cloud-cinder';
const [share] = blockStorage.backends;

/** States the backend, with more. */
const state = (cloud: Cloud, more: object = {}) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { backends: [{ ...share, ...more }] } } });

/** The files of Cinder, as pods have them. */
const filesOf = (cloud: Cloud): string =>
  ['ConfigMap', 'Secret']
    .flatMap((kind) => cloud.list(kind))
    .filter(({ metadata }) => metadata.name.startsWith(`${cinder}-volume-share-config`))
    .map((one) => JSON.stringify(one))
    .join('');

/** The pods of Cinder by the names of their components. */
const podsOf = (cloud: Cloud): Record<string, string> =>
  Object.fromEntries(
    cloud
      .list('Pod')
      .filter(({ metadata }) => /^my-cloud-cinder-(api|scheduler|volume-share)-/.test(metadata.name))
      .map(({ metadata }) => [metadata.labels?.['app.kubernetes.io/component'] ?? '', metadata.uid]),
  );

async function newImage(cloud: Cloud): Promise<string> {
  const token = await login(cloud);
  const { id } = JSON.parse(await request(cloud, token, 'POST', images, { name: 'cirros' })) as { id: string };
  await request(cloud, token, 'PUT', `${images}/${id}/file`, 'a disk', ['Content-Type: application/octet-stream']);
  return id;
}

interface Volume {
  readonly id: string;
  readonly name: string | null;
  readonly status: string;
  readonly 'os-vol-tenant-attr:tenant_id': string;
}

/** A new volume of an image, when the cloud is done with it. */
async function volumeOf(cloud: Cloud, imageRef: string): Promise<Volume> {
  const token = await login(cloud);
  const answer = await request(cloud, token, 'POST', `${volumes}/volumes`, { volume: { size: 1, imageRef } });
  const { id } = (JSON.parse(answer) as { volume: Volume }).volume;
  await cloud.clock.advance(5000);
  const shown = await request(cloud, token, 'GET', `${volumes}/volumes/${id}`);
  return (JSON.parse(shown) as { volume: Volume }).volume;
}

/** What the present process of the backend has logged. */
function logOf(cloud: Cloud): string {
  const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(`${cinder}-volume-share-`));
  return cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name: pod?.metadata.name ?? '' });
}

/** How often it has downloaded an image. */
const downloads = (cloud: Cloud): number => logOf(cloud).split('Image download').length - 1;

test('a backend keeps volumes of images in a project of its own without quotas; nothing else is touched', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const services = only('mariadb', 'memcached', 'keystone', 'rabbitmq', 'glance');
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...services, cinder: { backends: [share] } })));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  const before = podsOf(cloud);
  expect(Object.keys(before).sort()).toEqual(['api', 'scheduler', 'volume-share']);
  const image = await newImage(cloud);
  await volumeOf(cloud, image);
  await volumeOf(cloud, image);
  expect(downloads(cloud)).toBe(2);

  await state(cloud, { imageCache: { maxSize: '20Gi', maxCount: 9 } });
  await cloud.until(() => logOf(cloud).includes('Image-volume cache enabled'));
  await cloud.ready();
  const after = podsOf(cloud);
  expect(after).toMatchObject({ api: before['api'], scheduler: before['scheduler'] });
  expect(after['volume-share']).not.toBe(before['volume-share']);

  const named = async (collection: string) =>
    (await entitiesOf(cloud, collection)).find(({ name }) => name === 'cinder-internal')?.id ?? 'none';
  const [project, user] = [await named('projects'), await named('users')];
  expect(cloud.get('Cinder', cinder)?.['status']).toMatchObject({
    found: { 'project cinder-internal': project, 'user cinder-internal': user },
  });
  for (const line of [
    `cinder_internal_tenant_project_id = ${project}`,
    `cinder_internal_tenant_user_id = ${user}`,
    'image_volume_cache_enabled = true',
    'image_volume_cache_max_size_gb = 20',
    'image_volume_cache_max_count = 9',
  ])
    expect(filesOf(cloud)).toContain(line);
  const quotas = await ask(cloud, await login(cloud), `${volumes}/os-quota-sets/${project}`);
  expect(JSON.parse(quotas)).toMatchObject({ quota_set: { volumes: -1, gigabytes: -1 } });

  for (const _ of [1, 2, 3]) expect(await volumeOf(cloud, image)).toMatchObject({ status: 'available' });
  expect(downloads(cloud)).toBe(1);
  const kept = async () => {
    const answer = await ask(cloud, await login(cloud), `${volumes}/volumes?all_tenants=1`);
    const { volumes: all } = JSON.parse(answer) as { volumes: Volume[] };
    return all.filter((one) => one['os-vol-tenant-attr:tenant_id'] === project).map(({ name }) => name);
  };
  expect(await kept()).toEqual([`image-${image}`]);

  await state(cloud);
  await cloud.until(() => logOf(cloud).includes('Image-volume cache disabled'));
  await cloud.ready();
  await volumeOf(cloud, image);
  expect(downloads(cloud)).toBe(1);
  expect(await kept()).toEqual([`image-${image}`]);
});

test('a project of somebody else is refused; identifiers that were missed, or of one that is made anew, are learnt', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const services = only('mariadb', 'memcached', 'keystone', 'rabbitmq', 'glance');
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...services, cinder: { backends: [share] } })));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  const theirs = { name: 'cinder-internal', domain_id: 'default', description: 'of a tenant' };
  const made = await call(cloud, await login(cloud), 'POST', '/projects', { project: theirs });
  const { id } = (JSON.parse(made) as { project: { id: string } }).project;
  const quotas = async () => await ask(cloud, await login(cloud), `${volumes}/os-quota-sets/${id}`);
  const before = await quotas();
  const found = () =>
    (cloud.get('Cinder', cinder)?.['status'] as { found?: Record<string, string> } | undefined)?.found ?? {};
  const project = () => found()['project cinder-internal'];
  await state(cloud, { imageCache: {} });
  const words = `project cinder-internal is there already and is not the operator's: its description is "of a tenant"`;
  await cloud.until(() => (cloud.condition(Cinder, cinder, 'ResourcesReady')?.message ?? '').includes(words));
  expect((await entitiesOf(cloud, 'projects')).find((one) => one.id === id)).toMatchObject(theirs);
  expect(await quotas()).toBe(before);
  expect(found()).toEqual({});

  await call(cloud, await login(cloud), 'PATCH', `/projects/${id}`, { project: { name: 'theirs' } });
  await cloud.until(() => project() !== undefined);
  await cloud.ready();
  const first = project() ?? '';
  expect(first).not.toBe(id);
  await call(cloud, await login(cloud), 'DELETE', `/projects/${first}`);
  await cloud.until(() => project() !== first, 120);
  await cloud.until(() => filesOf(cloud).includes(`cinder_internal_tenant_project_id = ${project()}`));
  await cloud.ready();
  const second = project();
  expect((await entitiesOf(cloud, 'projects')).map((one) => one.id)).toContain(second);
  const audit = () => JSON.stringify(cloud.get('Cinder', cinder)?.['status']);
  expect(audit()).toContain('created project cinder-internal');
  expect(audit()).not.toContain('{project');

  // As if the pods had gone before the operator saw them.
  for (const { metadata } of cloud.list('Pod'))
    if (/^my-cloud-cinder-(resource-create|records-audit)-/.test(metadata.name)) await cloud.remove(Pod, metadata.name);
  const client = cloud.rehearsal.sandbox.client();
  const ref = { namespace: 'openstack', name: cinder };
  await cloud.settle(client.patch(Cinder, ref, 'merge', { status: { found: null } }, { subresource: 'status' }));
  await cloud.until(() => cloud.condition(Cinder, cinder, 'ImageCacheReady')?.reason === 'Waiting');
  await cloud.until(() => project() === second, 120);

  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { deletionPolicy: 'Delete' } });
  await cloud.until(
    () =>
      (cloud.get('Cinder', cinder)?.['spec'] as { deletionPolicy?: string } | undefined)?.deletionPolicy === 'Delete',
  );
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { cinder: { enabled: false } } });
  await cloud.until(() => cloud.get('Cinder', cinder) === undefined);
  const named = async (collection: string) => (await entitiesOf(cloud, collection)).map(({ name }) => name);
  expect(await named('projects')).toEqual(expect.arrayContaining(['cinder-internal', 'theirs']));
  expect(await named('users')).toContain('cinder-internal');
});

test('a cache for nothing, and options beside its field, are refused', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const refused = (imageCache: object, config: object) => {
    const backend = {
      ...share,
      imageCache,
      config: { 'cinder.conf': { share: { ...share?.config['cinder.conf'].share, ...config } } },
    };
    const plane = controlPlane({
      ...only('mariadb', 'memcached', 'keystone', 'rabbitmq'),
      cinder: { backends: [backend] },
    });
    return cloud.settle(
      cloud.rehearsal.create(plane).then(
        () => 'accepted',
        (error: unknown) => String(error),
      ),
    );
  };
  expect(await refused({ maxSize: '1Mi' }, {})).toContain('expected at least 1Gi: no volume is smaller');
  expect(await refused({}, { image_volume_cache_enabled: false })).toBe('accepted');
  await cloud.until(() =>
    (cloud.condition(Cinder, cinder, 'ConfigReady')?.message ?? '').includes(
      'set spec.backends[name=share].imageCache instead',
    ),
  );
});
