import { parseArgs } from 'node:util';
import { ConfigMap } from '@openstack-operator/kube';
import { table } from '../../test/cloud/table.ts';
import { StepError, step } from '../../tools/cloud/step.ts';
import { type ApiServer, withApiServer } from '../api-server.ts';
import { type Contestant, startContestant } from '../contestant.ts';
import { machine } from '../machine.ts';
import { goProgram, npmModules } from '../peers.ts';
import { processorSeconds } from '../process-usage.ts';
import { inWords, spread } from '../spread.ts';
import { type Done, nameOf, namespace, type Round } from './rounds.ts';

const help = `usage: node bench/client/main.ts [options]      (make bench-client)

PATCH requests a second, and processor time for each, of five clients against the same real API server: each in a
process of its own, patching the same ConfigMaps with the same merge patch that changes a key. The clients take turns,
a round each; the order moves on by one every time, and a first turn that is not counted warms them up.

  kube                    our client (packages/kube), as connect() makes it
  client-node             @kubernetes/client-node as its README uses it: a TLS connection for every request
  client-node, kept       the same, its connections kept by replacing KubeConfig.createDispatcher
  client-go               client-go's typed client with its default content type, JSON, and no rate limit (QPS -1)
  client-go, protobuf     the same, answers in protobuf

The API server's share says who waits for whom: where a client's PATCH/s are as many as the server can do, only the
processor time compares the clients. Needs Go and npm; what it compares with is built and installed once, in
\${XDG_CACHE_HOME:-~/.cache}/openstack-operator/bench.

  --rounds N        turns that are counted (default 7)
  --seconds N       of a round (default 3)
  --concurrency N   requests at once (default 32)
  --profile DIR     writes V8's processor profile of our client to DIR, at the cost of some of its speed
`;

/** What a round of one client has found. */
interface Figures {
  readonly rate: number;
  /** Microseconds of processor time for a request: the client's, the API server's. */
  readonly client: number;
  readonly server: number;
}

const ours = 'kube';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    concurrency: { type: 'string', default: '32' },
    profile: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const [rounds = 0, seconds = 0, concurrency = 0] = [values.rounds, values.seconds, values.concurrency].map(Number);
if (values.help) process.stdout.write(help);
else if (![rounds, concurrency].every((count) => Number.isInteger(count) && count > 0) || !(seconds > 0)) {
  process.stderr.write('bench/client: --rounds, --seconds and --concurrency are numbers above 0\n');
  process.exitCode = 2;
} else {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    process.stderr.write(`bench/client: ${error.message}\n`);
    process.exitCode = 1;
  }
}

async function main(): Promise<void> {
  const before = machine();
  const modules = await step('@kubernetes/client-node', () => npmModules('client/client-node'));
  const clientGo = await step('client-go', () => goProgram('client/client-go'));
  await withApiServer(async (server) => {
    for (let worker = 0; worker < concurrency; worker++) await makeConfigMap(server, worker);
    const program = (name: string, ...options: string[]) => [
      process.execPath,
      ...options,
      `${import.meta.dirname}/${name}.ts`,
      server.kubeconfig,
    ];
    const profiled = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];
    const contestants = new Map(
      Object.entries({
        [ours]: program('kube', ...profiled),
        'client-node': [...program('client-node'), modules],
        'client-node, kept': [...program('client-node'), modules, 'kept'],
        'client-go': [clientGo, server.kubeconfig, 'application/json'],
        'client-go, protobuf': [clientGo, server.kubeconfig, 'application/vnd.kubernetes.protobuf'],
      }).map(([name, command]) => [name, startContestant(name, command)] as const),
    );
    try {
      const found = await takeTurns(server, contestants);
      process.stdout.write(`\n${before}\n\n${figures(found)}\n\n${ratios(found)}\n`);
    } finally {
      for (const contestant of contestants.values()) await contestant.stop();
    }
  });
}

async function makeConfigMap({ client }: ApiServer, worker: number): Promise<void> {
  // As much as a small configuration file, so that the answer is no empty shell.
  const data = Object.fromEntries(Array.from({ length: 20 }, (_, line) => [`option-${line}`, 'value '.repeat(10)]));
  const metadata = { namespace, name: nameOf(worker) };
  await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
}

async function takeTurns(
  server: ApiServer,
  contestants: ReadonlyMap<string, Contestant>,
): Promise<Map<string, Figures[]>> {
  const names = [...contestants.keys()];
  const found = new Map(names.map((name): [string, Figures[]] => [name, []]));
  for (let turn = 0; turn <= rounds; turn++) {
    await step(turn === 0 ? 'warming up' : `turn ${turn} of ${rounds}`, async () => {
      const first = turn % names.length;
      for (const name of [...names.slice(first), ...names.slice(0, first)]) {
        const figures = await play(server, contestants.get(name) as Contestant);
        if (turn > 0) found.get(name)?.push(figures);
      }
    });
  }
  return found;
}

async function play({ pids }: ApiServer, contestant: Contestant): Promise<Figures> {
  const used = () => [contestant.pid, pids.get('kube-apiserver') ?? 0].map(processorSeconds) as [number, number];
  const round: Round = { seconds, concurrency };
  const before = used();
  const { requests, seconds: took } = (await contestant.ask(round)) as Done;
  const after = used();
  const each = (index: 0 | 1) => ((after[index] - before[index]) * 1e6) / requests;
  return { rate: requests / took, client: each(0), server: each(1) };
}

function figures(found: ReadonlyMap<string, readonly Figures[]>): string {
  const rows = [...found].map(([name, all]) => [
    name,
    ...(['rate', 'client', 'server'] as const).map((figure) => inWords(spread(all.map((one) => one[figure])))),
  ]);
  return table(['client', 'PATCH/s', 'CPU µs for each', "API server's CPU µs for each"], rows);
}

/** Of figures of the same turn: what disturbs the machine disturbs both. */
function ratios(found: ReadonlyMap<string, readonly Figures[]>): string {
  const own = found.get(ours) ?? [];
  const against = [...found].filter(([name]) => name !== ours);
  return against
    .map(([name, all]) => {
      const rate = spread(own.map((one, turn) => one.rate / (all[turn]?.rate ?? Number.NaN)));
      const cpu = spread(own.map((one, turn) => (all[turn]?.client ?? Number.NaN) / one.client));
      return `${ours} against ${name}: ${inWords(rate, 2)} x its PATCH/s, ${inWords(cpu, 2)} x its requests for the same CPU`;
    })
    .join('\n');
}
