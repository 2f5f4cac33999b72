import { describe, expect, it } from 'vitest';
import { mariadbClients } from '../infrastructure/mariadb-client.ts';
import { mariadbInstallDb } from '../infrastructure/mariadb-install-db.ts';
import { mariadbd } from '../infrastructure/mariadb-server.ts';
import { ovnCtl } from '../infrastructure/ovn-ctl.ts';
import { ovsControlCommands } from '../infrastructure/ovs-vsctl.ts';
import { rabbitmqServer } from '../infrastructure/rabbitmq-server.ts';
import { baseCommands } from '../shell/system-commands.ts';
import { request, World } from '../testing/world.ts';
import { glanceApi } from './glance-api.ts';
import { keystoneApi } from './keystone-api.ts';
import { keystoneManage } from './keystone-manage.ts';
import { glanceManage, neutronDbManage, placementManage } from './manage-commands.ts';
import { neutronApi, neutronServers } from './neutron.ts';
import { novaManage } from './nova-manage.ts';
import { placementApi } from './placement-api.ts';
import { uwsgi } from './uwsgi.ts';

const programs = {
  ...baseCommands,
  ...mariadbClients,
  ...ovsControlCommands,
  ...neutronServers,
  mariadbd,
  'mariadb-install-db': mariadbInstallDb,
  'rabbitmq-server': rabbitmqServer,
  '/ovn-ctl': ovnCtl,
  'keystone-manage': keystoneManage,
  'glance-manage': glanceManage,
  'glance-api': glanceApi,
  'placement-manage': placementManage,
  'neutron-db-manage': neutronDbManage,
  'nova-manage': novaManage,
  uwsgi: uwsgi({
    'keystone.wsgi.api:application': keystoneApi,
    'placement.wsgi.api:application': placementApi,
    'neutron.wsgi.api:application': neutronApi,
  }),
};
const databases = ['keystone', 'glance', 'placement', 'neutron', 'nova', 'nova_api', 'nova_cell0'];
const sql = databases
  .map((name) => `CREATE DATABASE ${name}; GRANT ALL ON ${name}.* TO '${name.split('_')[0]}'@'%' IDENTIFIED BY 'pw';`)
  .join('');
const key = Buffer.from('RHFuYk40d05BM21zZWs5QnhmNFpVVW9ub2stLVpjY3dEZGxmd0hCcTF6UT0=', 'base64').toString();
const database = (name: string, user = name): string => `mysql+pymysql://${user}:pw@mariadb/${name}?charset=utf8`;
const authtoken = (user: string): string => `[keystone_authtoken]
auth_url = http://keystone:5000/v3
auth_type = password
username = ${user}
password = pw
project_name = service
user_domain_name = Default
project_domain_name = Default
region_name = RegionOne
www_authenticate_uri = http://keystone:5000/v3
`;
const ini = (module: string, port: number): string =>
  `[uwsgi]\nhttp-socket = 0.0.0.0:${port}\nmodule = ${module}\nmaster = true\nlazy-apps = true\nneed-app = true\ndie-on-term = true\nstart-time = %t\n`;

const files = {
  '/etc/keystone/keystone.conf': `[database]\nconnection = ${database('keystone')}\n`,
  '/etc/keystone/fernet-keys/0': key,
  '/etc/keystone/credential-keys/0': key,
  '/etc/glance/glance-api.conf': `[DEFAULT]\nuse_stderr = true\nenabled_backends = local:file\n[glance_store]\ndefault_backend = local\n[local]\nfilesystem_store_datadir = /var/lib/glance/images\n[os_glance_staging_store]\nfilesystem_store_datadir = /var/lib/glance/staging\n[os_glance_tasks_store]\nfilesystem_store_datadir = /var/lib/glance/tasks\n[paste_deploy]\nflavor = keystone\n[database]\nconnection = ${database('glance')}\n${authtoken('glance')}`,
  '/etc/glance/glance-api-paste.ini': '[composite:glance-api-keystone]\n',
  '/etc/placement/placement.conf': `[DEFAULT]\nuse_stderr = true\n[placement_database]\nconnection = ${database('placement')}\n${authtoken('placement')}`,
  '/etc/neutron/neutron.conf': `[DEFAULT]\nuse_stderr = true\ncore_plugin = ml2\nservice_plugins = ovn-router\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[database]\nconnection = ${database('neutron')}\n${authtoken('neutron')}`,
  '/etc/neutron/plugins/ml2/ml2_conf.ini':
    '[ml2]\nmechanism_drivers = ovn\ntype_drivers = geneve\ntenant_network_types = geneve\n[ovn]\novn_nb_connection = tcp:ovn-nb:6641\novn_sb_connection = tcp:ovn-sb:6642\n',
  '/etc/neutron/api-paste.ini': '[composite:neutron]\n',
  '/etc/nova/nova.conf': `[DEFAULT]\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[database]\nconnection = ${database('nova')}\n[api_database]\nconnection = ${database('nova_api', 'nova')}\n`,
  '/keystone.ini': ini('keystone.wsgi.api:application', 5000),
  '/placement.ini': ini('placement.wsgi.api:application', 8778),
  '/neutron.ini': ini('neutron.wsgi.api:application', 9696),
};
type File = keyof typeof files;

/** Everything below the service: databases, broker, OVN, Keystone with the service's user. */
async function ground(change: Partial<Record<File, (text: string) => string>> = {}) {
  const world = new World();
  const mariadb = world.container({
    host: 'mariadb',
    programs,
    uid: 42_434,
    directories: ['var/lib/mysql', 'run/mysqld'],
  });
  mariadb.start(['sh', '-ec', 'mariadb-install-db --auth-root-authentication-method=normal; exec mariadbd']);
  world
    .container({
      host: 'rabbitmq',
      programs,
      uid: 42_439,
      directories: ['var/lib/rabbitmq'],
      env: { RABBITMQ_DEFAULT_USER: 'openstack', RABBITMQ_DEFAULT_PASS: 'pw' },
    })
    .start(['rabbitmq-server']);
  for (const side of ['nb', 'sb'])
    world
      .container({ host: `ovn-${side}`, programs })
      .start(['/ovn-ctl', `--db-${side}-create-insecure-remote=yes`, `run_${side}_ovsdb`]);
  await world.clock.advance(8000);
  await mariadb.run(['mariadb', '-uroot', '-e', sql]);
  const all = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, change[name as File]?.(text) ?? text]),
  );
  const keystone = world.container({ host: 'keystone', programs, files: all });
  await keystone.run([
    'sh',
    '-ec',
    'keystone-manage db_sync; keystone-manage bootstrap --bootstrap-password adminpw --bootstrap-region-id RegionOne --bootstrap-public-url http://keystone:5000/v3 --bootstrap-internal-url http://keystone:5000/v3',
  ]);
  keystone.start(['uwsgi', '--ini', '/keystone.ini']);
  await world.clock.advance(4000);
  const login = (user: string, password: string, project: string) =>
    request(world, 'keystone', 5000, '/v3/auth/tokens', {
      method: 'POST',
      body: {
        auth: {
          identity: { methods: ['password'], password: { user: { name: user, domain: { id: 'default' }, password } } },
          scope: { project: { name: project, domain: { id: 'default' } } },
        },
      },
    });
  const token = (await login('admin', 'adminpw', 'admin')).headers?.['x-subject-token'] ?? '';
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await request(world, 'keystone', 5000, `/v3/${path}`, {
      method,
      headers: { 'x-auth-token': token },
      ...(body !== undefined && { body }),
    });
    return reply.body ? (JSON.parse(reply.body) as Record<string, { id: string } & { id: string }[]>) : {};
  };
  const project = (await send('POST', 'projects', { project: { name: 'service' } }))['project']?.id;
  const roles = (await send('GET', 'roles?name=admin'))['roles'];
  for (const user of ['glance', 'placement', 'neutron', 'nova']) {
    const id = (await send('POST', 'users', { user: { name: user, password: 'pw' } }))['user']?.id;
    await send('PUT', `projects/${project}/users/${id}/roles/${roles?.[0]?.id}`);
  }
  const container = (host: string) => world.container({ host, programs, files: all, directories: ['var/lib/glance'] });
  return { world, token, container };
}

const apis = {
  glance: {
    sync: 'glance-manage db_sync',
    start: ['glance-api'],
    port: 9292,
    root: 300,
    path: '/v2/images',
    healthcheck: 200,
  },
  placement: {
    sync: 'placement-manage db sync',
    start: ['uwsgi', '--ini', '/placement.ini'],
    port: 8778,
    root: 200,
    path: '/resource_providers',
    healthcheck: 401,
  },
  neutron: {
    sync: 'neutron-db-manage --config-file /etc/neutron/neutron.conf --config-file /etc/neutron/plugins/ml2/ml2_conf.ini upgrade heads',
    start: ['uwsgi', '--ini', '/neutron.ini'],
    port: 9696,
    root: 200,
    path: '/v2.0/networks',
    healthcheck: 200,
  },
} as const;

async function running(
  name: keyof typeof apis,
  change: Partial<Record<File, (text: string) => string>> = {},
  { synced = true } = {},
) {
  const { world, token, container } = await ground(change);
  const { sync, start, port } = apis[name];
  const host = container(name);
  const job = synced ? await host.run(['sh', '-ec', sync]) : undefined;
  const api = host.start([...start]);
  await world.clock.advance(15_000);
  const get = async (path: string, headers = {}) => (await request(world, name, port, path, { headers })).status;
  return { world, token, job, api, get };
}

describe.each(Object.keys(apis) as (keyof typeof apis)[])('%s', (name) => {
  const { root, path, healthcheck } = apis[name];

  it('is migrated, starts, and answers probes and clients as the real one', async () => {
    const { job, get, token, api } = await running(name);
    expect(job?.status).toBe(0);
    expect(await get('/')).toBe(root);
    expect(await get('/healthcheck')).toBe(healthcheck);
    expect(await get(path)).toBe(401);
    expect(await get(path, { 'x-auth-token': 'gAAAAAwrong' })).toBe(401);
    expect(await get(path, { 'x-auth-token': token })).toBe(200);
    expect(await api.stop()).toBe(0);
  });

  const conf = (name === 'glance' ? '/etc/glance/glance-api.conf' : `/etc/${name}/${name}.conf`) as File;
  it.each([
    [
      'a wrong service password',
      (text: string) => text.replace('password = pw', 'password = bad'),
      503,
      'Identity server rejected authorization necessary to fetch token data',
    ],
    [
      'a wrong project',
      (text: string) => text.replace('project_name = service', 'project_name = nosuch'),
      503,
      'Identity server rejected authorization',
    ],
    [
      'a wrong port of Keystone',
      (text: string) => text.replace('auth_url = http://keystone:5000', 'auth_url = http://keystone:5001'),
      503,
      '[Errno 111] Connection refused',
    ],
    [
      'an unknown host',
      (text: string) => text.replace('auth_url = http://keystone:5000', 'auth_url = http://nowhere:5000'),
      503,
      'Name or service not known',
    ],
    [
      'a region without endpoints',
      (text: string) => text.replace('region_name = RegionOne', 'region_name = RegionTwo'),
      500,
      'internal endpoint for identity service in RegionTwo region not found',
    ],
  ])('starts with %s, and fails on the first token', async (_name, change, status, words) => {
    const { get, token, api } = await running(name, { [conf]: change });
    expect(await get('/')).toBe(root);
    expect(await get(path, { 'x-auth-token': token })).toBe(status);
    expect(api.output()).toContain(words);
  });
});

describe('start of the services', () => {
  const uri = (text: string): string => text.replace(':pw@mariadb', ':bad@mariadb');

  it.each<[keyof typeof apis, string, Partial<Record<File, (text: string) => string>>, string]>([
    [
      'placement',
      'wrong database password',
      { '/etc/placement/placement.conf': uri },
      "Access denied for user 'placement'",
    ],
    [
      'placement',
      'no database',
      { '/etc/placement/placement.conf': (text) => text.replace('connection', 'conection') },
      'value required for option connection in group [placement_database]',
    ],
    ['neutron', 'wrong database password', { '/etc/neutron/neutron.conf': uri }, "Access denied for user 'neutron'"],
    [
      'neutron',
      'no core plugin',
      { '/etc/neutron/neutron.conf': (text) => text.replace('core_plugin', 'core_plugni') },
      'Neutron core_plugin not configured!',
    ],
    [
      'neutron',
      'unknown driver',
      { '/etc/neutron/plugins/ml2/ml2_conf.ini': (text) => text.replace('= ovn', '= ovs') },
      'The following mechanism drivers were not found',
    ],
    [
      'neutron',
      'databases of OVN swapped',
      { '/etc/neutron/plugins/ml2/ml2_conf.ini': (text) => text.replace('ovn-nb:6641', 'ovn-sb:6642') },
      '',
    ],
    [
      'glance',
      'unknown default store',
      { '/etc/glance/glance-api.conf': (text) => text.replace('default_backend = local', 'default_backend = other') },
      'Store for identifier other not found',
    ],
    [
      'glance',
      'unknown flavor',
      { '/etc/glance/glance-api.conf': (text) => text.replace('flavor = keystone', 'flavor = nosuch') },
      "No section 'glance-api-nosuch'",
    ],
  ])('%s: %s', async (name, _what, change, words) => {
    const { api, world } = await running(name, change);
    if (words === '') {
      expect(api.status()).toBeUndefined();
      await world.clock.advance(200_000);
      expect(api.output()).toContain('OVS database connection to OVN_Northbound failed with error');
    }
    expect(api.output()).toContain(words);
    expect(api.status()).toBe(name === 'glance' ? 1 : 22);
  });

  it.each(['placement', 'neutron'] as const)('%s does not load before its migration', async (name) => {
    const { api } = await running(name, {}, { synced: false });
    expect(api.output()).toMatch(/oslo_db.exception.DBNonExistentTable: .*1146/);
    expect(api.status()).toBe(22);
  });

  it('of the maintenance worker needs OVN', async () => {
    const { container, world } = await ground({
      '/etc/neutron/plugins/ml2/ml2_conf.ini': (text) => text.replace('= ovn', '= openvswitch'),
    });
    const host = container('worker');
    const both = [
      '--config-file',
      '/etc/neutron/neutron.conf',
      '--config-file',
      '/etc/neutron/plugins/ml2/ml2_conf.ini',
    ];
    await host.run(['neutron-db-manage', ...both, 'upgrade', 'heads']);
    const worker = await host.run(['neutron-ovn-maintenance-worker', ...both]);
    expect(worker).toMatchObject({
      status: 1,
      output: expect.stringContaining('ERROR: OVN maintenance worker not loaded') as string,
    });
    const rpc = host.start(['neutron-rpc-server', ...both]);
    await world.clock.advance(10_000);
    expect(rpc.output()).toContain('Neutron RPC server started');
    expect(await rpc.stop()).toBe(0);
  });
});

describe('nova-manage', () => {
  const cell0 = `nova-manage cell_v2 map_cell0 --database_connection '${database('nova_cell0', 'nova')}'`;
  const create = 'nova-manage cell_v2 create_cell --name=cell1 --verbose';

  it('makes databases and cells in the order that works', async () => {
    const { container } = await ground();
    const host = container('nova');
    const script = `nova-manage api_db sync; ${cell0}; ${create} || [ $? = 2 ]; nova-manage db sync`;
    expect((await host.run(['sh', '-ec', script])).status).toBe(0);
    const again = await host.run(['sh', '-ec', script]);
    expect(again).toMatchObject({ status: 0, output: expect.stringContaining('Cell0 is already setup') as string });
    expect((await host.run(['sh', '-c', create])).status).toBe(2);
    expect((await host.run(['nova-manage', 'cell_v2', 'list_cells'])).output).toMatch(
      /cell0 .*none:\/\/\/.*\n.*cell1 .*:\*\*\*\*@rabbitmq/,
    );
    const discovered = await host.run(['nova-manage', 'cell_v2', 'discover_hosts', '--verbose']);
    expect(discovered).toMatchObject({
      status: 0,
      output: expect.stringContaining('Skipping cell0 since it does not contain hosts.') as string,
    });
  });

  it('leaves cell0 empty when it is mapped after the migration', async () => {
    const { container, world } = await ground();
    const host = container('nova');
    const result = await host.run(['sh', '-ec', `nova-manage api_db sync; nova-manage db sync; ${cell0}`]);
    expect(result).toMatchObject({
      status: 0,
      output: expect.stringContaining('WARNING: cell0 mapping not found - not syncing cell0.') as string,
    });
    const tables = await world
      .container({ host: 'client', programs })
      .run(['mariadb', '-hmariadb', '-unova', '-ppw', 'nova_cell0', '-e', 'SHOW TABLES']);
    expect(tables.output).toBe('');
  });

  it('says what may be wrong when cell0 cannot be reached', async () => {
    const { container } = await ground();
    const host = container('nova');
    const early = await host.run(['nova-manage', 'db', 'sync']);
    expect(early).toMatchObject({
      status: 1,
      output: expect.stringContaining('ERROR: Could not access cell0.') as string,
    });
    const wrong = await host.run([
      'sh',
      '-ec',
      `nova-manage api_db sync; ${cell0.replace(':pw@', ':bad@')}; nova-manage db sync`,
    ]);
    expect(wrong).toMatchObject({
      status: 1,
      output: expect.stringContaining("Access denied for user 'nova'") as string,
    });
  });

  it('fills templates from the configuration of the caller, and a missing port with None', async () => {
    const { container } = await ground();
    const host = container('nova');
    const template = `nova-manage api_db sync; nova-manage cell_v2 create_cell --name c --transport-url '{scheme}://{username}:{password}@{hostname}:{port}/' --database_connection '{scheme}://{username}:{password}@{hostname}:{port}/nova'`;
    await host.run(['sh', '-ec', template]);
    const { output } = await host.run(['nova-manage', 'cell_v2', 'list_cells', '--verbose']);
    expect(output).toContain('rabbit://openstack:pw@rabbitmq:5672/');
    expect(output).toContain('mysql+pymysql://nova:pw@mariadb:None/nova');
  });
});
