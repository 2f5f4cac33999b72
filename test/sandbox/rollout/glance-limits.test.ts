import { Pod } from '@openstack-operator/kube';
import { Glance, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, only } from './cloud.ts';
import { ask, call, type Entity, entitiesOf, login, request } from './keystone.ts';

const images = 'http://my-cloud-glance-api.openstack.svc:9292/v2';
const glance = 'my-cloud-glance';
const services = only('mariadb', 'memcached', 'keystone');

/** States limits of images, or none. */
const state = (cloud: Cloud, registeredLimits: object | null) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { registeredLimits } } });

/** A cloud whose projects may have one image each. */
async function limited(): Promise<Cloud> {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(
    cloud.rehearsal.create(controlPlane({ ...services, glance: { registeredLimits: { imageCountTotal: 1 } } })),
  );
  await cloud.until(() => enforces(cloud), 60);
  await cloud.ready();
  return cloud;
}

/** The file of Glance, as each pod of its API has it. */
function files(cloud: Cloud): readonly string[] {
  const all = cloud.list('ConfigMap').filter(({ metadata }) => metadata.name.startsWith(`${glance}-config`));
  return cloud
    .list('Pod')
    .filter(({ metadata }) => metadata.name.startsWith(`${glance}-api-`))
    .map((pod) => {
      const spec = JSON.stringify(pod['spec']);
      return JSON.stringify(all.filter(({ metadata }) => spec.includes(metadata.name)));
    });
}

/** The identifier that the status remembers. */
const foundOf = (cloud: Cloud): string | undefined =>
  (cloud.get('Glance', glance)?.['status'] as { found?: Record<string, string> } | undefined)?.found?.[
    'endpoint image'
  ];

function enforces(cloud: Cloud): boolean {
  const [each, id] = [files(cloud), foundOf(cloud)];
  return id !== undefined && each.length > 0 && each.every((text) => text.includes(`endpoint_id = ${id}\\n`));
}

/** Identifiers of its endpoints inside the cluster. */
async function endpointsOf(cloud: Cloud): Promise<readonly string[]> {
  const all = await entitiesOf(cloud, 'endpoints');
  return all
    .filter((one) => one['interface'] === 'internal' && String(one['url']).includes(':9292'))
    .map(({ id }) => id);
}

async function registered(cloud: Cloud): Promise<Readonly<Record<string, Entity>>> {
  const all = await entitiesOf(cloud, 'registered_limits');
  return Object.fromEntries(all.map((one) => [String(one['resource_name']), one]));
}

const defaults = async (cloud: Cloud) =>
  Object.fromEntries(Object.entries(await registered(cloud)).map(([name, one]) => [name, one['default_limit']]));

/** A project and its user; what they are called. */
async function tenant(cloud: Cloud, name: string): Promise<{ readonly id: string; readonly auth: object }> {
  const admin = await login(cloud);
  const make = async (path: string, item: string, body: object) =>
    (JSON.parse(await call(cloud, admin, 'POST', path, { [item]: body })) as Record<string, Entity>)[item]?.id ?? '';
  const id = await make('/projects', 'project', { name, domain_id: 'default' });
  const user = await make('/users', 'user', { name, password: 'secret', domain_id: 'default' });
  const member = (await entitiesOf(cloud, 'roles')).find((one) => one['name'] === 'member')?.id ?? '';
  await call(cloud, admin, 'PUT', `/projects/${id}/users/${user}/roles/${member}`);
  const identity = { methods: ['password'], password: { user: { id: user, password: 'secret' } } };
  return { id, auth: { identity, scope: { project: { id } } } };
}

/** Makes an image: its identifier, or what Glance says instead. */
async function make(cloud: Cloud, { auth }: { readonly auth: object }): Promise<string> {
  const body = { name: 'one', disk_format: 'raw', container_format: 'bare' };
  const made = await request(cloud, await login(cloud, auth), 'POST', `${images}/images`, body).catch(String);
  return /"id":"([^"]+)"/u.exec(made)?.[1] ?? made;
}

/** What it says beyond a limit. */
const beyond = ({ id }: { readonly id: string }, limit: number) =>
  expect.stringContaining(
    `Project ${id} is over a limit for [Resource image_count_total is over limit of ${limit} due to current usage ${limit} and delta 1]`,
  );
const anImage = expect.stringMatching(/^[0-9a-f-]{36}$/u);

/** Gives a project a limit of its own. */
async function own(cloud: Cloud, project: string, resource_limit: number): Promise<string> {
  const { image_count_total: of } = await registered(cloud);
  const limits = [
    {
      service_id: of?.['service_id'],
      region_id: 'RegionOne',
      project_id: project,
      resource_name: 'image_count_total',
      resource_limit,
    },
  ];
  const made = await call(cloud, await login(cloud), 'POST', '/limits', { limits });
  return (JSON.parse(made) as { limits: Entity[] }).limits[0]?.id ?? '';
}

test('projects have no more images than their limits allow; one has a limit of its own, and it stays', async () => {
  const cloud = await limited();
  expect(await defaults(cloud)).toEqual({
    image_size_total: 102_400,
    image_stage_total: 10_240,
    image_count_total: 1,
    image_count_uploading: 10,
  });
  expect(await endpointsOf(cloud)).toEqual([foundOf(cloud)]);
  const [one, other] = [await tenant(cloud, 'one'), await tenant(cloud, 'other')];
  expect(await make(cloud, one)).toEqual(anImage);
  expect(await make(cloud, one)).toEqual(beyond(one, 1));
  expect(await make(cloud, other)).toEqual(anImage);
  const limit = await own(cloud, other.id, 2);
  expect(await make(cloud, other)).toEqual(anImage);
  expect(await make(cloud, other)).toEqual(beyond(other, 2));
  const usage = await ask(cloud, await login(cloud, other.auth), `${images}/info/usage`);
  expect(JSON.parse(usage)).toMatchObject({
    usage: { image_count_total: { usage: 2, limit: 2 }, image_size_total: { usage: 0, limit: 102_400 } },
  });

  // Keystone changes no default that a project has a limit of its own beside.
  await state(cloud, { imageCountTotal: 3 });
  const stays = 'registered limit image_count_total of glance in RegionOne stays 1, and does not become 3: Unable to';
  await cloud.until(() => (cloud.condition(Glance, glance, 'EndpointReady')?.message ?? '').includes(stays), 60);
  expect(await make(cloud, one)).toEqual(beyond(one, 1));
  // By an endpoint that is made anew meanwhile images are limited as before.
  const first = foundOf(cloud) ?? '';
  await call(cloud, await login(cloud), 'DELETE', `/endpoints/${first}`);
  await cloud.until(() => foundOf(cloud) !== first && enforces(cloud), 120);
  await cloud.until(() => cloud.condition(Glance, glance, 'DeploymentReady')?.status === 'True');
  expect(await endpointsOf(cloud)).toEqual([foundOf(cloud)]);
  await cloud.until(() => (cloud.condition(Glance, glance, 'EndpointReady')?.message ?? '').includes(stays), 60);
  expect(await make(cloud, one)).toEqual(beyond(one, 1));
  await call(cloud, await login(cloud), 'DELETE', `/limits/${limit}`);
  await cloud.ready();
  expect(await defaults(cloud)).toMatchObject({ image_count_total: 3 });
  expect(await make(cloud, one)).toEqual(anImage);
});

test('a default that was changed is set back, an endpoint that was made anew is learnt, and limits are switched off', async () => {
  const cloud = await limited();
  const one = await tenant(cloud, 'one');
  expect(await make(cloud, one)).toEqual(anImage);
  const { image_count_total: of } = await registered(cloud);
  const change = { registered_limit: { default_limit: 7 } };
  await call(cloud, await login(cloud), 'PATCH', `/registered_limits/${of?.id}`, change);
  await call(
    cloud,
    await login(cloud),
    'DELETE',
    `/registered_limits/${(await registered(cloud))['image_size_total']?.id}`,
  );
  const audit = () => JSON.stringify(cloud.get('Glance', glance)?.['status']);
  await cloud.until(
    () => audit().includes('changed registered limit image_count_total of glance in RegionOne: 1'),
    120,
  );
  expect(await defaults(cloud)).toMatchObject({ image_count_total: 1, image_size_total: 102_400 });

  const first = foundOf(cloud) ?? '';
  await call(cloud, await login(cloud), 'DELETE', `/endpoints/${first}`);
  expect(await make(cloud, one)).toContain('500');
  await cloud.until(() => foundOf(cloud) !== first && enforces(cloud), 120);
  await cloud.ready();
  expect(await endpointsOf(cloud)).toEqual([foundOf(cloud)]);
  expect(await make(cloud, one)).toEqual(beyond(one, 1));

  // As if the pods had gone before the operator saw them.
  for (const { metadata } of cloud.list('Pod'))
    if (/^my-cloud-glance-(endpoint-create|records-audit)-/.test(metadata.name)) await cloud.remove(Pod, metadata.name);
  const client = cloud.rehearsal.sandbox.client();
  const ref = { namespace: 'openstack', name: glance };
  await cloud.settle(client.patch(Glance, ref, 'merge', { status: { found: null } }, { subresource: 'status' }));
  await cloud.until(() => cloud.condition(Glance, glance, 'RegisteredLimitsReady')?.reason === 'Waiting');
  await cloud.until(() => enforces(cloud), 120);

  await state(cloud, null);
  await cloud.until(() => files(cloud).every((text) => text !== '[]' && !text.includes('use_keystone_limits')));
  await cloud.ready();
  expect(await make(cloud, one)).toEqual(anImage);
  expect(await defaults(cloud)).toMatchObject({ image_count_total: 1 });
}, 300_000);

test('the service goes with its limits, but not with those of projects', async () => {
  const cloud = await limited();
  const one = await tenant(cloud, 'one');
  const limit = await own(cloud, one.id, 5);
  const disable = async (enabled: boolean) => {
    await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { enabled } } });
    await cloud.until(() => (cloud.get('Glance', glance) === undefined) === !enabled);
  };
  const named = async () => (await entitiesOf(cloud, 'services')).map((each) => each['name']);
  await disable(false);
  expect(await endpointsOf(cloud)).toEqual([]);
  expect(await named()).toContain('glance');
  expect(await defaults(cloud)).toEqual({ image_count_total: 1 });
  await disable(true);
  await cloud.ready();
  expect((await entitiesOf(cloud, 'registered_limits')).length).toBe(4);
  await call(cloud, await login(cloud), 'DELETE', `/limits/${limit}`);
  await disable(false);
  expect(await named()).not.toContain('glance');
  expect(await defaults(cloud)).toEqual({});
});

test('sizes that Keystone cannot keep, and options beside the field, are refused', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const refused = (glanceSpec: object) =>
    cloud.settle(
      cloud.rehearsal.create(controlPlane({ ...services, glance: glanceSpec })).then(
        () => 'accepted',
        (error: unknown) => String(error),
      ),
    );
  expect(await refused({ registeredLimits: { imageSizeTotal: '2Pi' } })).toContain(
    'expected 0, or from 1Mi to less than 2Pi',
  );
  const config = { 'glance-api.conf': { oslo_limit: { endpoint_interface: 'internal' } } };
  expect(await refused({ registeredLimits: {}, config })).toBe('accepted');
  await cloud.until(() =>
    (cloud.condition(Glance, glance, 'ConfigReady')?.message ?? '').includes('set spec.registeredLimits instead'),
  );
});
