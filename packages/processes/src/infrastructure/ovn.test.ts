import { emptyVolume } from '@openstack-operator/sandbox/files';
import { describe, expect, it } from 'vitest';
import { baseCommands } from '../shell/system-commands.ts';
import { World } from '../testing/world.ts';
import { ovnCtl } from './ovn-ctl.ts';
import { ovnDaemons } from './ovn-daemons.ts';
import { ovsControlCommands } from './ovs-vsctl.ts';
import { ovsdbCommands } from './ovsdb-server.ts';

const programs = {
  ...baseCommands,
  ...ovnDaemons,
  ...ovsControlCommands,
  ...ovsdbCommands,
  '/usr/share/ovn/scripts/ovn-ctl': ovnCtl,
};
const schema = { '/usr/share/openvswitch/vswitch.ovsschema': '{}' };
const ctl = '/usr/share/ovn/scripts/ovn-ctl';

/** The settings that the laboratory's start script makes. */
const settings = (remote: string) =>
  `ovs-vsctl --no-wait init; ovs-vsctl --no-wait set open . external_ids:ovn-remote=${remote} external_ids:ovn-encap-type=geneve external_ids:ovn-encap-ip=10.0.0.1 external_ids:system-id=node1 external_ids:hostname=node1 external_ids:ovn-bridge-datapath-type=netdev; ovs-vsctl --no-wait --may-exist add-br br-ex -- set bridge br-ex datapath_type=netdev`;

async function network({
  remote = 'tcp:ovn-sb:6642',
  script = settings(remote),
  nb = [] as string[],
  privileged = true,
} = {}) {
  const world = new World();
  const north = world
    .container({ host: 'ovn-nb', programs })
    .start([ctl, '--db-nb-create-insecure-remote=yes', ...nb, 'run_nb_ovsdb']);
  const sb = world.container({ host: 'ovn-sb', programs });
  const south = sb.start([ctl, '--db-sb-create-insecure-remote=yes', 'run_sb_ovsdb']);
  const volumes = { '/run/openvswitch': emptyVolume(), '/etc/openvswitch': emptyVolume() };
  const node = world.container({
    host: 'node1',
    programs,
    volumes,
    files: schema,
    privileged,
    directories: ['run/ovn'],
  });
  const ovsdb = node.start([
    'sh',
    '-c',
    '[ -f /etc/openvswitch/conf.db ] || ovsdb-tool create /etc/openvswitch/conf.db /usr/share/openvswitch/vswitch.ovsschema; exec ovsdb-server /etc/openvswitch/conf.db -vconsole:info --remote=punix:/run/openvswitch/db.sock --remote=db:Open_vSwitch,Open_vSwitch,manager_options --pidfile',
  ]);
  await world.clock.advance(1000);
  const configured = await node.run([
    'sh',
    '-c',
    `until [ -S /run/openvswitch/db.sock ]; do sleep .2; done; ${script}`,
  ]);
  const vswitchd = node.start(['ovs-vswitchd', 'unix:/run/openvswitch/db.sock', '-vconsole:info', '--pidfile']);
  const controller = node.start([
    'ovn-controller',
    'unix:/run/openvswitch/db.sock',
    '-vconsole:info',
    '-vfile:off',
    '--pidfile=/run/ovn/ovn-controller.pid',
  ]);
  await world.clock.advance(20_000);
  const chassis = async () => (await sb.run(['ovn-sbctl', 'list', 'Chassis'])).output;
  return { world, node, sb, north, south, ovsdb, vswitchd, controller, configured, chassis };
}

describe('ovn', () => {
  it('brings up a chassis from the laboratory scripts', async () => {
    const { chassis, node, configured, vswitchd } = await network();
    expect(configured).toEqual({ status: 0, output: '' });
    expect(await chassis()).toContain('hostname : "node1"');
    expect((await node.run(['ovs-vsctl', 'list-br'])).output).toBe('br-ex\nbr-int\n');
    expect((await node.run(['ovs-vsctl', '--timeout=3', 'add-br', 'br-x'])).status).toBe(0);
    expect(await node.run(['ovs-vsctl', '--timeout=3x', 'show'])).toMatchObject({
      status: 1,
      output: 'ovs-vsctl: value 3x on -t or --timeout is invalid\n',
    });
    expect((await node.run(['ovs-appctl', 'version'])).output).toContain('ovs-vswitchd');
    expect(vswitchd.status()).toBeUndefined();
  });

  it('gives the name of a bridge to no port, and the other way round', async () => {
    const { node } = await network();
    const vsctl = async (...words: string[]) => await node.run(['ovs-vsctl', '--no-wait', ...words]);
    const words = (text: string) => ({ status: 1, output: `ovs-vsctl: cannot create a ${text}\n` });
    expect(await vsctl('add-br', 'eth1')).toMatchObject({ status: 0 });
    for (const option of ['--', '--may-exist']) {
      expect(await vsctl(option, 'add-port', 'br-ex', 'eth1')).toEqual(
        words('port named eth1 because a bridge named eth1 already exists'),
      );
    }
    expect(await vsctl('add-port', 'br-ex', 'eth2')).toMatchObject({ status: 0 });
    expect(await vsctl('--may-exist', 'add-br', 'eth2')).toEqual(
      words('bridge named eth2 because a port named eth2 already exists on bridge br-ex'),
    );
  });

  it.each([
    ['host unknown', { remote: 'tcp:nowhere:6642' }, 'connection attempt failed (Name or service not known)'],
    ['port of the other database', { remote: 'tcp:ovn-nb:6641' }, 'unknown database OVN_Southbound'],
    ['port closed', { remote: 'tcp:ovn-sb:6643' }, 'connection attempt failed (Connection refused)'],
    ['no remote', { script: 'ovs-vsctl --no-wait init' }, 'OVN OVSDB remote not specified.  Waiting...'],
    [
      'no system-id',
      { script: settings('tcp:ovn-sb:6642').replace('external_ids:system-id=node1', '') },
      "'system-id' in Open_vSwitch database is missing.",
    ],
    [
      'no encapsulation',
      { script: settings('tcp:ovn-sb:6642').replace('external_ids:ovn-encap-ip=10.0.0.1', '') },
      'Need to specify an encap type and ip',
    ],
  ])('waits without a chassis: %s', async (_name, options, words) => {
    const { controller, chassis } = await network(options);
    expect(controller.output()).toContain(words);
    expect(controller.status()).toBeUndefined();
    expect(await chassis()).toBe('');
  });

  it('connects again when the southbound database comes back, and keeps its data', async () => {
    const { world, sb, south, chassis, controller } = await network();
    await south.stop();
    await world.clock.advance(3000);
    expect(controller.output()).toContain('connection closed by peer');
    sb.start([ctl, '--db-sb-create-insecure-remote=yes', 'run_sb_ovsdb']);
    await world.clock.advance(15_000);
    expect(await chassis()).toContain('node1');
  });

  it('has northd join both databases, and say which one it has', async () => {
    const { world, sb, south } = await network();
    const northd = world.container({ host: 'northd', programs, directories: ['run/ovn'] });
    const good = northd.start([
      'ovn-northd',
      '-vconsole:info',
      '--ovnnb-db=tcp:ovn-nb:6641',
      '--ovnsb-db=tcp:ovn-sb:6642',
      '--unixctl=/run/ovn/northd.ctl',
    ]);
    const status = async (database: string) =>
      (await northd.run(['ovn-appctl', '-t', '/run/ovn/northd.ctl', `${database}-connection-status`])).output.trim();
    await world.clock.advance(5000);
    expect(good.output()).toContain('This ovn-northd instance is now active');
    expect([await status('nb'), await status('sb')]).toEqual(['connected', 'connected']);
    await south.stop();
    await world.clock.advance(1000);
    expect([await status('nb'), await status('sb')]).toEqual(['connected', 'not connected']);
    sb.start([ctl, '--db-sb-create-insecure-remote=yes', 'run_sb_ovsdb']);
    await world.clock.advance(15_000);
    expect(await status('sb')).toBe('connected');
    await good.stop();
    const lost = northd.start(['ovn-northd', '--ovnnb-db=ovn-nb:6641']);
    await world.clock.advance(2000);
    expect(lost.output()).toContain('connection attempt failed (Address family not supported by protocol)');
    await lost.stop();
    expect((await northd.run(['ovn-northd', '--nosuch'])).output).toContain(
      "ovn-northd: unrecognized option '--nosuch'",
    );
    expect((await sb.run(['ovn-sbctl', 'get', 'SB_Global', '.', 'northd'])).output).toContain('active');
  });

  it('does not change bridges where nobody may, and waits for it', async () => {
    const { node } = await network({ privileged: false });
    expect(await node.run(['ovs-vsctl', '--timeout=3', 'add-br', 'br-x'])).toMatchObject({ status: 142 });
  });

  it.each([
    [
      ['ovs-vsctl', 'show'],
      1,
      'ovs-vsctl: unix:/var/run/openvswitch/db.sock: database connection failed (No such file or directory)',
    ],
    [['ovsdb-server', '/nope.db'], 1, 'ovsdb-server: I/O error: /nope.db: failed to open (No such file or directory)'],
    [['ovsdb-tool', 'create', '/x.db', '/nope'], 1, 'open failed (No such file or directory)'],
    [[ctl, '--nosuch', 'run_nb_ovsdb'], 1, 'unknown option "--nosuch"'],
    [['ovs-appctl', 'version'], 1, 'cannot read pidfile "/run/openvswitch/ovs-vswitchd.pid"'],
    [['ovs-vswitchd', '--pidfile'], 1, 'create failed (No such file or directory)'],
  ])('%j fails in the real words', async (argv, status, words) => {
    const result = await new World().container({ host: 'c', programs }).run(argv);
    expect(result).toMatchObject({ status, output: expect.stringContaining(words) as string });
  });

  it('serves alone when nobody else could reach it under its own address', async () => {
    const { north } = await network({ nb: ['--db-nb-cluster-local-addr=nowhere'] });
    expect(north.output()).toContain('Name or service not known');
    expect(north.status()).toBeUndefined();
  });
});
