import { program } from './kubernetes.ts';
import { until } from './until.ts';

/** Label of all that the operator makes. */
export const ours = 'app.kubernetes.io/managed-by=openstack-operator';

/** A pod, as far as suites look at it. */
export interface PodState {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
  };
  readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
  readonly status: {
    readonly phase: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly containerID?: string; readonly restartCount: number }[];
  };
}

/** The pods with these labels that have not ended. */
export async function pods(selector = ours): Promise<PodState[]> {
  const text = await program('kubectl', 'get', 'pods', '--all-namespaces', '-l', selector, '-o', 'json');
  return (JSON.parse(text) as { items: PodState[] }).items.filter(
    ({ status }) => !['Succeeded', 'Failed'].includes(status.phase),
  );
}

export function isReady({ metadata, status }: PodState): boolean {
  const ready = status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  return ready && metadata.deletionTimestamp === undefined;
}

/** Deletes a pod, at once or as gently as it asks for. */
export async function deletePod({ metadata }: PodState, { force = false } = {}): Promise<void> {
  const how = force ? ['--force', '--grace-period=0'] : [];
  await program('kubectl', 'delete', 'pod', '-n', metadata.namespace, metadata.name, '--wait=false', ...how);
}

/** Waits until the only pod with these labels is another one than that, and Ready. */
export async function replaced(selector: string, old: PodState, seconds: number): Promise<PodState> {
  return await until({
    what: `a pod in the place of ${old.metadata.name}`,
    seconds,
    probe: async () => {
      const [only, ...more] = await pods(selector);
      const other = only !== undefined && more.length === 0 && only.metadata.uid !== old.metadata.uid;
      return other && isReady(only) ? only : undefined;
    },
    explain: () => program('kubectl', 'describe', 'pods', '--all-namespaces', '-l', selector),
  });
}

/** The only pod with these labels. @throws Error when there is none, or more than one */
export async function podOf(selector: string): Promise<PodState> {
  const [only, ...more] = await pods(selector);
  if (only === undefined || more.length > 0)
    throw new Error(`${only === undefined ? 0 : more.length + 1} pods have the labels ${selector}, expected 1`);
  return only;
}
