import { emptyVolume } from '@openstack-operator/sandbox/files';
import { describe, expect, it } from 'vitest';
import { type Changes, cloudPrograms, database, ground } from '../../testing/cloud.ts';
import { type Container, request } from '../../testing/world.ts';

const nova = `nova-manage api_db sync
nova-manage cell_v2 map_cell0 --database_connection '${database('nova_cell0', 'nova')}'
nova-manage cell_v2 create_cell --name=cell1
nova-manage db sync`;
const neutron =
  'neutron-db-manage --config-file /etc/neutron/neutron.conf --config-file /etc/neutron/plugins/ml2/ml2_conf.ini upgrade heads';
const settings =
  'ovs-vsctl --no-wait init; ovs-vsctl --no-wait set open . external_ids:ovn-remote=tcp:ovn-sb:6642 external_ids:ovn-encap-type=geneve external_ids:ovn-encap-ip=10.0.0.1 external_ids:system-id=node1 external_ids:hostname=node1';

interface Options {
  readonly change?: Changes;
  readonly without?: readonly string[];
  readonly settings?: string;
  readonly mapped?: boolean;
  readonly qemu?: string;
}

/** A whole cloud with one hypervisor; `without` leaves programs out. */
async function cloud(options: Options = {}) {
  const {
    change = {},
    without = [],
    settings: script = settings,
    mapped = true,
    qemu = 'stdio_handler = "file"\n',
  } = options;
  const { world, token, container } = await ground(change);
  const hosts = new Map<string, Container>();
  const on = (name: string): Container => {
    const host = hosts.get(name) ?? container(name);
    hosts.set(name, host);
    return host;
  };
  const start = (name: string, command: string) =>
    without.includes(name) ? undefined : on(name).start(command.split(' '));
  expect(
    (await on('jobs').run(['sh', '-ec', `${nova}\n${neutron}\nplacement-manage db sync\nglance-manage db_sync`]))
      .status,
  ).toBe(0);
  start('placement', 'uwsgi --ini /placement.ini');
  start('glance', 'glance-api');
  start('neutron', 'uwsgi --ini /neutron.ini');
  start('northd', 'ovn-northd --ovnnb-db=tcp:ovn-nb:6641 --ovnsb-db=tcp:ovn-sb:6642');
  await world.clock.advance(12_000);
  start('conductor', 'nova-conductor');
  start('scheduler', 'nova-scheduler');
  const api = start('api', 'uwsgi --ini /nova.ini');
  const volumes = { '/run/openvswitch': emptyVolume(), '/run/libvirt': emptyVolume() };
  const node = world.container({
    host: 'node1',
    programs: cloudPrograms,
    privileged: true,
    volumes,
    directories: [
      'run/ovn',
      'etc/openvswitch',
      'var/lib/nova',
      'var/lib/nova/instances',
      'var/lib/libvirt/qemu',
      'etc/libvirt',
    ],
    files: {
      '/usr/share/openvswitch/vswitch.ovsschema': '{}',
      '/etc/libvirt/qemu.conf': qemu,
      '/dev/net/tun': '',
      '/etc/nova/compute.conf': on('jobs').asRoot.read('/etc/nova/compute.conf'),
    },
  });
  node.start([
    'sh',
    '-c',
    'ovsdb-tool create /etc/openvswitch/conf.db /usr/share/openvswitch/vswitch.ovsschema; exec ovsdb-server /etc/openvswitch/conf.db --remote=punix:/run/openvswitch/db.sock --pidfile',
  ]);
  await world.clock.advance(1000);
  await node.run(['sh', '-c', script]);
  if (!without.includes('ovn-controller')) node.start(['ovn-controller', 'unix:/run/openvswitch/db.sock']);
  node.start(['libvirtd']);
  await world.clock.advance(2000);
  const compute = node.start(['nova-compute', '--config-file', '/etc/nova/compute.conf'], {
    env: { OS_DEFAULT__HOST: 'node1' },
  });
  await world.clock.advance(20_000);
  if (mapped) await on('jobs').run(['nova-manage', 'cell_v2', 'discover_hosts']);
  const send = async (host: string, port: number, method: string, path: string, body?: unknown, version = '2.1') => {
    const reply = await request(world, host, port, path, {
      method,
      headers: { 'x-auth-token': token, 'openstack-api-version': `compute ${version}` },
      ...(body !== undefined && { body }),
    });
    return { status: reply.status, body: JSON.parse(reply.body || '{}') as Record<string, Record<string, string>> };
  };
  const create = async () => {
    const image = (await send('glance', 9292, 'POST', '/v2/images', { name: 'cirros' })).body as unknown as {
      id: string;
    };
    const network = await send('neutron', 9696, 'POST', '/v2.0/networks', { network: { name: 'n' } });
    const flavor = await send('api', 8774, 'POST', '/v2.1/flavors', { flavor: { name: 'tiny' } });
    const made = await send('api', 8774, 'POST', '/v2.1/servers', {
      server: {
        name: 'vm',
        imageRef: image.id,
        flavorRef: flavor.body['flavor']?.['id'],
        networks: [{ uuid: network.body['network']?.['id'] }],
      },
    });
    await world.clock.advance(400_000);
    if (made.status !== 202) return { status: made.status };
    const shown = (await send('api', 8774, 'GET', `/v2.1/servers/${made.body['server']?.['id']}`)).body['server'];
    return { status: made.status, server: shown as unknown as { status: string; fault?: { message: string } } };
  };
  return { create, compute, api, send, world };
}

describe('a server', () => {
  it('boots on a cloud that is wired well', async () => {
    const { create } = await cloud();
    expect((await create()).server).toMatchObject({ status: 'ACTIVE', 'OS-EXT-SRV-ATTR:host': 'node1' });
  });

  it('is listed to whom it is shown, page by page, until it is deleted', async () => {
    const { create, send, world } = await cloud();
    for (let made = 0; made < 2; made++) await create();
    const list = async (query: string) => {
      const { body } = await send('api', 8774, 'GET', `/v2.1/servers?${query}`);
      return body as unknown as { servers: { id: string; status: string }[]; servers_links?: unknown };
    };
    const { servers } = await list('all_tenants=1');
    expect(servers.map(({ status }) => status)).toEqual(['ACTIVE', 'ACTIVE']);
    const first = await list('all_tenants=1&limit=1');
    expect(first).toMatchObject({ servers: [{ id: servers[0]?.id }], servers_links: [{ rel: 'next' }] });
    const second = await list(`all_tenants=1&limit=1&marker=${first.servers[0]?.id}`);
    expect(second.servers.map(({ id }) => id)).toEqual([servers[1]?.id]);
    for (const { id } of servers) expect((await send('api', 8774, 'DELETE', `/v2.1/servers/${id}`)).status).toBe(204);
    await world.clock.advance(10_000);
    expect(await list('all_tenants=1&soft_deleted=true')).toEqual({ servers: [] });
    expect((await send('api', 8774, 'DELETE', `/v2.1/servers/${servers[0]?.id}`)).status).toBe(404);
  });

  it('does not leave the only host, nor when it is stopped; the host may be disabled by its name', async () => {
    const { create, send, world } = await cloud();
    const id = ((await create()).server as unknown as { id: string }).id;
    const act = (body: object, version: string) =>
      send('api', 8774, 'POST', `/v2.1/servers/${id}/action`, body, version);
    const move = { 'os-migrateLive': { host: null, block_migration: 'auto' } };
    const shown = async () => (await send('api', 8774, 'GET', `/v2.1/servers/${id}`)).body['server'];
    const message = { message: 'No valid host was found. ' };
    expect(await act(move, '2.33')).toMatchObject({ status: 400, body: { badRequest: message } });
    expect(await shown()).toMatchObject({ status: 'ACTIVE', 'OS-EXT-STS:task_state': null });
    // From 2.34 on nobody is told.
    expect((await act(move, '2.34')).status).toBe(202);
    await world.clock.advance(10_000);
    expect(await shown()).toMatchObject({ status: 'ACTIVE', 'OS-EXT-SRV-ATTR:host': 'node1' });
    expect((await act({ 'os-stop': null }, '2.1')).status).toBe(202);
    await world.clock.advance(10_000);
    expect(await shown()).toMatchObject({ status: 'SHUTOFF' });
    expect(await act(move, '2.33')).toMatchObject({
      status: 409,
      body: {
        conflictingRequest: { message: `Cannot 'os-migrateLive' instance ${id} while it is in vm_state stopped` },
      },
    });
    expect((await act({ reboot: {} }, '2.1')).status).toBe(400);

    const services = (path: string, body: object, version = '2.33') =>
      send('api', 8774, 'PUT', `/v2.1/os-services/${path}`, body, version);
    const host = { host: 'node1', binary: 'nova-compute' };
    const listed = async () =>
      (await send('api', 8774, 'GET', '/v2.1/os-services?binary=nova-compute')).body['services'];
    expect((await services('disable-log-reason', { ...host, disabled_reason: 'why' })).status).toBe(200);
    expect(await listed()).toMatchObject([{ status: 'disabled', disabled_reason: 'why' }]);
    expect((await services('enable', { ...host, host: 'node2' })).status).toBe(404);
    expect((await services('enable', host, '2.53')).status).toBe(404);
    expect((await services('enable', host)).status).toBe(200);
    expect(await listed()).toMatchObject([{ status: 'enabled', disabled_reason: null }]);
    const on = async (name: string) =>
      (await send('api', 8774, 'GET', `/v2.1/servers/detail?all_tenants=1&host=${name}`)).body['servers'];
    expect([await on('node1'), await on('node2')]).toMatchObject([[{ id }], []]);
  });

  it.each<[string, Options, string, string]>([
    ['no scheduler', { without: ['scheduler'] }, 'ERROR', 'Timed out waiting for a reply to message ID'],
    ['no super-conductor', { without: ['conductor'] }, 'BUILD', ''],
    ['no northd', { without: ['northd'] }, 'ERROR', 'Virtual Interface creation failed'],
    ['no chassis', { without: ['ovn-controller'] }, 'ERROR', 'please check neutron logs for more information.'],
    [
      'a chassis of another name',
      { settings: settings.replace('hostname=node1', 'hostname=node1.example') },
      'ERROR',
      'Binding failed for port',
    ],
    ['a host that is not mapped', { mapped: false }, 'ERROR', "Host 'node1' is not mapped to any cell"],
    [
      'a wrong password of Neutron for Nova',
      { change: { '/etc/neutron/neutron.conf': (text) => text.replace(/(\[nova\][^[]*password = )pw/, '$1bad') } },
      'ERROR',
      'Virtual Interface creation failed',
    ],
    [
      'a wrong password of Nova for Neutron',
      { change: { '/etc/nova/compute.conf': (text) => text.replace(/(\[neutron\][^[]*password = )pw/, '$1bad') } },
      'ERROR',
      'The request you have made requires authentication. (HTTP 401)',
    ],
    [
      'a wrong password of the service user',
      { change: { '/etc/nova/compute.conf': (text) => text.replace(/(\[service_user\][^[]*password = )pw/, '$1bad') } },
      'ERROR',
      'The request you have made requires authentication. (HTTP 401)',
    ],
    [
      'Open vSwitch elsewhere',
      {
        change: {
          '/etc/nova/compute.conf': (text) => text.replace('unix:/run/openvswitch/db.sock', 'tcp:127.0.0.1:6640'),
        },
      },
      'ERROR',
      'Failure running os_vif plugin plug method',
    ],
    [
      'a kind of guest that the node cannot run',
      { change: { '/etc/nova/compute.conf': (text) => text.replace('virt_type = qemu', 'virt_type = kvm') } },
      'ERROR',
      'could not get preferred machine for /usr/bin/qemu-system-x86_64 type=kvm',
    ],
    [
      'consoles without virtlogd',
      { qemu: 'stdio_handler = "logd"\n' },
      'ERROR',
      "Failed to connect socket to '/var/run/libvirt/virtlogd-sock'",
    ],
    [
      'a screen at an address that is none',
      { change: { '/etc/nova/compute.conf': (text) => `${text}[vnc]\nserver_listen = nowhere\n` } },
      'ERROR',
      'address resolution failed for nowhere:5900: Name or service not known',
    ],
    [
      'a region of images that is not there',
      { change: { '/etc/nova/compute.conf': (text) => `${text}[glance]\nregion_name = RegionTwo\n` } },
      'ERROR',
      'endpoint for image service in RegionTwo region not found',
    ],
  ])('does not boot with %s', async (_name, options, status, words) => {
    const { create } = await cloud(options);
    const { server } = await create();
    expect(server?.status).toBe(status);
    expect(server?.fault?.message ?? '').toContain(words);
  });

  it('is refused when the API cannot show who calls', async () => {
    const change = (text: string) => text.replace(/(\[service_user\][^[]*password = )pw/, '$1bad');
    const { create, api } = await cloud({ change: { '/etc/nova/nova.conf': change } });
    expect((await create()).status).toBe(500);
    expect(api?.output()).toContain('keystoneauth1.exceptions.http.Unauthorized');
  });
});
