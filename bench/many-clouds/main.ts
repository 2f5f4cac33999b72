import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { table } from '../../test/cloud/table.ts';
import { machine } from '../machine.ts';
import { commonHelp, type Options, optionsOf } from '../options.ts';
import { straightLine } from '../straight-line.ts';
import { type Measured, measure } from './rollout.ts';

/** Nodes of the embedded Kubernetes have the addresses of 10.244.0.0 to 10.255.255.255, and each cloud has a node. */
const MOST = 3072;

const help = `usage: node bench/many-clouds/main.ts [options]      (make bench)

Rolls out so many minimal clouds at once: the operator in one process, an embedded Kubernetes in another, HTTP/2 between
them, in real time. Then lets them rest, then starts a new operator. 100 clouds take some ten minutes of two cores.

  --clouds N,N,..   how many (default 1,10,100; at most ${MOST} each, as each takes a node of its own)
${commonHelp}
  --hollow          nodes run nothing, and each pod is ready at once: more clouds than the processes of one machine can be
`;

/** Writes of an operator that has nothing to do that are told one by one. */
const mostTold = 20;

const options = optionsOf({ name: 'many-clouds', of: 'clouds', fallback: '1,10,100', most: MOST, help });
if (options !== undefined) await main(options);

async function main({ sizes, heap, hollow, flags }: Options): Promise<void> {
  const before = machine();
  const folder = mkdtempSync(join(tmpdir(), 'openstack-operator-bench-'));
  const all: Measured[] = [];
  try {
    for (const size of sizes) {
      let last = '';
      const measured = await measure({ clouds: size, heap, hollow, flags }, folder, (text) => {
        if (text !== last) console.log(`${size} clouds: ${text}`);
        last = text;
      });
      all.push(measured);
      // Of a run that is broken off, what it has found so far stays.
      if (size !== sizes.at(-1)) console.log(`\n${figures([measured])}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`\n${before}; heap of ${heap} MiB${hollow ? '; hollow nodes' : ''}\n\n${figures(all)}\n\n${fits(all)}\n`);
}

function figures(all: readonly Measured[]): string {
  const rows = all.map(({ clouds, seconds, rollout, idle, idleSeconds, restart, restarted }) => [
    String(clouds),
    seconds.toFixed(1),
    rollout.cpu.toFixed(1),
    mebibytes(rollout.peak),
    mebibytes(idle.rss),
    mebibytes(idle.heap),
    rollout.longestBlock.toFixed(0),
    rollout.longestCollection.toFixed(0),
    ((100 * idle.cpu) / idleSeconds).toFixed(2),
    String(idle.writes.length),
    (restart / 1000).toFixed(2),
    String(restarted.writes.length),
  ]);
  const head = [
    'clouds',
    'all Ready, s',
    'CPU s',
    'peak RSS MiB',
    'RSS MiB',
    'heap MiB',
    'longest block ms',
    'longest GC ms',
    'idle CPU %',
    'idle writes',
    'restart s',
    'writes after it',
  ];
  const written = all.flatMap(({ clouds, idle, restarted }) =>
    Object.entries({ 'while nothing happens': idle, 'after the restart': restarted }).flatMap(([when, { writes }]) =>
      writes.slice(0, mostTold).map((write) => `${clouds} clouds, ${when}: ${write}`),
    ),
  );
  return [table(head, rows), ...written].join('\n');
}

/** How what clouds take grows with their number. */
function fits(all: readonly Measured[]): string {
  const quantities: readonly (readonly [string, (one: Measured) => number])[] = [
    ['time to all Ready, s', ({ seconds }) => seconds],
    ["the operator's processor time, s", ({ rollout }) => rollout.cpu],
    ["the operator's peak RSS, MiB", ({ rollout }) => rollout.peak / 2 ** 20],
    ['restart, s', ({ restart }) => restart / 1000],
  ];
  if (new Set(all.map(({ clouds }) => clouds)).size < 3) return 'fewer than three sizes: no line is fitted';
  return quantities
    .map(([name, of]) => {
      const { start, slope, fit } = straightLine(all.map((one) => [one.clouds, of(one)]));
      return `${name}: ${start.toFixed(1)} + ${slope.toFixed(3)} for each cloud (R² ${fit.toFixed(4)})`;
    })
    .join('\n');
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
