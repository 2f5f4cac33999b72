import { removeLeftovers } from './leftovers.ts';
import { administrator, prefix } from './running-cloud.ts';
import { until } from './until.ts';

interface Thing {
  readonly id: string;
  readonly name: string;
  readonly device_owner: string;
  readonly status: string;
}

/** Names of what suites make. Those of its projects and users tempest begins so, whatever `resource_name_prefix` says. */
const prefixes = [prefix, 'tempest-'];

/** Removes all that the suite, or a run of it that was killed, has made: by its projects, and by its names. */
export async function clean(): Promise<void> {
  const admin = administrator();
  const named = async (list: string, query: object = {}) =>
    (await admin.call<Thing[]>(list, query)).filter(({ name }) => prefixes.some((one) => name.startsWith(one)));
  const removeNamed = async (list: string, remove: string, query?: object) => {
    await Promise.all((await named(list, query)).map(({ id }) => admin.call(remove, id)));
  };
  const projects = await named('identity.projects');
  const inProjects = async (list: string, query: object = {}) =>
    (await Promise.all(projects.map(({ id }) => admin.call<Thing[]>(list, { project_id: id, ...query })))).flat();

  const servers = () => named('compute.servers', { details: false, all_projects: true });
  await Promise.all((await servers()).map(({ id }) => admin.call('compute.delete_server', id)));
  await until({
    what: 'the servers of the suite to be gone',
    seconds: 120,
    probe: async () => ((await servers()).length === 0 ? true : undefined),
    explain: async () => (await servers()).map(({ name }) => name).join(', '),
  });
  if ((await admin.call<{ type: string }[]>('service_catalog')).some(({ type }) => type === 'block-storage')) {
    const volumes = () => inProjects('block_storage.volumes', { all_projects: true });
    for (const { id } of await volumes()) await admin.call('block_storage.delete', `/volumes/${id}?cascade=true`);
    await until({
      what: 'the volumes of the suite to be gone',
      seconds: 120,
      probe: async () => ((await volumes()).length === 0 ? true : undefined),
      explain: async () => (await volumes()).map(({ id, status }) => `${id} is ${status}`).join(', '),
    });
    await removeNamed('block_storage.types', 'block_storage.delete_type');
    await removeLeftovers();
  }
  for (const { id } of await inProjects('network.ips')) await admin.call('network.delete_ip', id);
  for (const router of await inProjects('network.routers')) {
    const ports = await admin.call<Thing[]>('network.ports', { device_id: router.id });
    for (const { id } of ports.filter(({ device_owner: owner }) => owner === 'network:router_interface')) {
      await admin.call('network.remove_interface_from_router', router.id, { port: id });
    }
    await admin.call('network.delete_router', router.id);
  }
  for (const { id } of await inProjects('network.networks', { is_router_external: false })) {
    await admin.call('network.delete_network', id);
  }
  await removeNamed('network.networks', 'network.delete_network');
  await removeNamed('network.subnet_pools', 'network.delete_subnet_pool');
  for (const { id } of await inProjects('network.security_groups'))
    await admin.call('network.delete_security_group', id);
  await removeNamed('image.images', 'image.delete_image', { visibility: 'all' });
  await removeNamed('compute.flavors', 'compute.delete_flavor', { is_public: null });
  await removeNamed('identity.users', 'identity.delete_user');
  await Promise.all(projects.map(({ id }) => admin.call('identity.delete_project', id)));
}
