import { Job, Lease, Pod, type Random } from '@openstack-operator/kube';
import type { EventFault, RequestFault, RequestInfo } from '@openstack-operator/sandbox';
import type { Life, Stage } from './stage.ts';

/** Begins; what it returns ends it. */
export type Fault = (stage: Stage, random: Random) => (() => void) | void;

const one = <T>(random: Random, choices: readonly T[]): T => choices[Math.floor(random.next() * choices.length)] as T;
const between = (random: Random, least: number, most: number) => least + random.next() * (most - least);
const isWatch = ({ verb }: RequestInfo) => verb === 'watch';
const isRead = ({ method }: RequestInfo) => method === 'GET';
const isWrite = (info: RequestInfo) => !isRead(info);
const any = () => true;

/** Requests of that sort meet a fault, so often. */
function requests(which: (info: RequestInfo) => boolean, rate: number, make: (random: Random) => RequestFault): Fault {
  return ({ requests: hooks }, random) => {
    const hook = (info: RequestInfo) => (which(info) && random.next() < rate ? make(random) : undefined);
    hooks.add(hook);
    return () => hooks.delete(hook);
  };
}

/** Events of watches meet a fault, so often. */
function events(rate: number, make: (random: Random) => EventFault): Fault {
  return ({ events: hooks }, random) => {
    const hook = () => (random.next() < rate ? make(random) : undefined);
    hooks.add(hook);
    return () => hooks.delete(hook);
  };
}

/** Happens to the leader, if there is one. */
function leader(act: (life: Life, stage: Stage, random: Random) => (() => void) | void): Fault {
  return (stage, random) => {
    const life = stage.leader();
    return life && act(life, stage, random);
  };
}

/** Once, at the next write of a leader: before it arrives, or before its answer does. */
function atWrite(when: 'writes' | 'answers', act: (life: Life, stage: Stage, random: Random) => unknown): Fault {
  return (stage, random) => {
    const hook = async (life: Life) => {
      stage[when].delete(hook);
      await act(life, stage, random);
    };
    stage[when].add(hook);
    return () => stage[when].delete(hook);
  };
}

/** Stops a process, as SIGSTOP or a paused machine; longer than its lease, or not quite. */
function freeze(life: Life, stage: Stage, random: Random): () => void {
  life.clock.freeze();
  const thaw = () => life.clock.thaw(random.next() < 0.5);
  const timer = stage.cloud.clock.after(between(random, 3000, 40_000), thaw);
  return () => {
    timer.cancel();
    thaw();
  };
}

/** The pods of that sort which run now. */
function running({ cloud }: Stage, which: (name: string, owner: string) => boolean) {
  return cloud.list('Pod').filter(({ metadata, status }) => {
    const { phase } = (status ?? {}) as { phase?: string };
    return phase === 'Running' && which(metadata.name, metadata.ownerReferences?.[0]?.kind ?? '');
  });
}

/** Kills the processes of pods. */
function processes(which: (name: string, owner: string) => boolean): Fault {
  return (stage) => {
    for (const { metadata } of running(stage, which)) {
      const ref = { namespace: metadata.namespace ?? '', name: metadata.name };
      try {
        stage.cloud.rehearsal.sandbox.pods.kill(ref);
      } catch {
        // Ended in this moment by itself.
      }
    }
  };
}

/** Writes of the sandbox's administrator; what is not there any more needs nothing. */
const quietly = (promise: Promise<unknown>) => void promise.catch(() => undefined);
const leaseRef = { namespace: 'openstack-operator-system', name: 'openstack-operator' };
const steal = (stage: Stage) =>
  stage.cloud.rehearsal.sandbox
    .client()
    .patch(Lease, leaseRef, 'merge', { spec: { holderIdentity: 'somebody-else', leaseDurationSeconds: 15 } })
    .catch(() => undefined);

/** What can go wrong. To add to it is to add a line. */
export const faults: Readonly<Record<string, Fault>> = {
  'writes meet conflicts (409)': requests(isWrite, 0.2, () => ({ kind: 'status', code: 409, reason: 'Conflict' })),
  'requests are throttled (429 with Retry-After)': requests(any, 0.2, (random) => ({
    kind: 'status',
    code: 429,
    reason: 'TooManyRequests',
    retryAfterSeconds: Math.ceil(between(random, 0, 20)),
  })),
  'the API server fails (5xx)': requests(any, 0.2, (random) => ({
    kind: 'status',
    code: one(random, [500, 503, 504]),
    ...(random.next() < 0.3 ? { retryAfterSeconds: Math.ceil(between(random, 0, 12)) } : {}),
  })),
  'connections break before a request arrives': requests(any, 0.2, () => ({ kind: 'drop' })),
  'connections break before an answer arrives': requests(any, 0.2, () => ({ kind: 'dropResponse' })),
  'connections are half open': requests(any, 0.1, () => ({ kind: 'hang' })),
  'requests are slow': requests(any, 0.3, (random) => ({ kind: 'delay', ms: between(random, 0, 20_000) })),
  'reads are slow': requests(isRead, 0.5, (random) => ({ kind: 'delay', ms: between(random, 0, 20_000) })),
  'reads are stale': requests(isRead, 0.5, (random) => ({
    kind: 'stale',
    versions: Math.ceil(between(random, 0, 40)),
  })),
  'watches are refused (410)': requests(isWatch, 0.5, () => ({ kind: 'status', code: 410, reason: 'Expired' })),
  'watches end with ERROR 410': events(0.1, () => ({ kind: 'status', code: 410, reason: 'Expired' })),
  'watches end': events(0.1, () => ({ kind: 'close' })),
  // Never without its connection: an event that is lost for good would be a bug of the server.
  'events are lost, and their connection': events(0.1, () => ({ kind: 'break' })),
  'watches fall silent': events(0.05, () => ({ kind: 'hang' })),
  'events come late': events(0.2, (random) => ({ kind: 'delay', ms: between(random, 0, 15_000) })),
  'events come twice': events(0.3, () => ({ kind: 'repeat' })),
  'the API server goes away (GOAWAY)': ({ cloud }, random) => {
    const { api } = cloud.rehearsal.sandbox;
    api.goAway();
    const timers = [1, 2, 3].map(() => cloud.clock.after(between(random, 0, 20_000), () => api.goAway()));
    return () => timers.forEach((timer) => timer.cancel());
  },
  'the API server is down': requests(any, 1, () => ({ kind: 'drop' })),
  'the leader is cut off': leader((life, stage) => {
    const cut = ({ user }: RequestInfo) => (user.name === life.identity ? ({ kind: 'hang' } as const) : undefined);
    stage.requests.add(cut);
    stage.events.add(cut);
    return () => [stage.requests, stage.events].forEach((hooks) => hooks.delete(cut));
  }),
  'the leader stands still': leader(freeze),
  'the leader stands still before a write arrives': atWrite('writes', async (life, stage, random) => {
    freeze(life, stage, random);
    await life.clock.awake();
  }),
  'the leader stands still before an answer arrives': atWrite('answers', freeze),
  'the leader stands still before it tries again': (stage, random) => {
    const hook = (info: RequestInfo, life: Life) => {
      if (isRead(info) || info.resource === 'leases' || !life.elected) return undefined;
      stage.requests.delete(hook);
      stage.cloud.clock.after(1000, () => freeze(life, stage, random));
      return { kind: 'status', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 2 } as const;
    };
    stage.requests.add(hook);
    return () => stage.requests.delete(hook);
  },
  'the clock of the leader is set': leader((life, _stage, random) =>
    life.clock.step(one(random, [-1, 1]) * between(random, 1000, 100_000)),
  ),
  'the lease is taken by somebody else': (stage) => void steal(stage),
  'the lease is taken while the leader writes': atWrite('answers', (_life, stage) => steal(stage)),
  'the lease is deleted': ({ cloud }) => quietly(cloud.rehearsal.sandbox.client().delete(Lease, leaseRef)),
  'the leader is killed': leader(({ dead }, stage) => {
    dead.abort();
    stage.start();
  }),
  'the leader is killed while it writes': atWrite('answers', ({ dead }, stage) => {
    dead.abort();
    stage.start();
  }),
  'the leader is stopped': leader(({ running: operator }) => quietly(operator?.stop() ?? Promise.resolve())),
  'a second operator waits for the lease': (stage) => {
    const { dead } = stage.start();
    return () => dead.abort();
  },
  'an operator asks for no lease': (stage) => {
    const { dead } = stage.start(false);
    return () => dead.abort();
  },
  'the node is lost': ({ cloud }) => {
    const { nodes } = cloud.rehearsal.sandbox;
    nodes.stop('node-1');
    return () => nodes.start('node-1');
  },
  'the database dies': processes((name) => name.includes('-mariadb-')),
  'the broker dies': processes((name) => name.includes('-rabbitmq-')),
  'all processes die': processes(() => true),
  'processes of Jobs die': processes((_name, owner) => owner === 'Job'),
  'Jobs run twice': (stage) => {
    for (const { metadata } of running(stage, (_name, owner) => owner === Job.kind)) {
      const ref = { namespace: metadata.namespace ?? '', name: metadata.name };
      quietly(stage.cloud.rehearsal.sandbox.client().delete(Pod, ref, { gracePeriodSeconds: 0 }));
    }
  },
};
