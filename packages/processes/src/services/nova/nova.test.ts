import { createHmac } from 'node:crypto';
import { emptyVolume } from '@openstack-operator/sandbox/files';
import { describe, expect, it } from 'vitest';
import { type Changes, cloudPrograms, database, ground } from '../../testing/cloud.ts';
import { type Container, request, type World } from '../../testing/world.ts';

const setup = `nova-manage api_db sync
nova-manage cell_v2 map_cell0 --database_connection '${database('nova_cell0', 'nova')}'
nova-manage cell_v2 create_cell --name=cell1
nova-manage db sync`;

/** The control plane of Nova, with Placement; `start` brings up one of its programs on a host of its name. */
async function control(change: Changes = {}, { synced = true, placement = true } = {}) {
  const { world, token, container, broker } = await ground(change);
  const hosts = new Map<string, Container>();
  const host = (name: string): Container => {
    const known = hosts.get(name) ?? container(name);
    hosts.set(name, known);
    return known;
  };
  if (synced) expect((await host('jobs').run(['sh', '-ec', setup])).status).toBe(0);
  if (placement) {
    await host('placement').run(['placement-manage', 'db', 'sync']);
    host('placement').start(['uwsgi', '--ini', '/placement.ini']);
    await world.clock.advance(4000);
  }
  const start = async (name: string, command: string) => {
    const running = host(name).start(command.split(' '));
    await world.clock.advance(12_000);
    return running;
  };
  return { world, token, host, start, broker };
}

interface Hypervisor {
  readonly world: World;
  readonly run: () => ReturnType<Container['start']>;
  readonly compute: Container;
}

/** A hypervisor: libvirt and nova-compute share the node's directories. */
async function hypervisor(
  parts: Awaited<ReturnType<typeof control>>,
  { libvirt = true, host = 'node1', hostname = 'node1' } = {},
): Promise<Hypervisor> {
  const { world } = parts;
  const volumes = { '/run/libvirt': emptyVolume(), '/var/lib/libvirt': emptyVolume() };
  if (libvirt) {
    world
      .container({ host: hostname, programs: cloudPrograms, privileged: true, volumes })
      .start(['sh', '-c', 'mkdir -p /var/lib/libvirt/qemu; exec libvirtd']);
    await world.clock.advance(2000);
  }
  const files = Object.fromEntries(
    ['/etc/nova/compute.conf'].map((path) => [path, parts.host('jobs').asRoot.read(path)]),
  );
  const compute = world.container({
    host: hostname,
    programs: cloudPrograms,
    privileged: true,
    volumes,
    files,
    directories: ['var/lib/nova', 'var/lib/nova/instances'],
  });
  return {
    world,
    compute,
    run: () =>
      compute.start(['nova-compute', '--config-file', '/etc/nova/compute.conf'], { env: { OS_DEFAULT__HOST: host } }),
  };
}

async function whole(change: Changes = {}) {
  const parts = await control(change);
  await parts.start('conductor', 'nova-conductor');
  const node = await hypervisor(parts);
  return { ...parts, ...node };
}

describe('nova', () => {
  it('brings a hypervisor from nothing to a host that is up', async () => {
    const { world, start, host, token, run, compute } = await whole();
    const agent = run();
    await world.clock.advance(20_000);
    expect(agent.output()).toContain('Compute node record created for node1:node1');
    expect(agent.output()).toContain('Created resource provider record via placement API');
    expect(compute.asRoot.read('/var/lib/nova/compute_id')).toMatch(/^[0-9a-f-]{36}$/);
    const found = await host('jobs').run(['nova-manage', 'cell_v2', 'discover_hosts', '--verbose']);
    expect(found.output).toContain("Creating host mapping for compute host 'node1'");
    await start('api', 'uwsgi --ini /nova.ini');
    const get = async (path: string) =>
      JSON.parse(
        (await request(world, 'api', 8774, path, { headers: { 'x-auth-token': token } })).body ?? '',
      ) as Record<string, Record<string, string>[]>;
    const { services = [] } = await get('/v2.1/os-services');
    expect(services.map(({ binary, state, status }) => `${binary} ${state} ${status}`).sort()).toEqual([
      'nova-compute up enabled',
      'nova-conductor up enabled',
    ]);
    expect((await get('/v2.1/os-hypervisors'))['hypervisors']).toMatchObject([{ hypervisor_hostname: 'node1' }]);
    expect((await request(world, 'api', 8774, '/')).status).toBe(200);
    expect((await request(world, 'api', 8774, '/v2.1/servers')).status).toBe(401);
    expect(await agent.stop()).toBe(0);
    await world.clock.advance(120_000);
    expect((await get('/v2.1/os-services?binary=nova-compute'))['services']).toMatchObject([{ state: 'down' }]);
  });

  it('starts again on the same host with the same identity', async () => {
    const { world, run, compute } = await whole();
    const first = run();
    await world.clock.advance(20_000);
    await first.stop();
    const identity = compute.asRoot.read('/var/lib/nova/compute_id');
    const second = run();
    await world.clock.advance(20_000);
    expect(second.status()).toBeUndefined();
    expect(compute.asRoot.read('/var/lib/nova/compute_id')).toBe(identity);
  });

  it('refuses a host that has lost its identity', async () => {
    const { world, run, compute } = await whole();
    const first = run();
    await world.clock.advance(20_000);
    await first.stop();
    compute.asRoot.remove('/var/lib/nova/compute_id');
    const second = run();
    await world.clock.advance(20_000);
    // A service without workers tells nobody by its exit status.
    expect(second.status()).toBe(0);
    expect(second.output()).toContain(
      'nova.exception.InvalidConfiguration: No local node identity found, but this is not our first startup on this host. Refusing to start after potentially having lost that state!',
    );
  });

  it('refuses a host that was renamed', async () => {
    const parts = await whole();
    const first = parts.run();
    await parts.world.clock.advance(20_000);
    await first.stop();
    const second = parts.compute.start(['nova-compute', '--config-file', '/etc/nova/compute.conf'], {
      env: { OS_DEFAULT__HOST: 'node1.example' },
    });
    await parts.world.clock.advance(20_000);
    expect(second.status()).toBe(0);
    expect(second.output()).toContain(
      "has host 'node1' but my host is 'node1.example'; Possible rename detected, refusing to start!",
    );
  });

  it('waits for its conductor, for ever, and goes on when it comes', async () => {
    const parts = await control();
    const { run, world } = await hypervisor(parts);
    const agent = run();
    await world.clock.advance(60_000);
    expect(agent.output()).toContain('Timed out waiting for nova-conductor.  Is it running?');
    expect(agent.status()).toBeUndefined();
    await parts.start('conductor', 'nova-conductor');
    await world.clock.advance(30_000);
    expect(agent.output()).toContain('nova-conductor connection established successfully');
    expect(agent.output()).toContain('Compute node record created for node1:node1');
  });

  it.each<[string, (text: string) => string, string, number | undefined]>([
    ['a wrong broker password', (text) => text.replace('openstack:pw@', 'openstack:bad@'), '(403) ACCESS_REFUSED', 1],
    [
      'a vhost of another conductor',
      (text) => text.replace(':5672/', ':5672/other'),
      'NOT_ALLOWED - vhost other not found',
      1,
    ],
    [
      'a wrong Placement password',
      (text) => text.replace('password = pw', 'password = bad'),
      'keystoneauth1.exceptions.http.Unauthorized',
      1,
    ],
    [
      'Keystone elsewhere',
      (text) => text.replace('auth_url = http://keystone:5000', 'auth_url = http://keystone:5001'),
      'Failed to establish a new connection: [Errno 111] Connection refused',
      1,
    ],
    [
      'no driver',
      (text) => text.replace('compute_driver', 'compute_drivr'),
      'Compute driver option required, but not specified',
      1,
    ],
    [
      'an unknown driver',
      (text) => text.replace('LibvirtDriver', 'LibvritDriver'),
      'Unable to load the virtualization driver',
      1,
    ],
    [
      'no state path',
      (text) => text.replace('state_path', 'state_paht'),
      'Unable to write uuid to /var/lib/kolla/venv/lib/python3.11/site-packages/compute_id',
      0,
    ],
    [
      'an unknown kind of disk',
      (text) => `${text}images_type = qcow3\n`.replace('[os_vif_ovs]\n', ''),
      "but found 'qcow3'",
      1,
    ],
    [
      'an unknown type',
      (text) => text.replace('= qemu', '= xen'),
      "Valid values are [kvm, lxc, qemu, parallels], but found 'xen'",
      1,
    ],
    [
      'a state path that is not there',
      (text) => text.replace('state_path = /var/lib/nova', 'state_path = /var/lib/nowhere'),
      'Invalid node identity configuration: Unable to write uuid to /var/lib/nowhere/compute_id',
      0,
    ],
    [
      'a database of its own and pinned versions',
      (text) =>
        `${text}[upgrade_levels]\ncompute = auto\n[api_database]\nconnection = ${database('nova_api', 'nova')}\n`,
      'You should run this service without the [api_database]/connection config option.',
      1,
    ],
  ])('nova-compute with %s', async (_name, change, words, status) => {
    const { world, run } = await whole({ '/etc/nova/compute.conf': change });
    const agent = run();
    await world.clock.advance(30_000);
    expect(agent.output()).toContain(words);
    expect(agent.status()).toBe(status);
  });

  it('nova-compute ends when libvirt is not there', async () => {
    const parts = await control();
    await parts.start('conductor', 'nova-conductor');
    const { run, world } = await hypervisor(parts, { libvirt: false });
    const agent = run();
    await world.clock.advance(30_000);
    expect(agent.status()).toBe(0);
    expect(agent.output()).toContain(
      "Failed to connect socket to '/var/run/libvirt/libvirt-sock': No such file or directory",
    );
    expect(agent.output()).toContain(
      'nova.exception.HypervisorUnavailable: Connection to the hypervisor is broken on host',
    );
  });

  it.each([
    ['nova-conductor', 'nova-conductor'],
    ['nova-scheduler', 'nova-scheduler'],
  ])('%s does not start before the migration', async (name, command) => {
    const { start } = await control({}, { synced: false });
    const service = await start(name, command);
    expect(service.status()).toBe(1);
    expect(service.output()).toContain(`Table 'nova_api.cell_mappings' doesn't exist`);
  });

  it.each([
    [1, 0],
    [2, undefined],
  ])('of %i workers of nova-scheduler that cannot start the exit status is %s', async (workers, status) => {
    const change = (text: string) => `${text}[scheduler]\nworkers = ${workers}\n`;
    const { host, start } = await control({ '/etc/nova/nova.conf': change }, { synced: false });
    const cellsAlone = setup.replace('\nnova-manage db sync', '');
    expect((await host('jobs').run(['sh', '-ec', cellsAlone])).status).toBe(0);
    const scheduler = await start('scheduler', 'nova-scheduler');
    expect(scheduler.output()).toContain('Error starting thread.');
    expect(scheduler.status()).toBe(status);
  });

  it.each([
    [20, 1],
    [0, undefined],
  ])(
    'that lost its broker, told to end by graceful_shutdown_timeout = %i, has ended after it with %s',
    async (seconds, status) => {
      const change = (text: string) => text.replace('[DEFAULT]', `$&\ngraceful_shutdown_timeout = ${seconds}`);
      const { world, start, broker } = await control({ '/etc/nova/nova.conf': change });
      const conductor = await start('conductor', 'nova-conductor');
      await broker.stop();
      await world.clock.advance(5000);
      conductor.terminate();
      await world.clock.advance(19_000);
      expect(conductor.status()).toBeUndefined();
      await world.clock.advance(2000);
      expect(conductor.status()).toBe(status);
      const words = 'Graceful shutdown timeout exceeded, instantaneous exiting';
      expect(conductor.output().includes(words)).toBe(status === 1);
    },
  );

  it('metadata needs a backend for its cache that exists', async () => {
    const change = (text: string) => `${text}[cache]\nenabled = true\nbackend = dogpile.cache.pymemcached\n`;
    const { start } = await control({ '/etc/nova/nova.conf': change });
    const api = await start('metadata', 'uwsgi --ini /metadata.ini');
    // Its workers are aborted, and their master starts others, for ever.
    expect(api.status()).toBeUndefined();
    expect(api.output()).toContain("but found 'dogpile.cache.pymemcached'");
  });

  it.each(['nova.ini', 'metadata.ini'])('%s is not loaded before the migration', async (ini) => {
    const { start } = await control({}, { synced: false });
    const api = await start('api', `uwsgi --ini /${ini}`);
    expect(api.status()).toBeUndefined();
    expect(api.output()).toContain(`Table 'nova_api.cell_mappings' doesn't exist`);
  });

  it.each<[string, (text: string) => string, string, number | undefined]>([
    [
      'a wrong Placement password',
      (text) => text.replace('password = pw', 'password = bad'),
      'Fatal error initializing placement client; config is incorrect or incomplete',
      1,
    ],
    [
      'Keystone elsewhere',
      (text) => text.replace('auth_url = http://keystone:5000', 'auth_url = http://nowhere:5000'),
      'Continuing with startup, but scheduling will not be possible.',
      undefined,
    ],
    [
      'a wrong region',
      (text) => text.replace('region_name = RegionOne', 'region_name = RegionTwo'),
      'endpoint for placement service in RegionTwo region not found',
      undefined,
    ],
  ])('nova-scheduler with %s', async (_name, change, words, status) => {
    const { start } = await control({ '/etc/nova/nova.conf': change });
    const scheduler = await start('scheduler', 'nova-scheduler');
    expect(scheduler.output()).toContain(words);
    expect(scheduler.status()).toBe(status);
  });

  it('answers metadata only to who signs with the shared secret', async () => {
    const { start, world } = await control();
    await start('metadata', 'uwsgi --ini /metadata.ini');
    const ask = (secret: string) =>
      request(world, 'metadata', 8775, '/latest/meta-data', {
        headers: {
          'X-Instance-ID': 'i',
          'X-Tenant-ID': 't',
          'X-Instance-ID-Signature': createHmac('sha256', secret).update('i').digest('hex'),
        },
      });
    expect((await request(world, 'metadata', 8775, '/')).status).toBe(200);
    expect((await request(world, 'metadata', 8775, '/latest/meta-data')).status).toBe(400);
    expect((await ask('other')).status).toBe(403);
    expect((await ask('metasecret')).status).toBe(404);
  });

  it('serves the console page, and refuses without its files', async () => {
    const { start, host, world } = await control();
    const proxy = await start('proxy', 'nova-novncproxy');
    expect((await request(world, 'proxy', 6080, '/vnc_lite.html')).status).toBe(200);
    await proxy.stop();
    const bare = await host('proxy').run(['nova-novncproxy', '--web', '/nowhere']);
    expect(bare).toMatchObject({
      status: 255,
      output: expect.stringContaining('Can not find html/js files at /nowhere.') as string,
    });
  });
});
