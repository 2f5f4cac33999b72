import type { StoredObject } from '@openstack-operator/kube';
import { conditionOf } from './conditions.ts';
import { lastWordsOf } from './last-words.ts';

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

/**
 * What keeps a pod from being ready: not scheduled, an image, a container's last words; undefined when nothing does.
 * `unmounted`: what the kubelet says of a pod whose volumes cannot be mounted.
 */
export function podWords(pod: StoredObject, unmounted: (pod: StoredObject) => string | undefined): string | undefined {
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
      const said = ended.exitCode === 0 ? 'its log says why' : lastWordsOf(ended.message ?? '');
      return `container ${container.name} ended with ${ended.exitCode}${said ? `: ${said}` : ''}`;
    }
    const waiting = container.state?.waiting;
    if (waiting?.reason === undefined) continue;
    if (['ContainerCreating', 'PodInitializing'].includes(waiting.reason)) {
      const said = unmounted(pod);
      if (said !== undefined) return said;
    } else {
      return `container ${container.name}: ${waiting.reason}${waiting.message ? `: ${waiting.message}` : ''}`;
    }
  }
  const scheduled = conditionOf(pod, 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled.message : undefined;
}
