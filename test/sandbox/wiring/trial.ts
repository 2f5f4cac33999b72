import type { RunningOperator } from '@openstack-operator/cli';
import type { KubeObject } from '@openstack-operator/kube';
import { controlPlane, createCloud } from '../rollout/cloud.ts';
import { clientImage } from './client.ts';
import type { Mutant } from './mutant.ts';
import { stop } from './stop.ts';
import { runUntil, use } from './use.ts';
import { watch } from './watch.ts';
import { lying, noting, type Written } from './wire.ts';

/** What became of a cloud with one mistake in it. */
export interface Outcome {
  /** `killed`: the cloud noticed. `survived`: it is Ready and works. `broken`: the sandbox or the operator failed: a bug. */
  readonly verdict: 'killed' | 'survived' | 'broken';
  /** Who said so: the condition, with a process's last words; a process; the user. Of a survivor: what healed. */
  readonly words: string;
  /** Virtual seconds until then. */
  readonly seconds: number;
}

/** A rollout without a mistake: what the operator wrote for it, and what its processes complain of all the same. */
export interface GoodRollout {
  readonly written: Written;
  readonly complaints: ReadonlySet<string>;
  /** Every pod that there was. */
  readonly pods: ReadonlyMap<string, KubeObject>;
  readonly outcome: Outcome;
}

const minute = 60_000;

/**
 * Virtual milliseconds: the longest rollout, how long it may stand still before that counts as its end, and how long it
 * is watched afterwards (a liveness probe that fails ten times, every 30 s, shows after five minutes).
 */
const patience = { whole: 20 * minute, still: 5 * minute + 10_000, afterwards: 6 * minute };

/** Brings up a good cloud. */
export async function goodRollout(spec: Record<string, unknown>): Promise<GoodRollout> {
  const written: Written = new Map();
  const complaints = new Set<string>();
  const wire = { wire: (transport: Parameters<typeof noting>[0]) => noting(transport, written) };
  const pods = new Map<string, KubeObject>();
  const onPod = (pod: KubeObject) => pods.set(pod.metadata.name ?? '', pod);
  const outcome = await rollout(spec, wire, { onComplaint: (words) => complaints.add(words), onPod });
  return { written, complaints, pods, outcome };
}

/** Brings up a cloud with one mistake in it. */
export async function trial(
  mutant: Mutant,
  spec: Record<string, unknown>,
  { complaints: usual }: Pick<GoodRollout, 'complaints'>,
): Promise<Outcome> {
  const told = { hits: 0 };
  const wire = { wire: (transport: Parameters<typeof lying>[0]) => lying(transport, mutant, told) };
  const outcome = await rollout(spec, wire, { usual, complaintsCount: mutant.lie.pretend !== undefined });
  if (told.hits > 0) return outcome;
  return {
    ...outcome,
    verdict: 'broken',
    words: 'the mistake was never made: this rollout does not write what it changes',
  };
}

async function rollout(
  spec: Record<string, unknown>,
  options: Parameters<typeof createCloud>[0],
  more: {
    usual?: ReadonlySet<string>;
    complaintsCount?: boolean;
    onComplaint?: (words: string) => void;
    onPod?: (pod: KubeObject) => void;
  },
): Promise<Outcome> {
  const { usual, complaintsCount = false, onComplaint, onPod } = more;
  const cloud = await createCloud({ capacity: { cpu: '8', memory: '32Gi' }, ...options, images: [clientImage] });
  const begun = cloud.clock.now();
  const seen = watch(cloud);
  if (onPod !== undefined) cloud.rehearsal.sandbox.api.store.subscribe('pods', ({ object }) => onPod(object));
  const outcome = (verdict: Outcome['verdict'], words = ''): Outcome => ({
    verdict,
    words: words.replaceAll(/\s+/g, ' ').slice(0, 600),
    seconds: Math.round((cloud.clock.now() - begun) / 1000),
  });
  let crash: Error | undefined;
  let operator: RunningOperator | undefined;
  const judged = async (): Promise<Outcome> => {
    operator = await cloud.startOperator();
    operator.ended.catch((error: Error) => {
      crash = error;
    });
    await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
    const over = () =>
      seen.ready || crash !== undefined || cloud.clock.now() - Math.max(seen.changed, begun) > patience.still;
    await runUntil(cloud, over, patience.whole);
    const healed = seen.complaints.length;
    if (seen.ready) await cloud.clock.advance(patience.afterwards);
    for (const words of seen.complaints) onComplaint?.(words);
    const complaints = seen.complaints.filter((words) => usual?.has(words) !== true);
    const later = seen.complaints.slice(healed).filter((words) => usual?.has(words) !== true);
    if (!seen.ready) return outcome('killed', [seen.words(), ...complaints.slice(-1)].filter(Boolean).join(' | '));
    if (complaintsCount && complaints.length > 0) return outcome('killed', complaints[0]);
    if (later.length > 0) return outcome('killed', later[0]);
    const failed = (await use(cloud)) ?? (await stop(cloud));
    return failed === undefined ? outcome('survived', complaints[0]) : outcome('killed', failed);
  };
  try {
    const result = await judged();
    if (crash !== undefined) return outcome('broken', `operator: ${crash.stack}`);
    const bug = seen.complaints.find((words) => words.includes('ended with 70:'));
    return bug === undefined ? result : outcome('broken', bug);
  } catch (error) {
    return outcome('broken', error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    // Ended, it lets go of its signals, and with them of the whole cloud.
    operator?.kill();
    cloud.rehearsal.stop();
  }
}
