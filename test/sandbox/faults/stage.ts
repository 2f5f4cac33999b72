import type { RunningOperator } from '@openstack-operator/cli';
import { type HttpRequest, type HttpResponse, type Lease, type Random, type Transport } from '@openstack-operator/kube';
import type { EventFault, Faults, RequestFault, RequestInfo } from '@openstack-operator/sandbox';
import { type Cloud, createCloud } from '../rollout/cloud.ts';
import { type ProcessClock, processClock } from './process-clock.ts';

/** One operator process, from its start to its end. */
export interface Life {
  readonly identity: string;
  readonly clock: ProcessClock;
  readonly dead: AbortController;
  /** Whether it asks for the lease before it writes. */
  readonly elected: boolean;
  /** When the renewal was sent that it knows to have arrived, on everybody's clock. */
  renewed: number | undefined;
  running?: RunningOperator;
}

/** Hooks of faults: the first that says something counts. */
interface Hooks {
  readonly requests: Set<(info: RequestInfo, life: Life) => RequestFault | undefined>;
  readonly events: Set<(info: RequestInfo, life: Life, type: string) => EventFault | undefined>;
  /** Called when a write of a leader is about to be sent. */
  readonly writes: Set<(life: Life) => Promise<void> | void>;
  /** Called when a write of a leader was handled, before it knows. */
  readonly answers: Set<(life: Life) => Promise<void> | void>;
}

/** A cloud with operators, and where faults take hold. */
export interface Stage extends Hooks {
  readonly cloud: Cloud;
  /** Processes that have not ended. */
  readonly lives: Set<Life>;
  /** Who holds the lease, if that one lives. */
  leader(): Life | undefined;
  start(elected?: boolean): Life;
  /** What nobody may do. */
  readonly violations: string[];
  /** Ends every fault of the hooks. */
  calm(): void;
  close(): void;
}

/** Milliseconds after which a leader that has not renewed may begin no write (client-go's renewDeadline). */
const renewDeadline = 10_000;
/** Writes within one moment of virtual time: a whole rollout takes some hundred. More are a quarrel that no time ends. */
const mostAtOnce = 3000;
/** Milliseconds until an operator that ended by itself is started again, as its pod is. */
const restart = 2000;

export async function createStage(seed: number, random: Random): Promise<Stage> {
  const hooks: Hooks = { requests: new Set(), events: new Set(), writes: new Set(), answers: new Set() };
  const lives = new Set<Life>();
  const violations: string[] = [];
  let count = 0;
  let starting: Life | undefined;
  let closed = false;
  let moment = { at: 0, writes: 0 };

  const lifeOf = ({ user }: RequestInfo) => [...lives].find(({ identity }) => identity === user.name);
  const faults: Faults = {
    request(info) {
      const life = lifeOf(info);
      return life && first(hooks.requests, (hook) => hook(info, life));
    },
    event(info, { type }) {
      const life = lifeOf(info);
      return life && first(hooks.events, (hook) => hook(info, life, type));
    },
  };
  const wire = (transport: Transport): Transport => (starting === undefined ? transport : wireOf(starting, transport));
  const cloud = await createCloud({ seed, server: { faults }, wire });
  const { clock } = cloud;

  function wireOf(life: Life, transport: Transport): Transport {
    const isLeader = () => life.elected && life.renewed !== undefined;
    return {
      async request(request, signal) {
        const lease = /\/leases(\/|\?|$)/.test(request.path);
        const write = request.method !== 'GET' && !lease;
        if (write) check(life, request);
        if (write) endQuarrel(request);
        // What left the process in time may arrive late: that alone nobody can prevent.
        if (write && isLeader()) for (const hook of hooks.writes) await hook(life);
        const sent = clock.now();
        const answer = await transport.request(request, signal);
        if (write && isLeader()) for (const hook of hooks.answers) await hook(life);
        await life.clock.awake();
        if (lease && request.method !== 'GET' && answer.status < 300) life.renewed = sent;
        return { ...answer, body: whileAwake(life, answer) };
      },
      close: () => transport.close(),
    };
  }

  function check(life: Life, { method, path }: HttpRequest): void {
    // A review of what the operator may do is a question that is asked by POST.
    if (!life.elected || path.endsWith('/selfsubjectaccessreviews')) return;
    const since = clock.now() - (life.renewed ?? Number.NEGATIVE_INFINITY);
    if (since >= renewDeadline)
      violations.push(`${life.identity} began ${method} ${path} ${since / 1000} s after it had renewed its lease`);
  }

  /** Time stands still while operators write: two that answer each other at once would do so for ever. */
  function endQuarrel({ method, path }: HttpRequest): void {
    if (moment.at !== clock.now()) moment = { at: clock.now(), writes: 0 };
    if (++moment.writes !== mostAtOnce) return;
    violations.push(`${mostAtOnce} writes at one moment, the last of them ${method} ${path}`);
    for (const { dead } of lives) dead.abort();
  }

  function start(elected = true): Life {
    const identity = `operator-${++count}`;
    const life: Life = {
      identity,
      clock: processClock(clock),
      dead: new AbortController(),
      elected,
      renewed: undefined,
    };
    lives.add(life);
    starting = life;
    const { signal } = life.dead;
    const user = { name: identity, groups: ['system:masters'] };
    const running = cloud.rehearsal.startOperator({
      user,
      killed: signal,
      clock: life.clock,
      ...(elected ? { identity } : {}),
    });
    starting = undefined;
    running
      .then((operator) => {
        life.running = operator;
        return operator.ended;
      })
      .catch(() => undefined)
      .finally(() => {
        lives.delete(life);
        if (!signal.aborted && !closed && elected)
          clock.after(restart + random.next() * restart, () => closed || start());
      });
    return life;
  }

  return {
    ...hooks,
    cloud,
    lives,
    violations,
    start,
    leader() {
      const lease = cloud.get('Lease', 'openstack-operator', 'openstack-operator-system') as Lease | undefined;
      return [...lives].find(({ identity }) => identity === lease?.spec?.holderIdentity);
    },
    calm() {
      for (const hook of Object.values(hooks)) hook.clear();
    },
    close() {
      closed = true;
      for (const { dead } of lives) dead.abort();
      cloud.rehearsal.stop();
    },
  };
}

async function* whileAwake({ clock }: Life, { body }: HttpResponse): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    await clock.awake();
    yield chunk;
  }
  await clock.awake();
}

function first<T, R>(all: Iterable<T>, ask: (one: T) => R | undefined): R | undefined {
  for (const one of all) {
    const answer = ask(one);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
