import type { StoredObject } from '@openstack-operator/kube';
import { conditionOf } from './conditions.ts';
import { terminationMessageOf } from './termination-message.ts';

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}
interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly exitCode?: number; readonly reason?: string; readonly message?: string };
}

/** What events say of an object. */
type EventWords = (object: StoredObject) => string | undefined;

/**
 * What keeps a pod from being ready: not scheduled, an image, a container's last words; undefined when nothing does.
 * `eventWords`: what the kubelet says of a pod whose volumes cannot be mounted.
 */
export function podWords(pod: StoredObject, eventWords: EventWords): string | undefined {
  const status = (pod['status'] ?? {}) as {
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
  const { initContainerStatuses = [], containerStatuses = [] } = status;
  for (const container of [...initContainerStatuses, ...containerStatuses]) {
    const { terminated } = container.state ?? {};
    const ended = terminated ?? container.lastState?.terminated;
    // What was started again should not have ended at all: nova-compute that cannot start ends with 0 (seen live).
    const failed = ended?.exitCode !== 0 || (terminated === undefined && containerStatuses.includes(container));
    if (ended !== undefined && failed && container.ready !== true) {
      // The kubelet keeps the end of the log of what failed only.
      const said = ended.exitCode === 0 ? 'its log says why' : terminationMessageOf(ended.message ?? '');
      return `container ${container.name} ended with ${ended.exitCode}${said ? `: ${said}` : ''}`;
    }
    const waiting = container.state?.waiting;
    if (waiting?.reason === undefined) continue;
    if (['ContainerCreating', 'PodInitializing'].includes(waiting.reason)) {
      const said = eventWords(pod);
      if (said !== undefined) return said;
    } else {
      return `container ${container.name}: ${waiting.reason}${waiting.message ? `: ${waiting.message}` : ''}`;
    }
  }
  const scheduled = conditionOf(pod, 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled.message : undefined;
}

/** What comes before the reason of a refusal: it has the name of a pod in it, which is another one at each try. */
const refusalPrefix =
  /^(?:\(combined from similar events\): )?(?:Error creating: |[Cc]reate Pod \S+ in StatefulSet \S+ failed error: )?(?:(?:pods|Pod) "[^"]*" is (?:forbidden|invalid): )?/;

/**
 * Why the API server refuses the pods of a workload or Job (pod security, a quota, a webhook), in its words; undefined
 * when it does not. `eventWords`: what an event of reason FailedCreate says; a Deployment has a condition for it.
 */
export function refusalWords(workload: StoredObject, eventWords: EventWords): string | undefined {
  const failure = conditionOf(workload, 'ReplicaFailure');
  const said = failure?.status === 'True' ? failure.message : eventWords(workload);
  if (said === undefined) return undefined;
  // Before the words, which may be cut off.
  const wayOut = said.includes('violates PodSecurity')
    ? ` (pods that use their node need label pod-security.kubernetes.io/enforce=privileged on namespace ${workload.metadata.namespace}, see docs/guides/install.md)`
    : '';
  return `its pods are refused${wayOut}: ${said.replace(refusalPrefix, '')}`;
}
