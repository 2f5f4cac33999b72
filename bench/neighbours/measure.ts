import { join } from 'node:path';
import { type Client, connect, Namespace, realClock, sleep, type Transport } from '@openstack-operator/kube';
import { startChild } from '../child.ts';
import { neighbour } from './objects.ts';
import { OperatorEnded, startOperator } from './operator-process.ts';
import type { Scenario } from './scenarios.ts';
import { createVictims, victim, type Wait } from './victims.ts';

/** What a scenario has cost the others. */
export interface Measured {
  readonly scenario: Scenario;
  /** Bytes of JSON that its objects were made with. */
  readonly sent: number;
  /** Of those in the other namespace. */
  readonly waits: readonly Wait[];
  /** Longest time, in ms, for which nothing else had its turn in the operator: while the objects were made, and since. */
  readonly blockWhileMade: number;
  readonly longestBlock: number;
  /** Bytes of the operator: the most since the first object. */
  readonly heap: number;
  readonly rss: number;
  /** How and when the operator ended, such as `SIGABRT after 12 s`; absent: it did not. */
  readonly ended?: string;
}

/** How it is measured. */
export interface Terms {
  /** For files that nobody keeps. */
  readonly folder: string;
  /** The operator's bundle. */
  readonly program: string;
  /** MiB of the operator's heap. */
  readonly heap: number;
  /** For how long, once the objects are made. */
  readonly seconds: number;
}

/** Who takes part, beside the operator. */
interface Participants {
  readonly kubeconfig: string;
  /** The others. */
  readonly others: Client;
  /** The user who is measured. */
  readonly user: Client;
  /** Bytes that the user has sent so far. */
  readonly sent: () => number;
}

/**
 * Measures one scenario, with a server and an operator of its own.
 * @throws Error when the server ends, or the operator before the first object
 */
export async function measure(scenario: Scenario, terms: Terms, told: (text: string) => void): Promise<Measured> {
  const kubeconfig = join(terms.folder, `kubeconfig-${scenario.name}`);
  const server = await startChild(join(import.meta.dirname, '../many-clouds/server.ts'), ['1', kubeconfig]);
  const counter = countingBytes();
  const { client: others } = await connect({ kubeconfig, env: {}, clock: realClock });
  const { client: user } = await connect({ kubeconfig, env: {}, clock: realClock, wrap: counter.wrap });
  try {
    for (const name of [neighbour, victim])
      await others.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const played = play(scenario, terms, { kubeconfig, others, user, sent: counter.bytes }, told);
    return await Promise.race([played, server.died]);
  } finally {
    await Promise.all([others.close(), user.close()]);
    server.process.kill();
    await server.died.catch(() => {});
  }
}

async function play(
  scenario: Scenario,
  { program, heap, seconds }: Terms,
  { kubeconfig, others, user, sent }: Participants,
  told: (text: string) => void,
): Promise<Measured> {
  const operator = await startOperator(program, kubeconfig, heap);
  const over = new AbortController();
  const begun = performance.now();
  const passed = () => `${((performance.now() - begun) / 1000).toFixed(0)} s`;
  const waits: Wait[] = [];
  let made: { readonly sent: number; readonly looks: number } | undefined;
  let ended: string | undefined;
  try {
    told(`${scenario.objects} objects are made`);
    await operator.during(() => scenario.make(user));
    made = { sent: sent(), looks: operator.looks.length };
    told(`made within ${passed()}; it is measured for ${seconds} s`);
    await operator.during(async () => {
      const victims = createVictims(others, seconds, over.signal, (wait) => waits.push(wait));
      await Promise.all([victims.finally(() => over.abort()), disturb(user, scenario, over.signal)]);
    });
  } catch (error) {
    if (!(error instanceof OperatorEnded)) throw error;
    ended = `${error.message} after ${passed()}`;
  } finally {
    over.abort();
    await operator.stop();
  }
  told(
    ended === undefined
      ? `statuses after ${waits.map(({ seconds }) => seconds.toFixed(1)).join(', ')} s`
      : `ended: ${ended}`,
  );
  const most = (figures: readonly number[]) => Math.max(0, ...figures);
  const blocks = operator.looks.map(({ longestBlock }) => longestBlock);
  const madeBy = made?.looks ?? blocks.length;
  return {
    scenario,
    sent: made?.sent ?? sent(),
    waits,
    blockWhileMade: most(blocks.slice(0, madeBy)),
    longestBlock: most(blocks.slice(madeBy)),
    heap: most(operator.looks.map(({ heap }) => heap)),
    rss: most(operator.looks.map(({ peak }) => peak)),
    ...(ended === undefined ? {} : { ended }),
  };
}

async function disturb(client: Client, { disturbance }: Scenario, over: AbortSignal): Promise<void> {
  if (disturbance === undefined) return;
  for (let turn = 0; !over.aborted; turn++) {
    await disturbance.disturb(client, turn);
    await sleep(realClock, disturbance.interval * 1000, over).catch(() => {});
  }
}

/** Counts what is sent through transports. */
function countingBytes() {
  let bytes = 0;
  const wrap = (transport: Transport): Transport => ({
    request(request, signal) {
      bytes += Buffer.byteLength(request.body ?? '');
      return transport.request(request, signal);
    },
    close: () => transport.close(),
  });
  return { wrap, bytes: () => bytes };
}
