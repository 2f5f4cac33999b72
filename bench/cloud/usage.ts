import { readFileSync } from 'node:fs';
import { operatorNamespace } from '@openstack-operator/cli';
import { type Client, Node } from '@openstack-operator/kube';

/** Processor seconds that the machine has worked since its start (/proc/stat, hundredths of seconds). */
export function machineSeconds(): number {
  const [, ...ticks] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').trim().split(/\s+/).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = ticks;
  return (user + nice + system + irq + softirq) / 100;
}

interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly namespace: string };
    readonly containers?: readonly { readonly cpu?: { readonly usageCoreNanoSeconds?: number } }[];
  }[];
}

/** Processor seconds of the operator's containers that run, as the kubelets measure them (stats/v1alpha1 Summary). */
export async function operatorSeconds(client: Client): Promise<number> {
  let seconds = 0;
  for (const { metadata } of (await client.list(Node)).items) {
    const { pods } = (await client.raw(`/api/v1/nodes/${metadata.name}/proxy/stats/summary`)) as Summary;
    for (const { containers = [] } of pods.filter(({ podRef }) => podRef.namespace === operatorNamespace))
      for (const { cpu } of containers) seconds += (cpu?.usageCoreNanoSeconds ?? 0) / 1e9;
  }
  return seconds;
}
