import { program } from '../kubernetes.ts';
import { pods } from '../pods.ts';
import { until } from '../until.ts';

interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly uid: string };
    readonly memory?: { readonly workingSetBytes?: number };
  }[];
}

/** Bytes that each pod has, by its uid, as far as the kubelets have counted them. */
async function workingSets(): Promise<ReadonlyMap<string, number>> {
  const nodes = (await program('kubectl', 'get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}')).split(' ');
  const summaries = await Promise.all(
    nodes.map((node) => program('kubectl', 'get', '--raw', `/api/v1/nodes/${node}/proxy/stats/summary`)),
  );
  const all = summaries.flatMap((text) => (JSON.parse(text) as Summary).pods);
  return new Map(all.map(({ podRef, memory }) => [podRef.uid, memory?.workingSetBytes ?? 0]));
}

/** MiB of memory that the pods of a service have on all nodes (working set); 0 without any. A kubelet counts them some seconds after they began. */
export async function memoryOf(service: string): Promise<number> {
  const sizes = await until({
    what: `memory of each pod of ${service}`,
    seconds: 120,
    probe: async () => {
      const [sets, found] = await Promise.all([workingSets(), pods(`app.kubernetes.io/name=${service}`, ['Running'])]);
      const each = found.map(({ metadata }) => sets.get(metadata.uid) ?? 0);
      return each.every((bytes) => bytes > 0) ? each : undefined;
    },
    explain: () => program('kubectl', 'get', 'pods', '--all-namespaces', '-l', `app.kubernetes.io/name=${service}`),
  });
  return Math.round(sizes.reduce((sum, one) => sum + one, 0) / 2 ** 20);
}
