import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { table } from '../../test/cloud/table.ts';
import { machine } from '../machine.ts';
import { bundle } from '../many-clouds/bundle.ts';
import { commonHelp, type Options, optionsOf } from '../options.ts';
import { measure, type Size } from './measure.ts';
import { scenarios } from './scenarios.ts';

/** The most nodes that `replicas` of a node group can say, and that large clouds are made for. */
const MOST = 5000;

const help = `usage: node bench/large-cloud/main.ts [options]      (make bench-large-cloud)

One minimal cloud on so many nodes: what the operator takes for its rollout, for a node that joins, for one and for a
tenth of them that are lost and come back, for a roll of agents (a twentieth of the nodes at once) and for a rotation. The
operator is in one process, an embedded Kubernetes in another, HTTP/2 between them, in real time. Its nodes are hollow:
each pod is ready in the moment in which it is bound, and each Job has succeeded.

  --nodes N,N,..    how many (default 1,100,1000; at most ${MOST})
${commonHelp}
`;

const options = optionsOf({ name: 'large-cloud', of: 'nodes', fallback: '1,100,1000', most: MOST, help });
if (options !== undefined) await main(options);

async function main({ sizes, heap, flags }: Options): Promise<void> {
  const before = machine();
  const folder = mkdtempSync(join(tmpdir(), 'openstack-operator-bench-'));
  try {
    const program = await bundle(join(import.meta.dirname, '../many-clouds/operator.ts'), folder);
    const measured: Size[] = [];
    for (const size of sizes) {
      measured.push(
        await measure(size, { folder, program, heap, flags }, (text) => console.log(`${size} nodes: ${text}`)),
      );
      // Of a run that is broken off, what it has found so far stays.
      if (size !== sizes.at(-1)) console.log(`\n${figures(measured.slice(-1))}\n`);
    }
    console.log(`\n${before}; heap of ${heap} MiB\n\n${figures(measured)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function figures(all: readonly Size[]): string {
  const head = [
    'scenario',
    'nodes',
    'changed',
    'seconds',
    'CPU s',
    'requests',
    'writes',
    'sent KiB',
    'longest block ms',
    'peak RSS MiB',
  ];
  const measured = all.flatMap((size) => size.scenarios);
  const rows = scenarios
    .flatMap(({ name }) => measured.filter(({ scenario }) => scenario === name))
    .map(({ nodes, scenario, changed, seconds, usage }) => [
      scenario,
      String(nodes),
      String(changed),
      seconds.toFixed(1),
      usage.cpu.toFixed(2),
      String(usage.requests),
      String(usage.writes.length),
      kibibytes(usage.sent),
      usage.longestBlock.toFixed(0),
      (usage.peak / 2 ** 20).toFixed(0),
    ]);
  const sizes = all.map(
    ({ scenarios: [first], largest: { object, bytes, environment } }) =>
      `${first?.nodes} nodes: the largest object is ${object}, ${kibibytes(bytes)} KiB; the largest environment has ${kibibytes(environment)} KiB`,
  );
  return [table(head, rows), '', ...sizes].join('\n');
}

function kibibytes(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}
