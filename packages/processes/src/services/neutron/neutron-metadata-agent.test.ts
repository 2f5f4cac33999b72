import { emptyVolume } from '@openstack-operator/sandbox/files';
import { describe, expect, it } from 'vitest';
import { unboundModule } from '../../oslo/ovsdbapp.ts';
import { cloudPrograms } from '../../testing/cloud.ts';
import { World } from '../../testing/world.ts';

const programs = cloudPrograms;
const conf = `[DEFAULT]
use_stderr = true
state_path = /var/lib/neutron
[ovs]
ovsdb_connection = unix:/run/openvswitch/db.sock
[ovn]
ovn_sb_connection = tcp:ovn-sb:6642
`;
const chassis =
  'ovs-vsctl --no-wait init; ovs-vsctl --no-wait set open . external_ids:ovn-remote=tcp:ovn-sb:6642 external_ids:ovn-encap-type=geneve external_ids:ovn-encap-ip=10.0.0.1 external_ids:system-id=node1 external_ids:hostname=node1';

interface Options {
  change?: (text: string) => string;
  settings?: string;
  privileged?: boolean;
  controller?: boolean;
  resolver?: boolean;
}

/** A node with Open vSwitch, ovn-controller and the agent. */
async function node({
  change = (text) => text,
  settings = chassis,
  privileged = true,
  controller = true,
  resolver = true,
}: Options = {}) {
  const world = new World();
  world
    .container({ host: 'ovn-sb', programs })
    .start(['/ovn-ctl', '--db-sb-create-insecure-remote=yes', 'run_sb_ovsdb']);
  const volumes = { '/run/openvswitch': emptyVolume() };
  const files = {
    '/usr/share/openvswitch/vswitch.ovsschema': '{}',
    '/etc/neutron/neutron_ovn_metadata_agent.ini': change(conf),
  };
  const common = {
    host: 'node1',
    programs,
    volumes,
    files,
    directories: ['run/ovn', 'etc/openvswitch', 'var/lib/neutron'],
  };
  const switches = world.container({ ...common, privileged: true });
  switches.start([
    'sh',
    '-c',
    'ovsdb-tool create /etc/openvswitch/conf.db /usr/share/openvswitch/vswitch.ovsschema; exec ovsdb-server /etc/openvswitch/conf.db --remote=punix:/run/openvswitch/db.sock --pidfile',
  ]);
  await world.clock.advance(1000);
  await switches.run(['sh', '-c', settings]);
  if (controller) switches.start(['ovn-controller', 'unix:/run/openvswitch/db.sock']);
  const host = world.container({ ...common, privileged });
  if (!resolver) await host.run(['rm', unboundModule]);
  const agent = host.start([
    'neutron-ovn-metadata-agent',
    '--config-file',
    '/etc/neutron/neutron_ovn_metadata_agent.ini',
  ]);
  await world.clock.advance(20_000);
  return { world, agent, host };
}

describe('neutron-ovn-metadata-agent', () => {
  it('needs no library for names when it gets an address', async () => {
    const { agent, host } = await node({ resolver: false, change: (text) => text.replace('ovn-sb', '10.244.0.2') });
    expect((await host.run(['test', '-S', '/var/lib/neutron/metadata_proxy'])).status).toBe(0);
    expect(agent.output()).not.toContain('unbound');
  });

  it('opens its socket and registers with its chassis', async () => {
    const { agent, host } = await node();
    expect((await host.run(['test', '-S', '/var/lib/neutron/metadata_proxy'])).status).toBe(0);
    expect(agent.status()).toBeUndefined();
    expect(await agent.stop()).toBe(0);
  });

  it.each<[string, Options, string, number | undefined]>([
    [
      'no local Open vSwitch',
      { change: (text) => text.replace('db.sock', 'other.sock') },
      'Exception: Could not retrieve schema from unix:/run/openvswitch/other.sock',
      1,
    ],
    [
      'no system-id',
      { settings: chassis.replace('external_ids:system-id=node1', '') },
      "KeyError: 'system-id'",
      undefined,
    ],
    ['no privileges', { privileged: false }, 'FailedToDropPrivileges: privsep helper command exited non-zero (1)', 1],
    [
      'no southbound database',
      { change: (text) => text.replace(':6642', ':6643') },
      'Unable to open stream to tcp:ovn-sb:6643 to retrieve schema: Connection refused',
      undefined,
    ],
    [
      'a name, and no library for names',
      { resolver: false },
      'DNS support requires the python unbound library',
      undefined,
    ],
    ['no chassis', { controller: false }, 'Cannot find Chassis_Private with name=node1', undefined],
  ])('%s', async (_name, options, words, status) => {
    const { agent } = await node(options);
    expect(agent.output()).toContain(words);
    expect(agent.status()).toBe(status);
  });
});
