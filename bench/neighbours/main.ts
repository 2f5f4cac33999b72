import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../../test/cloud/table.ts';
import { say } from '../../tools/cloud/step.ts';
import { machine } from '../machine.ts';
import { bundle } from '../many-clouds/bundle.ts';
import { type Measured, measure } from './measure.ts';
import { scenarios } from './scenarios.ts';
import type { Wait } from './victims.ts';

/** Seconds after which a victim's wait is a failure. */
const LONGEST_WAIT = 10;

const help = `usage: node bench/neighbours/main.ts [options]      (make bench-neighbours)

What a user with edit in one namespace costs those of the others, who share the operator with that user. Each scenario has
an embedded Kubernetes and an operator of its own, in a process each. When the operator has nothing to do, the objects of
the scenario are made in one namespace; then somebody creates a Keystone in another one every 5 s. Columns:

  slowest status s   from the creation of such a Keystone to its first conditions; it is given up after 60 s
  slowest answer ms  of the embedded Kubernetes to those who look at it: while it is busy, it answers nobody
  longest block ms   for which nothing else had its turn in the operator, since the objects were made
  while made ms      the same while they were made
  peak heap MiB      of the operator, since the first object; looked at twice a second
  peak RSS MiB       of the operator: the memory of its process
  operator ended     how, and how long after the first object

It fails (1) when an operator ended, or somebody waited for more than ${LONGEST_WAIT} s.

  --only NAME,NAME,..  these scenarios alone, such as nothing,twins
  --heap MiB           of the operator (default 358: 70 % of the memory that config/manager allows it)
  --seconds N          for which each is measured once its objects are made (default 30)

${scenarios.map(({ name, sentence }) => `  ${name.padEnd(14)} ${sentence}`).join('\n')}
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    heap: { type: 'string', default: '358' },
    seconds: { type: 'string', default: '30' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const [heap, seconds] = [number('heap', values.heap), number('seconds', values.seconds)];
const names = values.only?.split(',') ?? scenarios.map(({ name }) => name);
const unknown = names.find((name) => scenarios.every((scenario) => scenario.name !== name));
if (unknown !== undefined)
  refuse(`--only ${unknown}: expected is one of ${scenarios.map(({ name }) => name).join(', ')}`);
if (values.help) process.stdout.write(help);
else if (process.exitCode === undefined) await main();

function number(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  refuse(`--${name} ${text}: a whole number above 0 is expected`);
  return value;
}

function refuse(text: string): void {
  process.stderr.write(`bench/neighbours: ${text}\n`);
  process.exitCode = 2;
}

async function main(): Promise<void> {
  const before = machine();
  const folder = mkdtempSync(join(tmpdir(), 'openstack-operator-bench-'));
  const all: Measured[] = [];
  try {
    const program = await bundle(join(import.meta.dirname, '../many-clouds/operator.ts'), folder);
    for (const scenario of scenarios.filter(({ name }) => names.includes(name)))
      all.push(await measure(scenario, { folder, program, heap, seconds }, (text) => say(`${scenario.name}: ${text}`)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    // Of a run that is broken off, what it has found so far stays.
    process.stdout.write(`\n${before}; heap of ${heap} MiB, ${seconds} s each\n\n${figures(all)}\n`);
  }
  const failures = all.flatMap(failuresOf);
  for (const failure of failures) process.stderr.write(`bench/neighbours: ${failure}\n`);
  if (failures.length > 0) process.exitCode = 1;
}

function figures(all: readonly Measured[]): string {
  const mebibytes = (bytes: number, digits = 0) => (bytes / 2 ** 20).toFixed(digits);
  const worst = (waits: readonly Wait[], figure: keyof Wait, digits: number) =>
    waits.length === 0 ? '-' : Math.max(...waits.map((wait) => wait[figure])).toFixed(digits);
  const rows = all.map(({ scenario, sent, waits, longestBlock, blockWhileMade, heap, rss, ended = 'no' }) => [
    scenario.name,
    String(scenario.objects),
    mebibytes(sent, 2),
    worst(waits, 'seconds', 1),
    worst(waits, 'answer', 0),
    longestBlock.toFixed(0),
    blockWhileMade.toFixed(0),
    mebibytes(heap),
    mebibytes(rss),
    ended,
  ]);
  const head = ['scenario', 'objects', 'MiB of JSON', 'slowest status s', 'slowest answer ms', 'longest block ms'];
  return table([...head, 'while made ms', 'peak heap MiB', 'peak RSS MiB', 'operator ended'], rows);
}

function failuresOf({ scenario: { name }, waits, ended }: Measured): string[] {
  const late = waits.filter(({ seconds }) => seconds > LONGEST_WAIT);
  return [
    ...(ended === undefined ? [] : [`${name}: the operator ended (${ended})`]),
    ...(late.length === 0 ? [] : [`${name}: ${late.length} of ${waits.length} waited for more than ${LONGEST_WAIT} s`]),
  ];
}
