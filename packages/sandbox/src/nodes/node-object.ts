import type { INodeCondition } from 'kubernetes-models/v1';
import type { Node, Stored } from '../cluster/kinds.ts';

/** The version that nodes and server report. */
export const KUBERNETES_VERSION = 'v1.36.3';

/** What a Node object is made from. */
export interface NodeDescription {
  readonly name: string;
  readonly address: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { key: string; value?: string; effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute' }[];
  readonly capacity: Readonly<Record<string, string>>;
}

const CONDITIONS = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

/** The Node as its kubelet registers it: Ready, with the well-known labels. */
export function nodeObject(node: NodeDescription, live: Stored<Node> | undefined, now: string): Node {
  const { name, address, labels, taints, capacity } = node;
  const conditions = CONDITIONS.map(([type, status, reason, message]): INodeCondition => {
    const before = live?.status?.conditions?.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
    return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime };
  });
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        ...labels,
      },
    },
    spec: { ...(taints && { taints: taints.map((taint) => ({ ...taint })) }) },
    status: {
      capacity: { ...capacity },
      allocatable: { ...capacity },
      conditions,
      addresses: [
        { type: 'InternalIP', address },
        { type: 'Hostname', address: name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        architecture: 'amd64',
        bootID: name,
        containerRuntimeVersion: 'sandbox://1',
        kernelVersion: '6.12.0',
        kubeProxyVersion: '',
        kubeletVersion: KUBERNETES_VERSION,
        machineID: name,
        operatingSystem: 'linux',
        osImage: 'sandbox',
        systemUUID: name,
      },
    },
  };
}
