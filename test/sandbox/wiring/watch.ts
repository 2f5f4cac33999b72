import type { StoredObject } from '@openstack-operator/kube';
import { conditionOf, terminationMessageOf } from '@openstack-operator/openstack';
import type { Cloud } from '../rollout/cloud.ts';

/** What is seen of a rollout from outside. */
export interface Watch {
  /** Whether the control plane is Ready. */
  readonly ready: boolean;
  /** When any of our resources last said something new. */
  readonly changed: number;
  /** What containers said that ended with an error, or that were restarted, in order; each once. */
  readonly complaints: readonly string[];
  /** What the first resource says that is not Ready and waits for no other one. */
  words(): string;
}

/** Follows what our resources say, and what processes say that end with an error. */
export function watch(cloud: Cloud): Watch {
  const resources = new Map<string, StoredObject>();
  const complaints = new Set<string>();
  const seen = { ready: false, changed: 0 };
  cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ object, old, type }) => {
    if (type === 'DELETED') return;
    if (object.apiVersion.startsWith('openstack.k8s.io/')) {
      resources.set(`${object.kind} ${object.metadata.name}`, object);
      if (conditionsOf(object) !== conditionsOf(old)) seen.changed = cloud.clock.now();
      if (object.kind === 'OpenStackControlPlane') seen.ready = conditionOf(object, 'Ready')?.status === 'True';
    }
    if (object.kind === 'Pod' && object.metadata.namespace === 'openstack')
      for (const words of failuresOf(object)) complaints.add(words);
  });
  return {
    get ready() {
      return seen.ready;
    },
    get changed() {
      return seen.changed;
    },
    get complaints() {
      return [...complaints];
    },
    words() {
      const unready = [...resources.values()].flatMap((object) => {
        const ready = conditionOf(object, 'Ready');
        const { kind, metadata } = object;
        return ready?.status === 'True' ? [] : [`${kind} ${metadata.name}: ${ready?.message ?? 'no status'}`];
      });
      const children = unready.filter((words) => !words.startsWith('OpenStackControlPlane'));
      return children.find((words) => !/: waiting for \w+ my-cloud/.test(words)) ?? children[0] ?? unready[0] ?? '';
    },
  };
}

function conditionsOf(object: StoredObject | undefined): string {
  return JSON.stringify((object?.['status'] as { conditions?: unknown } | undefined)?.conditions ?? []);
}

interface ContainerStatus {
  readonly name: string;
  readonly restartCount: number;
  readonly state?: { readonly terminated?: Terminated };
  readonly lastState?: { readonly terminated?: Terminated };
}

interface Terminated {
  readonly exitCode: number;
  readonly message?: string;
}

/** Exit codes of containers that were asked to end. */
const asked = new Set([0, 137, 143]);

function failuresOf(pod: StoredObject): string[] {
  const { containerStatuses = [], initContainerStatuses = [] } = (pod['status'] ?? {}) as {
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
  };
  const [owner] = pod.metadata.ownerReferences ?? [];
  // A ReplicaSet's name ends with the hash of its template, which is another one with every mistake.
  const title =
    owner?.kind === 'ReplicaSet' ? owner.name.replace(/-[a-z0-9]+$/, '') : (owner?.name ?? pod.metadata.name);
  return [...initContainerStatuses, ...containerStatuses].flatMap(({ name, restartCount, state, lastState }) => {
    const terminated = state?.terminated ?? lastState?.terminated;
    if (terminated === undefined) return [];
    if (!asked.has(terminated.exitCode))
      return [`${title} ${name} ended with ${terminated.exitCode}: ${terminationMessageOf(terminated.message ?? '')}`];
    return restartCount > 0 ? [`${title} ${name} was restarted: its liveness probe failed`] : [];
  });
}
