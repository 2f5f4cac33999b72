import { type Ran, run } from '../kubernetes/clients/command.ts';
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
  readonly spec: {
    readonly containers: readonly {
      readonly name: string;
      readonly image: string;
      readonly volumeMounts?: readonly { readonly mountPath: string }[];
    }[];
  };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly containerID?: string; readonly restartCount: number }[];
  };
}

/** The pods with these labels that have not ended, or those in the phases that are asked for. */
export async function pods(selector = ours, phases = ['Pending', 'Running', 'Unknown']): Promise<PodState[]> {
  const text = await program('kubectl', 'get', 'pods', '--all-namespaces', '-l', selector, '-o', 'json');
  return (JSON.parse(text) as { items: PodState[] }).items.filter(({ status }) => phases.includes(status.phase));
}

/** Whether it is Ready, and not about to end. */
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

/** A container of the cloud. */
export interface Container {
  readonly namespace: string;
  readonly pod: string;
  readonly name: string;
  readonly service: string;
  readonly component: string;
  /** Where something is mounted in it. */
  readonly mounts: readonly string[];
  /** That of its pod: of an agent, that of its node. */
  readonly address: string;
}

/** The containers of the cloud that run and are not about to end, or those of Jobs that are done. */
export async function containers(phase: 'Running' | 'Succeeded' = 'Running'): Promise<Container[]> {
  const lasting = (await pods(ours, [phase])).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return lasting.flatMap(({ metadata, spec, status }) =>
    spec.containers.map(({ name, volumeMounts = [] }) => ({
      namespace: metadata.namespace,
      pod: metadata.name,
      name,
      service: metadata.labels['app.kubernetes.io/name'] ?? '',
      component: metadata.labels['app.kubernetes.io/component'] ?? '',
      mounts: volumeMounts.map(({ mountPath }) => mountPath),
      address: status.podIP ?? '',
    })),
  );
}

/** Runs a command in a container, with that standard input. */
export function execute(
  { namespace, pod, name }: Pick<Container, 'namespace' | 'pod' | 'name'>,
  command: readonly string[],
  stdin = '',
): Promise<Ran> {
  const environment = process.env as Record<string, string>;
  const argv = ['exec', '-i', '-n', namespace, pod, '-c', name, '--', ...command];
  return run('kubectl', argv, { environment, stdin, limit: 120 });
}

/** What a command prints in the first container of a component. @throws Error with its words when it fails */
export async function inComponent(component: string, ...command: readonly string[]): Promise<string> {
  const first = (await containers()).find((one) => one.component === component);
  if (first === undefined) throw new Error(`no pod with the label app.kubernetes.io/component=${component} runs`);
  const { code, stdout, stderr } = await execute(first, command);
  if (code !== 0) throw new Error(`${command.join(' ')} in ${first.pod} ended with ${code}: ${stderr.trim()}`);
  return stdout.trim();
}

/** What a container has said since it began, or since that time (RFC 3339). */
export function logs({ namespace, pod, name }: Container, since?: string): Promise<string> {
  const part = since === undefined ? [] : [`--since-time=${since}`];
  return program('kubectl', 'logs', '-n', namespace, pod, '-c', name, ...part);
}
