import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { minimalControlPlane } from '@openstack-operator/cli';
import { type Client, connect, Namespace, realClock, sleep } from '@openstack-operator/kube';
import { conditionOf, OpenStackControlPlane } from '@openstack-operator/openstack';
import { operatorFlags, startChild } from '../child.ts';
import type { Options } from '../options.ts';
import { bundle } from './bundle.ts';
import type { Usage } from './operator.ts';

/** What so many minimal clouds take. */
export interface Measured {
  readonly clouds: number;
  /** Seconds from the first resource to all of them Ready, by operator and Kubernetes together. */
  readonly seconds: number;
  /** The operator's, of the rollout. */
  readonly rollout: Usage;
  /** The operator's, while nothing happens. */
  readonly idle: Usage;
  readonly idleSeconds: number;
  /** Milliseconds from the start of a new operator to warm caches and working controllers. */
  readonly restart: number;
  /** The new operator's, until it rests. */
  readonly restarted: Usage;
}

/** Seconds for which an operator is watched while nothing happens. */
const IDLE = 30;
/** Seconds after which a rollout is given up; more for more clouds. */
const patience = (clouds: number) => 120 + 30 * clouds;

/**
 * Rolls out so many minimal clouds at once, in processes of their own; then lets them rest; then restarts the operator. V8
 * collects more where less of the `heap` (MiB) is left. Pods of `hollow` nodes are ready at once, and run nothing.
 */
export async function measure(
  { clouds, heap, hollow, flags: more }: Omit<Options, 'sizes'> & { readonly clouds: number },
  folder: string,
  told: (text: string) => void,
): Promise<Measured> {
  const flags = [...operatorFlags, `--max-old-space-size=${heap}`, ...more];
  const kubeconfig = join(folder, `kubeconfig-${clouds}`);
  const program = await bundle(join(import.meta.dirname, 'operator.ts'), folder);
  const server = await startChild(join(import.meta.dirname, 'server.ts'), [
    String(clouds),
    kubeconfig,
    ...(hollow ? ['hollow'] : []),
  ]);
  let operator = await startChild(program, [kubeconfig], flags);
  const { client } = await connect({ kubeconfig, env: {}, clock: realClock });
  try {
    await ask(operator.process);
    const begun = performance.now();
    for (let index = 1; index <= clouds; index++) await create(client, `cloud-${index}`);
    await Promise.race([untilReady(client, clouds, told), operator.died, server.died]);
    const seconds = (performance.now() - begun) / 1000;
    const rollout = await ask(operator.process);
    operator.process.send('look away');
    await rest(operator.process);
    await sleep(realClock, IDLE * 1000);
    const idle = await ask(operator.process);
    operator.process.send('stop');
    await once(operator.process, 'exit');
    operator = await startChild(program, [kubeconfig], flags);
    const restarted = await rest(operator.process);
    return { clouds, seconds, rollout, idle, idleSeconds: IDLE, restart: Number(operator.said), restarted };
  } finally {
    await client.close();
    for (const { process } of [operator, server]) process.kill();
  }
}

/** What an operator (operator.ts) has taken since it was asked before. @throws Error when it can no longer be asked */
export async function ask(operator: ChildProcess): Promise<Usage> {
  const answer = once(operator, 'message');
  operator.send('usage');
  return ((await answer) as [Usage])[0];
}

/** Until an operator has had nothing to do or to write for five seconds: all that it did until then. */
export async function rest(operator: ChildProcess): Promise<Usage> {
  let all = await ask(operator);
  for (let quiet = 0; quiet < 5; ) {
    await sleep(realClock, 1000);
    const more = await ask(operator);
    quiet = more.idle && more.writes.length === 0 ? quiet + 1 : 0;
    all = {
      ...more,
      cpu: all.cpu + more.cpu,
      writes: [...all.writes, ...more.writes],
      requests: all.requests + more.requests,
      sent: all.sent + more.sent,
      longestBlock: Math.max(all.longestBlock, more.longestBlock),
      longestCollection: Math.max(all.longestCollection, more.longestCollection),
    };
  }
  return all;
}

/** A minimal cloud in a namespace of its own, on one node. */
async function create(client: Client, name: string): Promise<void> {
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const spec = { nova: { virtType: 'qemu', computeReplicas: 1 } };
  await client.create(OpenStackControlPlane, {
    ...minimalControlPlane,
    metadata: { name, namespace: name },
    spec,
  } as unknown as OpenStackControlPlane);
}

async function untilReady(client: Client, clouds: number, told: (text: string) => void): Promise<void> {
  const end = performance.now() + patience(clouds) * 1000;
  for (;;) {
    const { items } = await client.list(OpenStackControlPlane, { signal: AbortSignal.timeout(60_000) });
    const waiting = items.filter((one) => conditionOf(one, 'Ready')?.status !== 'True');
    const [one] = waiting;
    const awaited = one && `${one.metadata.name}: ${conditionOf(one, 'Ready')?.message ?? 'no condition Ready yet'}`;
    // Of many clouds the sentences would follow each other faster than anybody reads.
    told(`${items.length - waiting.length} of ${clouds} Ready${clouds < 10 && awaited ? `; ${awaited}` : ''}`);
    if (!awaited) return;
    if (performance.now() > end) {
      const late = `${waiting.length} of ${clouds} clouds are not Ready after ${patience(clouds)} s`;
      throw new Error(`${late}: ${awaited}`);
    }
    // All of them are listed: where they are many, seldom, so that the answer does not take the server's time.
    await sleep(realClock, Math.max(100, 20 * clouds));
  }
}
