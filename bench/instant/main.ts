import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { minimalControlPlane, operatorNamespace } from '@openstack-operator/cli';
import {
  type Client,
  CustomResourceDefinition,
  type Kind,
  type KubeObject,
  Namespace,
  Node,
  realClock,
  sleep,
} from '@openstack-operator/kube';
import { conditionOf, crd, kindOf, kinds, OpenStackControlPlane } from '@openstack-operator/openstack';
import { table } from '../../test/cloud/table.ts';
import { step } from '../../tools/cloud/step.ts';
import { type ApiServer, withApiServer } from '../api-server.ts';
import { operatorFlags, startChild } from '../child.ts';
import { applyByHand } from '../cloud/by-hand.ts';
import { statedObjects } from '../cloud/live.ts';
import { type Stage, stagesOf } from '../cloud/stages.ts';
import { startContestant } from '../contestant.ts';
import { machine } from '../machine.ts';
import { bundle } from '../many-clouds/bundle.ts';
import { inWords, spread } from '../spread.ts';

const help = `usage: node bench/instant/main.ts [options]      (make bench-instant)

How long the operator takes to a Ready minimal cloud where every workload is ready in the moment in which it is stated:
on a real API server, with a process that says so in the place of controllers and kubelets. Beside it the same
manifests, as they were in the end, applied by the same client in the order of their dependencies: one after the other
without a wait for anything, and as somebody would who applies what may be applied together and waits for it.

  --repeats N   rounds of the three (default 7; a first one warms up and is not counted)
`;

/** Milliseconds between two looks of the hand at what it awaits. */
const LOOK = 10;
/** Milliseconds in which the operator reads what it has missed. */
const REST = 2000;
/** The minimal cloud, which leaves other nodes to the next one. */
const oneNode = { nova: { virtType: 'qemu', computeReplicas: 1 } };
const manager = { fieldManager: 'by-hand' };

const { values } = parseArgs({
  options: { repeats: { type: 'string', default: '7' }, help: { type: 'boolean', short: 'h', default: false } },
});
const repeats = Number(values.repeats);
if (values.help) process.stdout.write(help);
else if (!Number.isInteger(repeats) || repeats < 1) {
  process.stderr.write(`bench/instant: --repeats ${values.repeats}: a whole number above 0 is expected\n`);
  process.exitCode = 2;
} else await main();

/** Seconds that each way took, in one round. */
interface Round {
  readonly operator: number;
  readonly sequence: number;
  readonly stages: number;
  readonly objects: number;
}

async function main(): Promise<void> {
  const before = machine();
  const rounds: Round[] = [];
  await withApiServer(async (server) => {
    await install(server);
    const operatorProgram = await bundle(join(import.meta.dirname, '../many-clouds/operator.ts'), server.folder);
    const node = startContestant('node', [process.execPath, join(import.meta.dirname, 'node.ts'), server.kubeconfig]);
    const operator = await startChild(operatorProgram, [server.kubeconfig], operatorFlags);
    try {
      await node.said();
      for (let turn = 0; turn <= repeats; turn++) {
        const round = await step(turn === 0 ? 'warming up' : `round ${turn} of ${repeats}`, () =>
          play(server, operator.process, turn),
        );
        if (turn > 0) rounds.push(round);
      }
    } finally {
      operator.process.kill();
      await node.stop();
    }
  });
  process.stdout.write(`\n${before}\n\n${figures(rounds)}\n`);
}

async function install(server: ApiServer): Promise<void> {
  const { client } = server;
  for (const kind of kinds)
    await client.create(CustomResourceDefinition, crd(kind) as unknown as CustomResourceDefinition);
  server.kubectl('wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all');
  await client.create(Namespace, namespaceOf(operatorNamespace));
  // Without a default class a claim is not asked for.
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const metadata = { name: 'standard', annotations };
  const storageClass = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata,
    provisioner: 'example.org/none',
  };
  await client.create(kindOf(storageClass), storageClass);
}

function namespaceOf(name: string): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

async function play({ client }: ApiServer, process: ChildProcess, turn: number): Promise<Round> {
  const namespace = `cloud-of-the-operator-${turn}`;
  await makeNode(client, `node-${turn}`);
  await client.create(Namespace, namespaceOf(namespace));
  const operator = await seconds(() => byOperator(client, namespace));
  const ref = { namespace, name: minimalControlPlane.metadata.name ?? '' };
  const stages = stagesOf(await client.get(OpenStackControlPlane, ref), await statedObjects(client, namespace));
  const [sequence, together] = ['one-after-the-other', 'stage-by-stage'].map((way) => `${way}-${turn}`) as [
    string,
    string,
  ];
  const moved = (to: string) => JSON.parse(JSON.stringify(stages).replaceAll(namespace, to)) as Stage[];
  for (const name of [sequence, together]) await client.create(Namespace, namespaceOf(name));
  // It would follow these objects as well: they bear its label.
  process.kill('SIGSTOP');
  const round = {
    operator,
    sequence: await seconds(async () => {
      for (const object of inOrder(moved(sequence))) await client.apply(kindOf(object), object, manager);
    }),
    stages: await seconds(() => applyByHand(client, moved(together), LOOK)),
    objects: stages.flatMap(({ objects }) => objects).length,
  };
  process.kill('SIGCONT');
  await sleep(realClock, REST);
  return round;
}

async function makeNode(client: Client, name: string): Promise<void> {
  await client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Played', message: '', lastTransitionTime }];
  await client.patch(Node, { name }, 'merge', { status: { conditions } }, { subresource: 'status' });
  // The API server taints each new node as not ready; the node lifecycle controller, which is not here, takes that off.
  await client.patch(Node, { name }, 'merge', { spec: { taints: null } });
}

async function byOperator(client: Client, namespace: string): Promise<void> {
  const { name = '' } = minimalControlPlane.metadata;
  const kind = OpenStackControlPlane as Kind;
  const { metadata } = await client.create(kind, {
    ...minimalControlPlane,
    metadata: { name, namespace },
    spec: oneNode,
  });
  const signal = AbortSignal.timeout(60_000);
  const { resourceVersion } = metadata;
  let why = 'it has no status';
  try {
    for await (const event of client.watch(kind, { namespace, resourceVersion, signal })) {
      if (event.type !== 'MODIFIED') continue;
      const ready = conditionOf(event.object, 'Ready');
      if (ready?.status === 'True') return;
      why = ready?.message ?? why;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw new Error(`the cloud of ${namespace} was not Ready within a minute: ${why}`);
}

/** Each stage after those that it comes after. */
function inOrder(stages: readonly Stage[]): KubeObject[] {
  const placed = new Set<Stage>();
  const place = (stage: Stage) => {
    if (placed.has(stage)) return;
    for (const before of stages.filter(({ name }) => stage.after.includes(name))) place(before);
    placed.add(stage);
  };
  stages.forEach(place);
  return [...placed].flatMap(({ objects }) => objects);
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

function figures(rounds: readonly Round[]): string {
  const of = (figure: (round: Round) => number, digits = 2) => inWords(spread(rounds.map(figure)), digits);
  const rows = [
    ['by the operator', of(({ operator }) => operator), ''],
    ['by hand, stage by stage', of(({ stages }) => stages), of(({ operator, stages }) => operator / stages)],
    [
      'by hand, one after the other',
      of(({ sequence }) => sequence),
      of(({ operator, sequence }) => operator / sequence),
    ],
  ];
  const objects = of(({ objects }) => objects, 0);
  return `${table(['way', 'seconds', "the operator's time in times of it"], rows)}\n\nobjects: ${objects}`;
}
