import { type Client, realClock, sleep } from '@openstack-operator/kube';
import { conditionOf, Keystone } from '@openstack-operator/openstack';
import { manifest } from './objects.ts';

/** The namespace of those who share the operator with the user who is measured. */
export const victim = 'victim';

/** Seconds from one of them to the next. */
const PERIOD = 5;
/** Seconds after which one is given up. */
const PATIENCE = 60;
/** Milliseconds between two looks at one. */
const LOOK = 50;

/** How one of them fared. */
export interface Wait {
  /** Seconds from the request that creates it to its first conditions; 60 when it has none by then. */
  readonly seconds: number;
  /** Milliseconds until the server answered, the longest of all looks at it: its part of the seconds. */
  readonly answer: number;
}

/** For so many seconds creates a Keystone every 5 s, the next one once the one before has a status, and tells of each. */
export async function createVictims(
  client: Client,
  seconds: number,
  signal: AbortSignal,
  told: (wait: Wait) => void,
): Promise<void> {
  const begun = performance.now();
  const until = (second: number) => sleep(realClock, begun + second * 1000 - performance.now(), signal);
  for (let turn = 0; turn * PERIOD < seconds; turn++) {
    await until(turn * PERIOD);
    if (performance.now() - begun > seconds * 1000) return;
    told(await waitOf(client, `keystone-${turn}`, signal));
  }
  await until(seconds);
}

async function waitOf(client: Client, name: string, signal: AbortSignal): Promise<Wait> {
  let answer = 0;
  const timed = async <T>(request: () => Promise<T>): Promise<T> => {
    const begun = performance.now();
    const answered = await request();
    answer = Math.max(answer, performance.now() - begun);
    return answered;
  };
  const begun = performance.now();
  await timed(() => client.create(Keystone, manifest(Keystone, name, { spec: {} }, { namespace: victim })));
  for (;;) {
    const object = await timed(() => client.get(Keystone, { namespace: victim, name }, { signal }));
    const seconds = (performance.now() - begun) / 1000;
    if (conditionOf(object, 'Ready') !== undefined || seconds > PATIENCE)
      return { seconds: Math.min(seconds, PATIENCE), answer };
    await sleep(realClock, LOOK, signal);
  }
}
