import { controlPlane, program } from '../kubernetes.ts';
import { until } from '../until.ts';

const { name, namespace } = (await controlPlane()).metadata;

/** What kubectl prints, in the namespace of the cloud. @throws Error with its words when it fails */
export const kubectl = (...words: readonly string[]): Promise<string> => program('kubectl', '-n', namespace, ...words);

/** How kubectl calls the control plane. */
export const plane = ['openstackcontrolplane', name] as const;

/** Of a node, what the status of the control plane says. */
export interface NodeStatus {
  readonly name: string;
  readonly phase: string;
  readonly maintenance?: { readonly phase?: string; readonly message?: string };
}

/** The nodes of the cloud, as its status lists them. */
export async function nodes(): Promise<readonly NodeStatus[]> {
  const { status } = await controlPlane();
  return (status as { readonly nodes?: readonly NodeStatus[] }).nodes ?? [];
}

/** Changes `spec.nova`, and has the agents of all nodes replaced. Resolves when all is Ready with it. */
export async function changeNova(nova: object): Promise<void> {
  await kubectl('patch', ...plane, '--type=merge', '-p', JSON.stringify({ spec: { nova } }));
  await kubectl('annotate', '--overwrite', ...plane, 'openstack.k8s.io/roll-node-agents=true');
  await until({
    what: 'the agents of all nodes to be replaced',
    seconds: 600,
    probe: async () => {
      const { metadata, status } = JSON.parse(await kubectl('get', ...plane, '-o', 'json')) as {
        readonly metadata: { readonly generation: number };
        readonly status: {
          readonly readyGeneration?: number;
          readonly conditions: readonly { type: string; status: string }[];
        };
      };
      const sets = JSON.parse(await kubectl('get', 'daemonsets', '-o', 'json')) as {
        readonly items: readonly {
          readonly status: Record<string, number | undefined>;
        }[];
      };
      const isReady = status.conditions.find(({ type }) => type === 'Ready')?.status === 'True';
      const isNew = sets.items.every(
        // None is left out.
        ({ status: { desiredNumberScheduled, updatedNumberScheduled = 0, numberReady } }) =>
          updatedNumberScheduled === desiredNumberScheduled && numberReady === desiredNumberScheduled,
      );
      return (isReady && status.readyGeneration === metadata.generation && isNew) || undefined;
    },
    explain: () => kubectl('get', 'openstackcontrolplane,nova,daemonset,pod', '-o', 'wide'),
  });
  await kubectl('annotate', ...plane, 'openstack.k8s.io/roll-node-agents-');
}

/** Says that a node is in maintenance, or with null that it no longer is. Resolves when its phase is the one awaited. */
export async function maintain(node: string, reason: string | null, phase: string | undefined): Promise<void> {
  const annotation = 'openstack.k8s.io/maintenance';
  await kubectl(
    'annotate',
    '--overwrite',
    'node',
    node,
    reason === null ? `${annotation}-` : `${annotation}=${reason}`,
  );
  const found = async () => (await nodes()).find((one) => one.name === node)?.maintenance ?? {};
  await until({
    what: `the maintenance of ${node} to be ${phase ?? 'over'}`,
    seconds: 300,
    probe: async () => (await found()).phase === phase || undefined,
    explain: async () => `${JSON.stringify(await found())}\n${await kubectl('get', 'job,pod')}`,
  });
}
