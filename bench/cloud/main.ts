import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { operatorNamespace } from '@openstack-operator/cli';
import { type Client, connect, Node, parseTimestamp, realClock, type StoredObject } from '@openstack-operator/kube';
import { group, kinds, OpenStackControlPlane } from '@openstack-operator/openstack';
import { down } from '../../tools/cloud/down.ts';
import { kubectl } from '../../tools/cloud/kubectl.ts';
import { controlPlane, type Place, placeOf } from '../../tools/cloud/place.ts';
import { sampleNamed } from '../../tools/cloud/sample.ts';
import { say, step } from '../../tools/cloud/step.ts';
import { prepare } from '../../tools/cloud/up.ts';
import { applyByHand } from './by-hand.ts';
import { criticalPath } from './critical-path.ts';
import { statedObjects } from './live.ts';
import { type Stage, stagesOf } from './stages.ts';
import { machineSeconds, operatorSeconds } from './usage.ts';

const help = `usage: node bench/cloud/main.ts      (make bench-cloud)

How long the operator takes to a Ready cloud, beside somebody who applies the same manifests by hand in the order of
their dependencies and never sleeps; on a node of its own, with nothing beside it. Ends with the node taken down.
`;

const { values } = parseArgs({
  options: { help: { type: 'boolean', short: 'h', default: false } },
});

/** Milliseconds between two looks of who applies by hand. */
const LOOK = 200;

/** One rollout, in seconds. */
interface Run {
  readonly name: string;
  readonly seconds: number;
  /** Processor time of the whole machine. */
  readonly machine: number;
  readonly operator: number;
}

if (values.help) process.stdout.write(help);
else await main();

async function main(): Promise<void> {
  const beside = placeOf(undefined, 0);
  const place = placeOf(join(beside.directory, '../bench-cloud'), 9);
  await prepare(place, { sample: sampleNamed('minimal'), nodes: 1, monitors: 1 });
  const { client } = await connect({ kubeconfig: place.kubeconfig, env: process.env, clock: realClock });
  await step('removal of what an earlier run has left', () => remove(place, client));
  await scaleOperator(place, 1);
  const first = await step('by the operator, first', () => byOperator(place, client));
  const nodes = (await client.list(Node)).items;
  await step('removal', () => remove(place, client));
  await scaleOperator(place, 0);
  const byHand = await step('by hand', async () => {
    await labelNodes(client, nodes);
    await kubectl(place, ['create', 'namespace', controlPlane.namespace]);
    return await measured('by hand', client, () => applyByHand(client, first.stages, LOOK));
  });
  await step('removal', () => remove(place, client));
  await scaleOperator(place, 1);
  const again = await step('by the operator, again', () => byOperator(place, client));
  show([first.run, byHand, again.run]);
  await down(place);
  rmSync(place.directory, { recursive: true });
}

async function byOperator(place: Place, client: Client): Promise<{ run: Run; stages: Stage[] }> {
  const run = await measured('operator', client, async () => {
    await kubectl(place, ['apply', '--server-side', '-k', join(place.overlay, 'control-plane')]);
    await kubectl(place, [
      'wait',
      '--for=condition=Ready',
      '--timeout=900s',
      '-n',
      controlPlane.namespace,
      'oscp',
      controlPlane.name,
    ]);
  });
  const found = await client.get(OpenStackControlPlane, controlPlane);
  const live = await statedObjects(client, controlPlane.namespace);
  const stages = stagesOf(found, live);
  const resources = (
    await Promise.all(kinds.map(async (kind) => (await client.list(kind, { namespace: controlPlane.namespace })).items))
  ).flat();
  const created = parseTimestamp(found.metadata.creationTimestamp ?? '');
  for (const { name, begun, ended } of criticalPath(stages, resources, created))
    say(`  ${String(begun).padStart(4)} to ${String(ended).padStart(4)} s  ${name}`);
  return { run, stages };
}

async function measured(name: string, client: Client, work: () => Promise<void>): Promise<Run> {
  const begun = performance.now();
  const before = { machine: machineSeconds(), operator: await operatorSeconds(client) };
  await work();
  const seconds = (performance.now() - begun) / 1000;
  return {
    name,
    seconds,
    machine: machineSeconds() - before.machine,
    operator: (await operatorSeconds(client)) - before.operator,
  };
}

/** Labels nodes as they were when the cloud was Ready: a hand would write its names on them. */
async function labelNodes(client: Client, nodes: readonly StoredObject[]): Promise<void> {
  for (const { metadata } of nodes) {
    const own = Object.entries(metadata.labels ?? {}).filter(([label]) => label.startsWith(`${group}/`));
    await client.patch(Node, { name: metadata.name }, 'merge', { metadata: { labels: Object.fromEntries(own) } });
  }
}

/** Takes the cloud away, volumes and node labels included. */
async function remove(place: Place, client: Client): Promise<void> {
  await kubectl(place, ['delete', 'namespace', controlPlane.namespace, '--ignore-not-found', '--timeout=300s']);
  for (const { metadata } of (await client.list(Node)).items) {
    const own = Object.keys(metadata.labels ?? {}).filter((label) => label.startsWith(`${group}/`));
    const labels = Object.fromEntries(own.map((label) => [label, null]));
    await client.patch(Node, { name: metadata.name }, 'merge', { metadata: { labels } });
  }
}

async function scaleOperator(place: Place, replicas: number): Promise<void> {
  const deployment = ['-n', operatorNamespace, 'deployment/openstack-operator'];
  await kubectl(place, ['scale', `--replicas=${replicas}`, ...deployment]);
  await kubectl(place, ['rollout', 'status', '--timeout=120s', ...deployment]);
}

function show(runs: readonly Run[]): void {
  const [, byHand, again] = runs;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const rows = runs.map(({ name, seconds, machine, operator }) => [
    name,
    `${seconds.toFixed(1)} s`,
    `${machine.toFixed(1)} s`,
    `${operator.toFixed(1)} s (${((100 * operator) / machine).toFixed(1)} %)`,
  ]);
  const head = ['who', 'apply to Ready', 'processor time of the machine', "of it the operator's"];
  process.stdout.write(`\n${[head, head.map(() => '---'), ...rows].map(line).join('')}`);
  const ratio = (again?.seconds ?? Number.NaN) / (byHand?.seconds ?? Number.NaN);
  process.stdout.write(`\nThe operator, again, takes ${ratio.toFixed(2)} x as long as a hand.\n`);
}
