import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CustomResourceDefinition } from '@openstack-operator/kube';
import { table } from '../../test/cloud/table.ts';
import { StepError, step } from '../../tools/cloud/step.ts';
import { withApiServer } from '../api-server.ts';
import { operatorFlags } from '../child.ts';
import { machine } from '../machine.ts';
import { bundle } from '../many-clouds/bundle.ts';
import { goProgram } from '../peers.ts';
import { inWords, spread } from '../spread.ts';
import { type Measured, measure } from './measure.ts';
import { type Requests, sum, writes } from './requests.ts';
import { definition } from './website.ts';

const help = `usage: node bench/small-operator/main.ts [options]      (make bench-operator)

The same small operator twice, on the same real API server: with packages/kube (bench/small-operator/operator.ts) and
with controller-runtime (bench/controller-runtime), each as its users write one. A Website leads to a ConfigMap, a
Secret that is generated once, a Service and a Deployment, all with owner references, and a condition Ready that waits
for the Deployment. A run starts an operator on an empty server, creates all Websites, waits until all are Ready and the
operator rests, and then looks for a while at what it does while nothing happens. The operators take turns, and who
begins alternates. What stands for controllers and kubelets (it says of each Deployment that it is available) is part
of the measurement, and the same for both.

Requests are those that the API server counts, without watches; processor time and memory those that Linux counts.
controller-runtime runs with its own default, no rate limit; --limited adds it with 20 requests a second for each kind, a
burst of 30, its default until version 0.20. Needs Go; built once, in
\${XDG_CACHE_HOME:-~/.cache}/openstack-operator/bench.

  --websites N    how many (default 1000)
  --repeats N     runs of each operator (default 3)
  --workers N     Websites that an operator works on at once (default 4)
  --idle N        seconds at rest (default 60)
  --resync N      seconds after which an operator looks at everything again (default 25: twice while it is at rest)
  --limited       one run with the rate limit too: some three minutes more for 1000 Websites
  --only NAME     one of them alone: kube or controller-runtime
  --profile DIR   writes V8's processor profiles of ours to DIR, at the cost of some of its speed
`;

const ours = 'kube';
const theirs = 'controller-runtime';

const { values } = parseArgs({
  options: {
    websites: { type: 'string', default: '1000' },
    repeats: { type: 'string', default: '3' },
    workers: { type: 'string', default: '4' },
    idle: { type: 'string', default: '60' },
    resync: { type: 'string', default: '25' },
    limited: { type: 'boolean', default: false },
    only: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const { websites, repeats, workers, idle, resync } = Object.fromEntries(
  (['websites', 'repeats', 'workers', 'idle', 'resync'] as const).map((name) => [name, number(name, values[name])]),
) as Record<'websites' | 'repeats' | 'workers' | 'idle' | 'resync', number>;
if (values.only !== undefined && ![ours, theirs].includes(values.only))
  refuse(`--only ${values.only}: ${ours} or ${theirs} is expected`);
if (values.help) process.stdout.write(help);
else if (process.exitCode === undefined) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    process.stderr.write(`bench/small-operator: ${error.message}\n`);
    process.exitCode = 1;
  }
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  refuse(`--${name} ${text}: a whole number above 0 is expected`);
  return value;
}

function refuse(text: string): void {
  process.stderr.write(`bench/small-operator: ${text}\n`);
  process.exitCode = 2;
}

async function main(): Promise<void> {
  const before = machine();
  const program = values.only === ours ? '' : await step(theirs, () => goProgram('controller-runtime'));
  const found = new Map<string, Measured[]>();
  await withApiServer(async (server) => {
    await server.client.create(CustomResourceDefinition, definition);
    server.kubectl('wait', '--for=condition=Established', '--timeout=60s', 'crd', definition.metadata.name ?? '');
    const profiled = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];
    const settings = [server.kubeconfig, String(workers), String(resync)];
    const own = await bundle(join(import.meta.dirname, 'operator.ts'), server.folder);
    const commands: Record<string, readonly string[]> = {
      [ours]: [process.execPath, ...operatorFlags, ...profiled, own, ...settings],
      [theirs]: [program, ...settings, '0', '0'],
    };
    const names = Object.keys(commands).filter((name) => values.only === undefined || values.only === name);
    const play = async (name: string, command: readonly string[]) => {
      const measured = await step(name, () => measure(server, name, command, { websites, idle }));
      found.set(name, [...(found.get(name) ?? []), measured]);
    };
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (const name of repeat % 2 === 0 ? names : names.toReversed()) await play(name, commands[name] ?? []);
    }
    if (values.limited) await play(`${theirs}, 20/s`, [program, ...settings, '20', '30']);
  });
  process.stdout.write(`\n${before}\n\n${figures(found)}\n\n${verbs(found)}\n\n${ratios(found)}\n`);
}

function figures(found: ReadonlyMap<string, readonly Measured[]>): string {
  const rows = [...found].map(([name, all]) => {
    const of = (figure: (one: Measured) => number, digits = 0) => inWords(spread(all.map(figure)), digits);
    return [
      name,
      of(({ seconds }) => seconds, 2),
      of(({ requests }) => sum(requests)),
      of(({ cpu }) => cpu, 2),
      of(({ serverCpu }) => serverCpu, 2),
      of(({ peak }) => peak / 2 ** 20),
      of(({ idleRequests }) => writes(idleRequests)),
      of(({ idleCpu }) => (100 * idleCpu) / idle, 2),
    ];
  });
  const head = ['operator', 'all Ready, s', 'requests', 'CPU s', "API server's CPU s", 'peak RSS MiB'];
  return table([...head, `writes in ${idle} s of rest`, 'CPU % of it'], rows);
}

function verbs(found: ReadonlyMap<string, readonly Measured[]>): string {
  const inTurn = (requests: Requests) => [...requests].map(([verb, count]) => `${count} ${verb}`).join(', ');
  return [...found]
    .flatMap(([name, all]) => all.map(({ requests }, run) => `${name}, run ${run + 1}: ${inTurn(requests)}`))
    .join('\n');
}

/** Of runs of the same turn: what disturbs the machine disturbs both. */
function ratios(found: ReadonlyMap<string, readonly Measured[]>): string {
  const [own = [], other = []] = [found.get(ours), found.get(theirs)];
  if (own.length === 0 || other.length === 0) return 'one operator alone: nothing is compared';
  const ratio = (of: (one: Measured) => number) =>
    inWords(spread(own.map((one, turn) => of(one) / of(other[turn] ?? one))), 2);
  return [
    `${ours} takes ${ratio(({ seconds }) => seconds)} x the time of ${theirs}`,
    `${ratio(({ requests }) => sum(requests))} x its requests`,
    `${ratio(({ cpu }) => cpu)} x its processor time`,
    `${ratio(({ peak }) => peak)} x its memory`,
  ].join(',\n     ');
}
