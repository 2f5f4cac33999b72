import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CustomResourceDefinition, Node } from '@openstack-operator/kube';
import { websiteCrd } from '../../packages/kube/example/crd.ts';
import { table } from '../../test/cloud/table.ts';
import { StepError, step } from '../../tools/cloud/step.ts';
import { type ApiServer, withApiServer } from '../api-server.ts';
import { startContestant } from '../contestant.ts';
import { machine } from '../machine.ts';
import { goSources, goTool, npmModules } from '../peers.ts';
import { peakMemory } from '../process-usage.ts';
import { inWords, spread } from '../spread.ts';
import type { Played } from './play.ts';

const help = `usage: node bench/libraries/main.ts [options]      (make bench-libraries)

The same suite of 20 tests of a small operator (bench/libraries/suite.ts) on what one may test it with. A run starts
everything anew, runs the suite twice (the second time the code is compiled and the caches are warm), and ends it. The
contestants take turns, and the order moves on by one every time.

  sandbox               packages/kube on packages/sandbox, in virtual time: one process
  kube, envtest         packages/kube on a kube-apiserver and an etcd, as envtest starts them; a controller says of
                        each Deployment that it is ready, as nothing runs it
  client-node, envtest  the same with @kubernetes/client-node
  client-node, kwok     with kube-controller-manager, kube-scheduler and kwok, which plays the node, beside them

Start is the time until the definition is served and the operator watches; memory is the sum of the peaks of all
processes. Needs Go and npm; what it compares with is built and installed once, in
\${XDG_CACHE_HOME:-~/.cache}/openstack-operator/bench.

  --runs N    runs of each that are counted (default 3)
`;

/** What one run found: milliseconds, bytes. */
interface Figures {
  readonly start: number;
  readonly first: number;
  readonly second: number;
  readonly memory: number;
}

const ours = 'sandbox';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '3' }, help: { type: 'boolean', short: 'h', default: false } },
});
const runs = Number(values.runs);
if (values.help) process.stdout.write(help);
else if (!Number.isInteger(runs) || runs < 1) {
  process.stderr.write(`bench/libraries: --runs ${values.runs}: a whole number above 0 is expected\n`);
  process.exitCode = 2;
} else {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    process.stderr.write(`bench/libraries: ${error.message}\n`);
    process.exitCode = 1;
  }
}

async function main(): Promise<void> {
  const before = machine();
  const modules = await step('@kubernetes/client-node', () => npmModules('client/client-node'));
  const kwok = await step('kwok', () => goTool('libraries/kwok', 'sigs.k8s.io/kwok/cmd/kwok'));
  const contestants: Readonly<Record<string, () => Promise<Figures>>> = {
    [ours]: () => play(performance.now(), ['kube']),
    'kube, envtest': () => onServer(({ kubeconfig }) => ['kube', kubeconfig]),
    'client-node, envtest': () => onServer(({ kubeconfig }) => ['client-node', kubeconfig, modules, 'marks']),
    'client-node, kwok': () => onServer(({ kubeconfig }) => ['client-node', kubeconfig, modules], kwok),
  };
  const names = Object.keys(contestants);
  const found = new Map(names.map((name): [string, Figures[]] => [name, []]));
  for (let run = 0; run < runs; run++) {
    const first = run % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const figures = await step(name, contestants[name] as () => Promise<Figures>);
      found.get(name)?.push(figures);
    }
  }
  process.stdout.write(`\n${before}\n\n${figuresOf(found)}\n\n${ratios(found)}\n`);
}

/** Runs a contestant that was begun at a moment; `beside` are the processes that it needs. */
async function play(
  begun: number,
  [name = '', ...args]: readonly string[],
  beside: readonly number[] = [],
): Promise<Figures> {
  const program = join(import.meta.dirname, `${name}.ts`);
  const contestant = startContestant(name, [process.execPath, program, ...args]);
  try {
    await contestant.said();
    const start = performance.now() - begun;
    const [first, second] = [(await contestant.ask(1)) as Played, (await contestant.ask(2)) as Played];
    const memory = [contestant.pid, ...beside].reduce((sum, pid) => sum + peakMemory(pid), 0);
    return { start, first: first.milliseconds, second: second.milliseconds, memory };
  } finally {
    await contestant.stop();
  }
}

/** On a server of its own; with `kwok`, also with the controllers, the scheduler and a node that it plays. */
async function onServer(contestant: (server: ApiServer) => readonly string[], kwok?: string): Promise<Figures> {
  const begun = performance.now();
  let figures: Figures | undefined;
  const work = async (server: ApiServer) => {
    const node = kwok === undefined ? undefined : await playNode(server, kwok);
    try {
      await server.client.create(CustomResourceDefinition, websiteCrd);
      server.kubectl('wait', '--for=condition=Established', '--timeout=60s', 'crd', websiteCrd.metadata.name ?? '');
      const pids = [...server.pids.values(), ...(node?.pid === undefined ? [] : [node.pid])];
      figures = await play(begun, contestant(server), pids);
    } finally {
      node?.kill();
    }
  };
  await withApiServer(work, kwok === undefined ? [] : ['--controllers', '--scheduler']);
  return figures as unknown as Figures;
}

async function playNode(server: ApiServer, kwok: string): Promise<ChildProcess> {
  // As its fastest installation has it: pods run at once, and are gone at once.
  const stages = join(goSources('libraries/kwok', 'sigs.k8s.io/kwok'), 'kustomize/stage');
  const config = ['node/fast/node-initialize', 'pod/fast/pod-ready', 'pod/fast/pod-delete'];
  const flags = ['--kubeconfig', server.kubeconfig, '--manage-all-nodes=true', '--config'];
  flags.push(config.map((stage) => join(stages, `${stage}.yaml`)).join(','));
  const child = spawn(kwok, flags, { stdio: 'ignore' });
  await server.client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
  server.kubectl('wait', '--for=condition=Ready', '--timeout=60s', 'node', 'node-1');
  return child;
}

function figuresOf(found: ReadonlyMap<string, readonly Figures[]>): string {
  const rows = [...found].map(([name, all]) => {
    const of = (figure: (one: Figures) => number, digits: number) => inWords(spread(all.map(figure)), digits);
    return [
      name,
      of(({ start }) => start / 1000, 2),
      of(({ first }) => first / 1000, 2),
      of(({ second }) => second / 1000, 2),
      of(({ memory }) => memory / 2 ** 20, 0),
    ];
  });
  return table(['', 'start, s', 'suite, s', 'suite again, s', 'memory, MiB'], rows);
}

/** Of figures of the same turn: what disturbs the machine disturbs both. */
function ratios(found: ReadonlyMap<string, readonly Figures[]>): string {
  const own = found.get(ours) ?? [];
  return [...found]
    .filter(([name]) => name !== ours)
    .map(([name, all]) => {
      const of = (figure: (one: Figures) => number) =>
        inWords(spread(own.map((one, run) => figure(all[run] as Figures) / figure(one))), 1);
      const whole = of(({ start, first }) => start + first);
      return `${name}, in times of the ${ours}: start and suite ${whole}, suite again ${of(({ second }) => second)}, memory ${of(({ memory }) => memory)}`;
    })
    .join('\n');
}
