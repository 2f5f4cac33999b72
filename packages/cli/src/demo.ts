import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type KubeObject,
  noLog,
  realClock,
  realRandom,
  type StoredObject,
  sleep,
  type VirtualClock,
  virtualClock,
} from '@openstack-operator/kube';
import { conditionOf, kinds, OpenStackControlPlane } from '@openstack-operator/openstack';
import { CommandError } from './command-error.ts';
import { minimalControlPlane } from './minimal-control-plane.ts';
import { readResources } from './read-resources.ts';
import { createRehearsal, type Rehearsal, type RunningOperator, resourcesIn } from './rehearsal.ts';
import { rolloutRows, seconds, treeText } from './rollout-tree.ts';
import { interrupted, serveSandbox } from './serve-sandbox.ts';
import { validateResource } from './validate.ts';

/** How long a rollout may take before the demo says that it stands still, in ms of its own clock. */
const patience = 20 * 60_000;

/** `kubectl openstack demo`. */
export async function demoCommand(options: { file?: string; speed: 'real' | 'fast'; keep?: boolean }): Promise<void> {
  const began = realClock.now();
  const resources = options.file === undefined ? [minimalControlPlane] : readResources(options.file);
  const mistakes = resources.flatMap(validateResource);
  if (mistakes.length > 0) {
    throw new CommandError(mistakes.map(({ field, message }) => `${field}: ${message}`).join('\n'));
  }
  const fast = options.speed === 'fast';
  const virtual = fast ? virtualClock({ start: began }) : undefined;
  const clock = virtual ?? realClock;
  process.stdout.write(
    `An embedded Kubernetes in this process. Its OpenStack processes are simulated: no server can be started here.\n`,
  );
  const until = virtual === undefined ? waitReal : (done: () => boolean) => virtual.run(done, { limit: patience });
  const settle = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false;
    void promise
      .finally(() => {
        settled = true;
      })
      .catch(() => {});
    await until(() => settled);
    return await promise;
  };
  const rehearsal = await settle(createRehearsal({ clock, random: realRandom, log: noLog }));
  const operator = await settle(rehearsal.startOperator());
  const view = process.stdout.isTTY ? treeView : lineView;
  const begun = clock.now();
  const draw = view(begun, () => clock.now());
  for (const kind of kinds) operator.runtime.cache.onChange(kind, () => draw(resourcesIn(operator.runtime)));
  for (const resource of resources) await settle(rehearsal.create(resource));
  await until(() => resources.every((resource) => isReady(operator, resource))).catch((error: Error) => {
    throw new CommandError(standstill(resourcesIn(operator.runtime), begun) || error.message);
  });
  draw(resourcesIn(operator.runtime), true);
  summary(rehearsal, operator, { took: clock.now() - begun, real: realClock.now() - began, fast });
  if (options.keep === true) await keep(rehearsal, virtual);
  await settle(operator.stop());
  rehearsal.stop();
}

function isReady({ runtime }: RunningOperator, { kind, metadata }: KubeObject): boolean {
  const live = resourcesIn(runtime).find((one) => one.kind === kind && one.metadata.name === metadata.name);
  return live !== undefined && conditionOf(live, 'Ready')?.status === 'True';
}

async function waitReal(done: () => boolean): Promise<void> {
  const deadline = realClock.now() + patience;
  while (!done()) {
    if (realClock.now() > deadline) throw new Error(`not Ready within ${seconds(patience)}`);
    await sleep(realClock, 50);
  }
}

/** What a rollout that does not end is waiting for: one line for each resource that is not Ready. */
function standstill(resources: readonly StoredObject[], begun: number): string {
  const open = rolloutRows(resources, begun).filter(({ state }) => state === 'working' || state === 'failed');
  const lines = open.map(({ title, text }) => `  ${title}: ${text}`);
  return lines.length === 0 ? '' : `not Ready within ${seconds(patience)}:\n${lines.join('\n')}`;
}

type Draw = (resources: readonly StoredObject[], last?: boolean) => void;

/** A tree that is drawn over itself, at most ten times a second. */
function treeView(begun: number, now: () => number): Draw {
  let height = 0;
  let drawn = 0;
  return (resources, last = false) => {
    if (!last && realClock.now() - drawn < 100) return;
    drawn = realClock.now();
    const [controlPlane] = resources.filter(({ kind }) => kind === OpenStackControlPlane.kind);
    const phase = (controlPlane?.['status'] as { phase?: string } | undefined)?.phase ?? 'Pending';
    const title = `${controlPlane?.metadata.name ?? 'resources'}: ${phase}, ${seconds(now() - begun)}`;
    const lines = [title, ...treeText(rolloutRows(resources, begun), process.stdout.columns)];
    process.stdout.write(
      `${height === 0 ? '' : `\u001b[${height}A`}${lines.map((line) => `\u001b[2K${line}\n`).join('')}`,
    );
    height = lines.length;
  };
}

/** One plain line for each thing that is new: for pipes and logs. */
function lineView(begun: number, now: () => number): Draw {
  const said = new Set<string>();
  return (resources) => {
    for (const { title, state, text } of rolloutRows(resources, begun)) {
      const line = `${title}: ${state === 'ready' ? 'Ready' : text}`;
      if (said.has(line) || state === 'waiting') continue;
      said.add(line);
      process.stdout.write(
        `${seconds(now() - begun).padStart(12)}  ${line.length > 200 ? `${line.slice(0, 199)}…` : line}\n`,
      );
    }
  };
}

function summary(
  rehearsal: Rehearsal,
  operator: RunningOperator,
  times: { took: number; real: number; fast: boolean },
): void {
  const counts = new Map<string, number>();
  for (const { kind } of rehearsal.objects()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const built = [
    'Deployment',
    'StatefulSet',
    'DaemonSet',
    'Job',
    'Pod',
    'Service',
    'Secret',
    'ConfigMap',
    'PersistentVolumeClaim',
  ];
  const parts = built.flatMap((kind) => (counts.has(kind) ? [`${counts.get(kind)} ${kind}s`] : []));
  process.stdout.write(`\nBuilt: ${parts.join(', ')}.\n`);
  for (const resource of resourcesIn(operator.runtime)) {
    const { apiEndpoint } = (resource['status'] ?? {}) as { apiEndpoint?: string };
    if (apiEndpoint !== undefined) process.stdout.write(`  ${resource.kind.padEnd(10)} ${apiEndpoint}\n`);
  }
  const virtual = times.fast ? ` of virtual time, ${seconds(times.real)} of yours` : '';
  process.stdout.write(`Ready after ${seconds(times.took)}${virtual}.\n`);
}

/** Serves the sandbox until interrupted; virtual time goes on as real time does. */
async function keep({ sandbox }: Rehearsal, virtual: VirtualClock | undefined): Promise<void> {
  const close = await serveSandbox(sandbox, { kubeconfig: join(tmpdir(), 'openstack-demo.kubeconfig') });
  const ended = new AbortController();
  const end = interrupted().then(() => ended.abort());
  if (virtual !== undefined) await follow(virtual, ended.signal);
  await end;
  await close();
}

/** Moves virtual time as fast as real time goes. */
async function follow(virtual: VirtualClock, signal: AbortSignal): Promise<void> {
  let before = realClock.now();
  while (!signal.aborted) {
    await sleep(realClock, 100);
    const now = realClock.now();
    await virtual.advance(now - before);
    before = now;
  }
}
