import { program } from '../kubernetes.ts';
import { pods } from '../pods.ts';

interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly uid: string };
    readonly memory?: { readonly workingSetBytes?: number };
  }[];
}

/** MiB of memory that the pods of a service have on all nodes, as the kubelets count them (working set). */
export async function memoryOf(service: string): Promise<number> {
  const uids = new Set((await pods(`app.kubernetes.io/name=${service}`)).map(({ metadata }) => metadata.uid));
  const nodes = (await program('kubectl', 'get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}')).split(' ');
  const summaries = await Promise.all(
    nodes.map((node) => program('kubectl', 'get', '--raw', `/api/v1/nodes/${node}/proxy/stats/summary`)),
  );
  const bytes = summaries
    .flatMap((text) => (JSON.parse(text) as Summary).pods)
    .map(({ podRef, memory }) => (uids.has(podRef.uid) ? (memory?.workingSetBytes ?? 0) : 0));
  return Math.round(bytes.reduce((sum, one) => sum + one, 0) / 2 ** 20);
}
