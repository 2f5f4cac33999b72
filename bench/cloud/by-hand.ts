import {
  type Client,
  DaemonSet,
  Deployment,
  Job,
  type KubeObject,
  realClock,
  StatefulSet,
  sleep,
} from '@openstack-operator/kube';
import { kindOf } from '@openstack-operator/openstack';
import type { Stage } from './stages.ts';

const patience = 900_000;

/**
 * Applies every stage as soon as those before it are done, as a person would with the same client who never sleeps.
 * Between two looks at what is awaited are `interval` milliseconds.
 * @throws Error that names the first object that does not become ready
 */
export async function applyByHand(client: Client, stages: readonly Stage[], interval: number): Promise<void> {
  const begun = new Map<string, Promise<void>>();
  const done = (name: string): Promise<void> => {
    const known = begun.get(name);
    if (known !== undefined) return known;
    const stage = stages.find((one) => one.name === name);
    if (stage === undefined) throw new Error(`a stage waits for ${name}, which is none`);
    const promise = apply(stage);
    begun.set(name, promise);
    return promise;
  };
  const apply = async ({ after, objects }: Stage) => {
    await Promise.all(after.map(done));
    await Promise.all(objects.map((object) => client.apply(kindOf(object), object, { fieldManager: 'by-hand' })));
    await Promise.all(objects.map((object) => ready(client, object, interval)));
  };
  await Promise.all(stages.map(({ name }) => done(name)));
}

/** The operator's own judgement would also ask for its annotations, which no hand writes. */
async function ready(client: Client, object: KubeObject, interval: number): Promise<void> {
  const kind = kindOf(object);
  const { namespace = '', name = '' } = object.metadata;
  const begun = realClock.now();
  while (!isReady(await client.get(kind, { namespace, name }))) {
    if (realClock.now() - begun > patience)
      throw new Error(`${kind.kind} ${name} is not ready after ${patience / 1000} s`);
    await sleep(realClock, interval);
  }
}

function isReady(live: KubeObject): boolean {
  const { replicas = 1 } = (live['spec'] ?? {}) as { replicas?: number };
  const status = (live['status'] ?? {}) as Record<string, number | undefined>;
  switch (live.kind) {
    case Deployment.kind:
      return (status['availableReplicas'] ?? 0) >= replicas;
    case StatefulSet.kind:
      return (status['readyReplicas'] ?? 0) >= replicas;
    case DaemonSet.kind:
      return (status['numberReady'] ?? 0) >= Math.max(1, status['desiredNumberScheduled'] ?? 0);
    case Job.kind:
      return (status['succeeded'] ?? 0) > 0;
    default:
      return true;
  }
}
