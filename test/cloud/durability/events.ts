import { program } from '../kubernetes.ts';
import { inNode } from '../node.ts';
import { deletePod, type PodState, podOf, replaced } from '../pods.ts';
import { until } from '../until.ts';

/** Something that happens to a node while guests run on it. */
export interface Event {
  readonly name: string;
  /** Seconds without an answer to ping that it may cost, on a machine with nothing else to do. */
  readonly bound: number;
  /** Lets it happen; ends when what was hit is back. */
  readonly happen: () => Promise<void>;
}

/** A node agent: which component it is, of which service of the control plane, and what its absence may cost. */
interface Agent {
  readonly component: string;
  readonly field: 'nova' | 'neutron' | 'ovnNetwork';
  readonly bound: number;
}

/**
 * In user space the switch itself is the data path: without it nothing flows, until its flows are written anew.
 * Everybody else only tells it what to do.
 */
const agents: readonly Agent[] = [
  { component: 'virtlogd', field: 'nova', bound: 1 },
  { component: 'libvirt', field: 'nova', bound: 1 },
  { component: 'compute', field: 'nova', bound: 1 },
  { component: 'metadata-agent', field: 'neutron', bound: 1 },
  { component: 'ovn-controller', field: 'ovnNetwork', bound: 2 },
  { component: 'ovs-settings', field: 'ovnNetwork', bound: 1 },
  { component: 'ovsdb-server', field: 'ovnNetwork', bound: 5 },
  { component: 'ovs-vswitchd', field: 'ovnNetwork', bound: 6 },
];

/** Seconds after which something that does not come back is given up: far beyond any that did. */
const patience = 300;

export const deletions: readonly Event[] = agents.map(({ component, bound }) => ({
  name: `${component}: pod deleted`,
  bound,
  happen: async () => {
    const old = await podOf(labels(component));
    await deletePod(old);
    await replaced(labels(component), old, patience);
  },
}));

export const kills: readonly Event[] = agents.map(({ component, bound }) => ({
  name: `${component}: pod deleted by force`,
  bound,
  happen: async () => {
    const old = await podOf(labels(component));
    await deletePod(old, { force: true });
    await replaced(labels(component), old, patience);
  },
}));

/** Whose turn it is to be replaced is for people to say: the DaemonSets do not do it by themselves for an image. */
export const rolls: readonly Event[] = agents.map(({ component, field, bound }) => ({
  name: `${component}: image rolled`,
  bound,
  happen: async () => {
    const old = await podOf(labels(component));
    const image = old.spec.containers[0]?.image ?? '';
    const other = image.endsWith('-again') ? image.slice(0, -'-again'.length) : `${image}-again`;
    await inNode('ctr', '--namespace', 'k8s.io', 'images', 'tag', '--force', image, other);
    await patchControlPlane({ [field]: { images: { [component]: other } } });
    await until({
      what: `the DaemonSet of ${component} to state ${other}`,
      seconds: patience,
      probe: async () => ((await statedImage(component)) === other ? true : undefined),
    });
    expectUntouched(old, await podOf(labels(component)));
    await deletePod(old);
    const { spec } = await replaced(labels(component), old, patience);
    const runs = spec.containers[0]?.image;
    if (runs !== other) throw new Error(`the new pod of ${component} runs ${runs}, expected ${other}`);
  },
}));

function labels(component: string): string {
  return `app.kubernetes.io/component=${component}`;
}

async function statedImage(component: string): Promise<string> {
  const path = 'jsonpath={.items[0].spec.template.spec.containers[0].image}';
  return await program('kubectl', 'get', 'daemonsets', '--all-namespaces', '-l', labels(component), '-o', path);
}

/** A change of images alone takes no node's agent away. */
function expectUntouched(old: PodState, now: PodState): void {
  if (old.metadata.uid === now.metadata.uid) return;
  throw new Error(
    `pod ${old.metadata.name} was replaced by ${now.metadata.name}, though nobody had said that it may be`,
  );
}

/** Daemons of Kubernetes, which the node's init starts again. */
export const restarts: readonly Event[] = ['kubelet', 'containerd'].map((daemon) => ({
  name: `${daemon}: killed`,
  bound: 1,
  happen: async () => {
    const old = await oldest(daemon);
    await inNode('kill', '-KILL', old);
    await until({
      what: `another ${daemon}, and pods that can be entered`,
      seconds: patience,
      probe: async () => {
        const now = await oldest(daemon).catch(() => undefined);
        if (now === undefined || now === old) return undefined;
        // Through API server, kubelet and containerd, to a process in a container.
        const { metadata } = await podOf(labels('libvirt'));
        return await program('kubectl', 'exec', '-n', metadata.namespace, metadata.name, '--', 'true').then(
          () => true,
          () => undefined,
        );
      },
    });
  },
}));

async function oldest(daemon: string): Promise<string> {
  return await inNode('pgrep', '--oldest', '--exact', daemon);
}

/** Changes the spec of the only control plane, as a user would. */
export async function patchControlPlane(spec: object): Promise<void> {
  const kind = 'openstackcontrolplanes.openstack.k8s.io';
  const path = 'jsonpath={.items[0].metadata.namespace} {.items[0].metadata.name}';
  const [namespace = '', name = ''] = (await program('kubectl', 'get', kind, '--all-namespaces', '-o', path)).split(
    ' ',
  );
  await program('kubectl', 'patch', kind, '-n', namespace, name, '--type=merge', '-p', JSON.stringify({ spec }));
}
