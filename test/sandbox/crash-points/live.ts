import type { RunningOperator } from '@openstack-operator/cli';
import { ConnectionError, type HttpRequest, type KubeObject, type Transport } from '@openstack-operator/kube';
import { type Cloud, createCloud } from '../rollout/cloud.ts';
import { differences, finalObjects } from '../rollout/normalise.ts';
import type { Phase } from './life.ts';
import { watchWorld } from './world.ts';

/**
 * A moment at which an operator can die: before or after a write, and what its object said then. What others said does
 * not count: a started operator makes the writes of a burst in another order.
 */
export type Point = string;

/** How one life of a cloud went. */
export interface Account {
  /** Moments of its writes, the first of those between which nothing whatever happened. */
  readonly points: readonly Point[];
  /** All moments of its writes. */
  readonly moments: ReadonlySet<Point>;
  readonly writes: number;
  /** In which burst of writes a point is: how often the operator had been at rest before. */
  readonly bursts: ReadonlyMap<Point, number>;
  /** States in which the operator had nothing to do. */
  readonly rests: ReadonlySet<string>;
  /** Phase -> its final objects and how they came about. */
  readonly ends: ReadonlyMap<string, Record<string, unknown>>;
  readonly deaths: readonly Point[];
}

/** How a life is disturbed. */
export interface Disturbance {
  /**
   * Whether the operator dies here. `recovered`: since its start it has come to rest in a state that the undisturbed one
   * knows, or made writes of the undisturbed one, so that it is at work again after an earlier death.
   */
  readonly strikes: (point: Point, recovered: boolean) => boolean;
  readonly undisturbed: Account;
  /** Asked at such a rest: whether the life may end here, as it goes on like the undisturbed one. */
  readonly enough?: (last: Point) => boolean;
}

/** Milliseconds until a dead operator is started again: at once, as a pod, as one on another node. */
const downtimes = [0, 1000, 15_000];
/** So many moments of the undisturbed life, two for each write, are a recovery. */
const stride = 4;
/** What waits for its time (a count of events) is written as well, in ms. */
const settled = 65_000;

/** Minutes until what is done to a cloud has been dealt with: a storage node leaves by and by. */
const patience = 360;

/**
 * Leads a cloud through phases. Whenever its operator dies it is started again, and the cloud has to arrive where it
 * does without that.
 * @throws Error that names the deaths when it does not
 */
export async function live(phases: readonly Phase[], disturbance?: Disturbance): Promise<Account> {
  const points = new Map<string, Point>();
  const moments = new Set<Point>();
  const bursts = new Map<Point, number>();
  const rests = new Set<string>();
  let resting = 0;
  let over = false;
  const ends = new Map<string, Record<string, unknown>>();
  const deaths: Point[] = [];
  let writes = 0;
  let phase = 'start';
  let rested = true;
  let known = 0;
  let life = new AbortController();
  let operator: RunningOperator | undefined;

  const meet = (moment: string, object: string, { signal }: AbortController) => {
    if (signal.aborted) throw killed();
    const point = `${phase}: ${moment} at ${world.stateOf(object)}`;
    const { version } = cloud.rehearsal.sandbox.api.store;
    const instant = `${version} ${cloud.clock.now()}`;
    if (!points.has(instant)) points.set(instant, point);
    if (!bursts.has(point)) bursts.set(point, resting);
    moments.add(point);
    if (disturbance?.undisturbed.moments.has(point) === true) known++;
    if (disturbance?.strikes(point, rested || known > stride) !== true) return;
    deaths.push(point);
    life.abort();
    throw killed();
  };
  const wire = (transport: Transport): Transport => {
    const own = life;
    return {
      async request(request, signal) {
        if (request.method === 'GET') return await transport.request(request, signal);
        const [write, object] = named(request);
        meet(`before ${write}`, object, own);
        const answer = await transport.request(request, signal);
        writes++;
        meet(`after ${write}`, object, own);
        return answer;
      },
      close: () => transport.close(),
    };
  };
  const cloud: Cloud = await createCloud({ wire });
  const world = watchWorld(cloud);

  const start = async () => {
    life = new AbortController();
    rested = deaths.length === 0;
    known = 0;
    const { signal } = life;
    operator = await cloud.startOperator({ killed: signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return undefined;
    });
  };
  /** Lets time pass until that holds, however often the operator dies. */
  const until = async (holds: () => boolean) => {
    for (;;) {
      await cloud.until(() => {
        if (operator?.runtime.idle === true) {
          resting++;
          if (disturbance === undefined) rests.add(world.state());
          else rested ||= disturbance.undisturbed.rests.has(world.state());
        }
        const last = deaths.at(-1);
        over ||= rested && last !== undefined && disturbance?.enough?.(last) === true;
        return life.signal.aborted || over || holds();
      }, patience);
      if (over || !life.signal.aborted) return;
      await cloud.clock.advance(downtimes[deaths.length % downtimes.length] as number);
      await start();
    }
  };

  await start();
  try {
    for (const { name, act, done } of phases) {
      phase = name;
      await act(cloud);
      await until(() => done(cloud));
      if (over) break;
      const end = cloud.clock.now() + settled;
      await until(() => cloud.clock.now() >= end && done(cloud));
      if (over) break;
      ends.set(name, { ...finalObjects(cloud.rehearsal.objects()), history: world.history() });
      const expected = disturbance?.undisturbed.ends.get(name);
      const found = expected === undefined ? [] : differences(expected, ends.get(name) ?? {});
      if (found.length > 0) throw new Error(`other final objects than undisturbed:\n  ${found.join('\n  ')}`);
    }
  } catch (error) {
    const died = deaths.length === 0 ? 'without a death' : `killed ${deaths.join('\nkilled ')}`;
    throw new Error(`${phase}: ${(error as Error).message}\n${died}`, { cause: error });
  } finally {
    life.abort();
    cloud.rehearsal.stop();
  }
  return { points: [...new Set(points.values())], moments, writes, bursts, rests, ends, deaths };
}

function killed(): ConnectionError {
  return new ConnectionError('ECONNRESET', 'the process was killed');
}

/** A write without what chance decides (of an event, what it says), and the name of its object. */
function named({ method, path, body }: HttpRequest): readonly [write: string, object: string] {
  const [resource = ''] = path.split('?');
  if (method !== 'POST') {
    const write = `${method} ${resource.replace(/(\/events\/).*/, '$1*')}`;
    return [
      write,
      resource
        .replace(/\/status$/, '')
        .split('/')
        .at(-1) ?? '',
    ];
  }
  const { kind, metadata, regarding, reason } = JSON.parse(String(body)) as KubeObject & {
    regarding?: { name: string };
    reason?: string;
  };
  const name = metadata.name ?? '';
  return [`${method} ${kind} ${regarding === undefined ? name : `${reason} of ${regarding.name}`}`, name];
}
