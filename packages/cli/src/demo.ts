import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type KubeObject,
  noLog,
  realClock,
  realRandom,
  sleep,
  type VirtualClock,
  virtualClock,
} from '@openstack-operator/kube';
import { type BridgeMapping, conditionOf, kinds } from '@openstack-operator/openstack';
import { CommandError } from './command-error.ts';
import { minimalControlPlane } from './minimal-control-plane.ts';
import { readResources } from './read-resources.ts';
import { createRehearsal, type Rehearsal, type RunningOperator, resourcesIn } from './rehearsal.ts';
import { seconds } from './rollout-tree.ts';
import { rolloutView, standstill } from './rollout-view.ts';
import { interrupted, serveSandbox } from './serve-sandbox.ts';
import { validateResource } from './validate-resource.ts';

/** How long a rollout may take before the demo says that it stands still, in ms of its own clock. */
const patience = 20 * 60_000;

/** `kubectl openstack demo`. */
export async function demoCommand(options: {
  file?: readonly string[];
  speed: 'real' | 'fast';
  keep?: boolean;
}): Promise<void> {
  const began = realClock.monotonic();
  const resources = options.file === undefined ? [minimalControlPlane] : readResources(options.file);
  const mistakes = resources.flatMap(validateResource);
  if (mistakes.length > 0) {
    throw new CommandError(mistakes.map(({ field, message }) => `${field}: ${message}`).join('\n'), 1);
  }
  const fast = options.speed === 'fast';
  const virtual = fast ? virtualClock({ start: realClock.now() }) : undefined;
  const clock = virtual ?? realClock;
  process.stdout.write(
    `An embedded Kubernetes runs in this process. Its OpenStack processes are simulated and start no servers.\n`,
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
  const rehearsal = await settle(
    createRehearsal({ clock, random: realRandom, log: noLog, interfaces: resources.flatMap(interfacesOf) }),
  );
  const operator = await settle(rehearsal.startOperator());
  const begun = clock.now();
  const draw = rolloutView(begun, () => clock.now());
  for (const kind of kinds) operator.runtime.cache.onChange(kind, () => draw(resourcesIn(operator.runtime)));
  for (const resource of resources) await settle(rehearsal.create(resource));
  await until(() => resources.every((resource) => isReady(operator, resource))).catch((error: Error) => {
    throw new CommandError(standstill(resourcesIn(operator.runtime), { begun, patience }) || error.message, 1);
  });
  draw(resourcesIn(operator.runtime), true);
  summary(rehearsal, operator, { took: clock.now() - begun, real: realClock.monotonic() - began, fast });
  if (options.keep === true) await keep(rehearsal, virtual);
  await settle(operator.stop());
  rehearsal.stop();
}

/** The interfaces that a resource maps to bridges: its author's nodes have them, so the demo's have them too. */
function interfacesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { bridgeMappings } = value as { bridgeMappings?: readonly BridgeMapping[] };
  const mapped = (bridgeMappings ?? []).flatMap((mapping) => mapping.interface ?? []);
  return [...mapped, ...Object.values(value).flatMap(interfacesOf)];
}

function isReady({ runtime }: RunningOperator, { kind, metadata }: KubeObject): boolean {
  const live = resourcesIn(runtime).find((one) => one.kind === kind && one.metadata.name === metadata.name);
  return live !== undefined && conditionOf(live, 'Ready')?.status === 'True';
}

async function waitReal(done: () => boolean): Promise<void> {
  const deadline = realClock.monotonic() + patience;
  while (!done()) {
    if (realClock.monotonic() > deadline) throw new Error(`not Ready within ${seconds(patience)}`);
    await sleep(realClock, 50);
  }
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
  const virtual = times.fast ? ` of virtual time, ${seconds(times.real)} of real time` : '';
  process.stdout.write(`Ready after ${seconds(times.took)}${virtual}.\n`);
}

/** Serves the sandbox until interrupted; virtual time goes on as real time does. */
async function keep({ sandbox }: Rehearsal, virtual: VirtualClock | undefined): Promise<void> {
  const ended = new AbortController();
  const end = interrupted().then(() => ended.abort());
  const close = await serveSandbox(sandbox, {
    kubeconfig: join(tmpdir(), 'openstack-demo.kubeconfig'),
    operator: true,
  });
  if (virtual !== undefined) await keepPace(virtual, ended.signal);
  await end;
  await close();
}

/** Moves virtual time as fast as real time goes. */
async function keepPace(virtual: VirtualClock, signal: AbortSignal): Promise<void> {
  let before = realClock.monotonic();
  while (!signal.aborted) {
    await sleep(realClock, 100);
    const now = realClock.monotonic();
    await virtual.advance(now - before);
    before = now;
  }
}
