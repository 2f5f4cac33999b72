import { describe, expect, it } from 'vitest';
import { type Changes, type CloudFile, cloudPrograms, database, ground } from '../testing/cloud.ts';
import { request } from '../testing/world.ts';

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

async function running(name: keyof typeof apis, change: Changes = {}, { synced = true } = {}) {
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

  const conf = (name === 'glance' ? '/etc/glance/glance-api.conf' : `/etc/${name}/${name}.conf`) as CloudFile;
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
  const paths = {
    glance: '/etc/glance/glance-api.conf',
    placement: '/etc/placement/placement.conf',
    neutron: '/etc/neutron/neutron.conf',
    ml2: '/etc/neutron/plugins/ml2/ml2_conf.ini',
    uwsgi: '/neutron.ini',
  } as const;

  it.each<[keyof typeof paths, string, string, string, number | undefined]>([
    ['placement', ':pw@mariadb', ':bad@mariadb', "Access denied for user 'placement'", 22],
    ['placement', 'connection', 'conection', 'value required for option connection in group [placement_database]', 22],
    ['placement', 'auth_type = password', 'auth_type = passwort', 'The plugin passwort could not be found', 22],
    ['neutron', ':pw@mariadb', ':bad@mariadb', "Access denied for user 'neutron'", 22],
    ['neutron', 'core_plugin', 'core_plugni', 'Neutron core_plugin not configured!', 22],
    ['neutron', '= ml2', '= ml3', "Plugin 'ml3' not found.", 22],
    ['neutron', 'ovn-router', 'ovn-ruter', "Plugin 'ovn-ruter' not found.", 22],
    ['neutron', 'rabbit://', 'rabit://', 'Failed to load transport driver "rabit"', 22],
    [
      'ml2',
      'ovn-nb:6641',
      'ovn-nb:6640',
      'ovsdb-client: failed to connect to "tcp:ovn-nb:6640" (Connection refused)',
      22,
    ],
    ['ml2', 'ovn-nb:6641', 'ovn-sb:6642', 'get_schema request specifies unknown database OVN_Northbound', 22],
    ['ml2', 'ovn-nb:6641', 'nowhere:6641', 'ovsdb-client: failed to connect to "tcp:nowhere:6641"', 22],
    ['uwsgi', '%t', '%%%t', 'invalid literal for int() with base 10', 22],
    // SystemExit ends the interpreter: the master starts it again, for ever.
    ['ml2', '= ovn', '= ovs', 'The following mechanism drivers were not found', undefined],
    [
      'ml2',
      'tenant_network_types = geneve',
      'tenant_network_types = vxlan',
      'No type driver for tenant network_type: vxlan. Service terminated!',
      undefined,
    ],
    ['ml2', 'max_header_size', 'max_header_sise', 'Geneve max_header_size set too low for OVN (30 vs 38)', undefined],
    // The southbound database is waited for, for ever.
    [
      'ml2',
      'ovn-sb:6642',
      'ovn-nb:6641',
      "failed to retrieve schema from tcp:ovn-nb:6641: {'error': 'unknown database'}",
      undefined,
    ],
    [
      'ml2',
      'ovn-sb:6642',
      'ovn-sb:6643',
      'Unable to open stream to tcp:ovn-sb:6643 to retrieve schema: Connection refused',
      undefined,
    ],
    ['uwsgi', 'start-time', 'strat-time', 'uWSGI must provide a start time', undefined],
    ['glance', 'default_backend = local', 'default_backend = other', 'Store for identifier other not found', 1],
    ['glance', 'flavor = keystone', 'flavor = nosuch', "No section 'glance-api-nosuch'", 1],
    ['glance', 'local:file', 'local:fiel', 'The driver will be disabled', 1],
    ['glance', 'local:file', 'os_glance_x:file', "'os_glance_' prefix should not be used in enabled_backends", 1],
    [
      'glance',
      '/var/lib/glance/images',
      '/etc/glance/glance-api.conf/images',
      'Unable to create datadir: /etc/glance/glance-api.conf/images Disabling add method.',
      undefined,
    ],
  ])('%s: %s -> %s', async (file, from, to, words, status) => {
    const name = file === 'ml2' || file === 'uwsgi' ? 'neutron' : file;
    const { api } = await running(name, { [paths[file]]: (text: string) => text.replace(from, to) });
    expect(api.output()).toContain(words);
    expect(api.status()).toBe(status);
  });

  it.each(['placement', 'neutron'] as const)('%s does not load before its migration', async (name) => {
    const { api } = await running(name, {}, { synced: false });
    expect(api.output()).toMatch(/sqlalchemy.exc.ProgrammingError: .*1146/);
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
    expect(rpc.output()).toContain('Eventlet based AMQP RPC server starting...');
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
      .container({ host: 'client', programs: cloudPrograms })
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

  it('makes a second cell when it is told templates twice: it compares them with what they become', async () => {
    const { container } = await ground();
    const host = container('nova');
    const create = `nova-manage cell_v2 create_cell --name c --transport-url '{scheme}://{username}:{password}@rabbitmq:5672/c' --database_connection '{scheme}://{username}:{password}@mariadb:3306/nova'`;
    expect((await host.run(['sh', '-ec', `nova-manage api_db sync; ${create}; ${create}`])).status).toBe(0);
    const { output } = await host.run(['nova-manage', 'cell_v2', 'list_cells']);
    expect(output.match(/ c /g)).toHaveLength(2);
  });

  it.each<[string, number, string]>([
    ['cell_v2 update_cell --name x', 2, 'the following arguments are required: --cell_uuid'],
    ['cell_v2 create_cell --database-connection x', 2, 'unrecognized arguments: --database-connection'],
    ['cell_v2 list_cells --name x', 2, 'unrecognized arguments: --name'],
    ['cell_v2 nosuch', 2, "invalid choice: 'nosuch'"],
    ['cell_v2 update_cell --cell_uuid x', 1, 'Cell with uuid x was not found.'],
    ['cell_v2 create_cell --transport-url nonsense', 1, 'Invalid transport URL: No scheme specified'],
    ['cell_v2 discover_hosts --cell_uuid x', 255, 'nova.exception.CellMappingNotFound: Cell x has no mapping.'],
    ['cell_v2 discover_hosts --strict', 1, ''],
    [
      'db online_data_migrations',
      255,
      'An error has occurred:\nTraceback (most recent call last):\nsqlalchemy.exc.ProgrammingError',
    ],
  ])('%s ends with %i', async (command, status, words) => {
    const { container } = await ground();
    const host = container('nova');
    await host.run(['nova-manage', 'api_db', 'sync']);
    const result = await host.run(['nova-manage', ...command.split(' ')]);
    expect(result.output).toContain(words);
    expect(result.status).toBe(status);
  });
});
