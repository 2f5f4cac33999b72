import { describe, expect, it } from 'vitest';
import { baseCommands } from '../shell/system-commands.ts';
import { World } from '../testing/world.ts';
import { ovnCtl } from './ovn-ctl.ts';
import { ovnDaemons } from './ovn-daemons.ts';
import { ovsControlCommands } from './ovs-vsctl.ts';
import { ovsdbCommands } from './ovsdb-server.ts';

const ctl = '/usr/share/ovn/scripts/ovn-ctl';
const programs = { ...baseCommands, ...ovnDaemons, ...ovsControlCommands, ...ovsdbCommands, [ctl]: ovnCtl };
const file = '/var/lib/ovn/ovnnb_db.db';

/** Servers of the northbound database: a cluster of one, and others that may join it. */
function group() {
  const world = new World();
  const hosts = [0, 1, 2].map((index) =>
    world.container({
      host: `ovn-${index}`,
      programs,
      directories: ['var/lib/ovn'],
      env: { OVN_RUNDIR: `/run/${index}` },
    }),
  );
  const of = (index: number) => hosts[index] as (typeof hosts)[number];
  const start = (index: number, ...more: string[]) =>
    of(index).start([
      ctl,
      '--db-nb-create-insecure-remote=yes',
      ...(more.length > 0 ? more : [`--db-nb-cluster-local-addr=ovn-${index}`]),
      'run_nb_ovsdb',
    ]);
  const join = async (index: number, ...others: number[]) => {
    const remotes = others.map((other) => `tcp:ovn-${other}:6643`);
    const made = await of(index).run([
      'ovsdb-tool',
      'join-cluster',
      file,
      'OVN_Northbound',
      `tcp:ovn-${index}:6643`,
      ...remotes,
    ]);
    expect(made).toEqual({ status: 0, output: '' });
    return start(index);
  };
  const ask = async (index: number, ...words: string[]) =>
    (await of(index).run(['ovn-appctl', '-t', `/run/${index}/ovnnb_db.ctl`, ...words])).output;
  const status = (index: number) => ask(index, 'cluster/status', 'OVN_Northbound');
  const nbctl = (index: number, ...words: string[]) =>
    of(index).run(['ovn-nbctl', '--no-leader-only', '--timeout=3', `--db=unix:/run/${index}/ovnnb_db.sock`, ...words]);
  return { world, of, start, join, ask, status, nbctl };
}

/** Three members with a row. */
async function three() {
  const all = group();
  const servers = [all.start(0)];
  await all.world.clock.advance(1000);
  for (const index of [1, 2]) servers.push(await all.join(index, 0));
  await all.world.clock.advance(3000);
  expect(await all.nbctl(1, 'set', 'nb_global', '.', 'options:written=yes')).toMatchObject({ status: 0 });
  return { ...all, servers };
}

const isMember = (status: string) => /^Status: cluster member$/m.test(status) && !/^Leader: unknown$/m.test(status);

describe('a clustered database', () => {
  it('becomes one with its rows where it was alone, and others join', async () => {
    const { world, start, join, status, nbctl } = group();
    const alone = start(0, '--db-nb-addr=0.0.0.0');
    await world.clock.advance(1000);
    await nbctl(0, 'set', 'nb_global', '.', 'options:old=yes');
    expect(await status(0)).toContain('"cluster/status OVN_Northbound" is not a valid command');
    await alone.stop();
    start(0);
    await world.clock.advance(1000);
    expect(await status(0)).toContain('Leader: self');
    await join(1, 0, 2);
    await world.clock.advance(3000);
    expect(isMember(await status(1))).toBe(true);
    expect((await nbctl(1, 'get', 'nb_global', '.', 'options')).output).toContain('old');
  });

  it('is in none as long as nobody lets it in', async () => {
    const { world, of, join, status, nbctl } = group();
    await join(1, 0, 2);
    await join(2, 0, 1);
    await world.clock.advance(10_000);
    expect(await status(1)).toContain('Status: joining cluster\nRemotes for joining: tcp:ovn-0:6643 tcp:ovn-2:6643');
    expect((await nbctl(1, 'get', 'nb_global', '.', 'options')).output).toContain('unknown database OVN_Northbound');
    const query =
      '["_Server",{"op":"select","table":"Database","where":[["name","==","OVN_Northbound"]],"columns":["cid"]}]';
    expect(await of(2).run(['ovsdb-client', '--timeout=3', 'query', 'tcp:ovn-1:6641', query])).toEqual({
      status: 0,
      output: '[{"rows":[{"cid":["uuid","00000000-0000-0000-0000-000000000000"]}]}]\n',
    });
  });

  it('has another leader after the end of one, and takes no write without a majority', async () => {
    const { world, servers, status, nbctl, start } = await three();
    await servers[0]?.stop();
    expect(await status(1)).toContain('Leader: unknown');
    await world.clock.advance(3000);
    expect(isMember(await status(1))).toBe(true);
    await servers[2]?.stop();
    expect(isMember(await status(1))).toBe(false);
    await world.clock.advance(10_000);
    expect(await nbctl(1, 'set', 'nb_global', '.', 'options:alone=yes')).toMatchObject({
      status: 1,
      output: expect.stringContaining('database connection failed (Connection refused)') as string,
    });
    start(2);
    await world.clock.advance(3000);
    expect(await nbctl(2, 'get', 'nb_global', '.', 'options')).toEqual({ status: 0, output: '{"written":"yes"}\n' });
  });

  it('counts who has lost its disk until that is removed', async () => {
    const { world, of, servers, join, ask, status, start } = await three();
    await servers[2]?.stop();
    await of(2).run(['rm', file]);
    servers[2] = await join(2, 0, 1);
    await world.clock.advance(3000);
    expect(isMember(await status(2))).toBe(true);
    const lines = (await status(2)).split('\n').filter((line) => line.includes('at tcp:ovn-2:6643'));
    expect(lines).toHaveLength(2);
    const lost =
      lines
        .find((line) => !line.includes('(self)'))
        ?.trim()
        .slice(0, 4) ?? '';
    // Two of four are no majority.
    await servers[1]?.stop();
    await servers[0]?.stop();
    start(0);
    await world.clock.advance(5000);
    expect(isMember(await status(2))).toBe(false);
    start(1);
    await world.clock.advance(5000);
    expect(await ask(2, 'cluster/kick', 'OVN_Northbound', lost)).toMatch(/^(started removal|sent removal request)/);
    expect((await status(2)).match(/ at tcp:/g)).toHaveLength(3);
  });

  it('is known by its name and its ids alone', async () => {
    const { ask } = await three();
    expect(await ask(0, 'cluster/status', 'nope')).toContain('unknown cluster');
    expect(await ask(0, 'cluster/sid', 'OVN_Northbound')).toMatch(/^[0-9a-f]{8}-/);
  });
});
