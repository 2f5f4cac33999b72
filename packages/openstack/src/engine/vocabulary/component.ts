import type { User } from '@openstack-operator/facts/users';
import type { Tolerations } from '../../api/scheduling.ts';

/** A program as a container runs it. */
export interface Command {
  readonly command: readonly string[];
  /**
   * What becomes of SIGTERM. `group`: it goes to the whole process group, for a launcher that waits for its server and
   * passes nothing on. `USR1`: it arrives as SIGUSR1, for a server that at SIGTERM leaves requests without an answer.
   */
  readonly signals?: 'group' | 'USR1';
}

/** Processes of an API under uwsgi, and workers of another program, where nobody asks for a number of them. */
export const usualProcesses = 2;

/** A WSGI application under uwsgi: `module:callable` or a factory (reference: kolla and Debian both have the module). */
export interface Wsgi {
  readonly wsgi: string;
  /** Further lines of the ini file. */
  readonly ini?: Readonly<Record<string, string>>;
  /** Default: `usualProcesses`. */
  readonly processes?: number;
  readonly threads?: number;
}

/** A fixed start script of ours, run by `bash -eu`; its input comes by arguments, environment and files only. */
export interface Script extends Pick<Command, 'signals'> {
  readonly script: string;
  readonly arguments?: readonly string[];
  /** Files that it reads: path in the container -> content. */
  readonly files?: Readonly<Record<string, string>>;
}

/** What a container runs. */
export type Runs = Command | Wsgi | Script;

/**
 * A program without a port: it runs, and each of its workers holds a connection to each of the peers. A peer is
 * `host:port`, or several of them, separated by commas, of which one is enough. Without peers the program only has to
 * run. A peer that is down makes the pod unready; it is restarted only when the peer answers and it does not connect.
 */
export interface Connected {
  /** What the command line of its processes holds, such as `nova-conductor`. */
  readonly connected: string;
  readonly to: readonly string[];
}

/** How the kubelet sees that a container serves. */
export type Health =
  /** `scheme`: HTTPS for a port with TLS, whose certificate is not verified. */
  (
    | { readonly get: string; readonly port: string; readonly scheme?: 'HTTPS' }
    | { readonly tcp: string }
    /** `alive`: what decides on a restart, where `exec` asks for what a restart does not mend. */
    | { readonly exec: readonly string[]; readonly alive?: readonly string[] }
    | Connected
  ) & {
    /** Seconds between two probes; default 5, of `connected` 10. More for a probe that costs something, such as starting a virtual machine. */
    readonly periodSeconds?: number;
  };

/** Something mounted into a container. */
export type Mount =
  /** Scratch space; `size` is the most that it may hold, such as `10Gi`. */
  | { readonly path: string; readonly scratch: true; readonly memory?: boolean; readonly size?: string }
  /** The component's own volume claim (StatefulSet), or a claim by name. */
  | { readonly path: string; readonly claim: string; readonly subPath?: string }
  /**
   * A Secret: the whole of it, or some `keys`, as a directory that follows changes; or one key as a file. `follows`:
   * programs read it anew by themselves, so that a change neither rolls pods nor runs Jobs again.
   */
  | {
      readonly path: string;
      readonly secret: string;
      readonly key?: string;
      readonly keys?: readonly string[];
      readonly follows?: boolean;
    }
  /** A ConfigMap as a directory: its name is the user's. */
  | { readonly path: string; readonly configMap: string }
  /** Several Secrets as one directory, which programs read anew by themselves: of two files of a name the later Secret's. */
  | { readonly path: string; readonly secrets: readonly string[] }
  /** A path of the node, at the same path unless `from` says otherwise. Devices can be opened by `privileged` containers alone. */
  | {
      readonly path: string;
      readonly host: 'DirectoryOrCreate' | 'Directory' | 'File' | 'Socket' | 'CharDevice' | 'BlockDevice';
      readonly from?: string;
      readonly shared?: boolean;
      /** What is mounted below it on the node, or unmounted, later, is so in the container as well. */
      readonly follows?: boolean;
      readonly readOnly?: boolean;
    };

/** A volume claim of a StatefulSet. */
export interface Claim {
  readonly name: string;
  readonly size: string;
  readonly storageClassName?: string;
  /** Default `ReadWriteOnce`. */
  readonly accessMode?: 'ReadWriteOnce' | 'ReadWriteMany';
}

/** One environment variable: a value, a Secret's key, or a fact of the pod. */
export type Variable = string | { readonly secret: string; readonly key: string } | { readonly field: NodeOrPodField };

/** What the downward API tells of a pod. */
export type NodeOrPodField =
  | 'spec.nodeName'
  | 'status.hostIP'
  | 'status.podIP'
  | 'metadata.name'
  | 'metadata.namespace'
  | 'metadata.uid';

/** A container that runs to its end before the component's own, in the same world. */
export interface Init {
  readonly name: string;
  readonly runs: Runs;
  readonly image?: string;
  readonly user?: User;
}

/** A further container of a component's pods, for as long as they run: with the same files, mounts and variables. */
export interface Sidecar extends Init {
  /** Names of the component's ports that are its own. */
  readonly ports?: readonly string[];
  readonly health?: Health;
  readonly resources?: Component['resources'];
}

/**
 * What a component's pods have of the node that they run on, beyond the Pod Security Standard "restricted". Its service
 * says `usesNodes`. Paths and devices of the node are mounts (`host`).
 */
export interface HostAccess {
  /** The node's network: its addresses, and its ports are taken. */
  readonly network?: boolean;
  /** The node's processes. */
  readonly pid?: boolean;
  /** The node's shared memory and semaphores. */
  readonly ipc?: boolean;
  /** All capabilities and all devices. */
  readonly privileged?: boolean;
  /**
   * The capabilities that its containers have, such as `NET_ADMIN`: at once as root, else by setuid programs. An empty list
   * lets containers be root without any.
   */
  readonly capabilities?: readonly string[];
  /** No profile of AppArmor: the one that runtimes have by default lets nobody mount, whatever the capabilities. */
  readonly unconfined?: boolean;
}

/**
 * Runs on every node that the cloud has claimed, next to the guests: rules 1-7 of running OpenStack in pods apply. It has
 * the node's network (`host`).
 */
export interface NodeAgent {
  /** Labels of its nodes: those of the claim, with the group's where it is for one alone. */
  readonly nodes: Readonly<Record<string, string>>;
}

/**
 * Members of a quorum, in a StatefulSet: they start all at once. Where clients are led to one of them, by the component's own
 * Service, they find each other by the names that the headless Service `<workload>-members` gives them; where clients may
 * go to any member, the own Service is headless and names them, as it names a single server.
 */
export interface Quorum {
  /** How many pods run: no fewer than hold its data, or none. */
  readonly size: number;
  /** The pod that clients are led to; absent where they may go to any. */
  readonly primary?: string;
  /** Names of the component's ports at which members alone meet. */
  readonly ports: readonly string[];
}

/** What is durable of a quorum: `status.members`. */
export interface Members {
  /** So many hold its data: it never becomes fewer. Absent before there is a quorum. */
  readonly size?: number;
  /** Name of the pod that clients are led to. */
  readonly primary?: string;
}

/** Whether pods exceed the Pod Security Standard "restricted". */
export function usesHost({ host, mounts = [] }: Pick<Component, 'host' | 'mounts'>): boolean {
  return host !== undefined || mounts.some((mount) => 'host' in mount);
}

/** One component: one workload, and one container unless it says `sidecars`. */
export interface Component {
  readonly workload: 'Deployment' | 'StatefulSet' | 'DaemonSet';
  /** What follows the resource's name in object names; '' for the resource's name alone. Default: the component's name. */
  readonly suffix?: string;
  /** The component that the user's settings speak of, when this one is a variant of it (a node group's). */
  readonly variantOf?: string;
  /** Where its pods may run, when it is a variant: it overrides what the user says of the component. */
  readonly scheduling?: {
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: NonNullable<Tolerations>;
    /** The node by name, whatever else is said. */
    readonly node?: string;
  };
  /** Name of the image, as Kolla calls it. */
  readonly image: string;
  /** Default: the service's user. */
  readonly user?: User;
  readonly replicas?: number;
  /** The set of configuration files that it mounts; default `main`. `none` mounts nothing. */
  readonly config?: string;
  readonly runs: Runs;
  /** The option of oslo.config that says how many workers the program forks, or knows of: users set it by `processes`. */
  readonly workers?: { readonly section: string; readonly option: string };
  readonly init?: readonly Init[];
  readonly sidecars?: readonly Sidecar[];
  /** Name -> port; the Service offers the same. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Names of those that are UDP; the others are TCP. */
  readonly udp?: readonly string[];
  /** What its Services offer instead, by name: a port that only root may listen at. */
  readonly servicePorts?: Readonly<Record<string, number>>;
  /** `headless` gives every pod a name; `none` makes no Service. Default: a ClusterIP when there are ports. */
  readonly service?: 'cluster' | 'headless' | 'none';
  /**
   * Ports of a StatefulSet at which each member has an address of its own that outlives its pods: for clients that
   * neither resolve names nor may be led to any member.
   */
  readonly memberPorts?: readonly string[];
  /** Its pods are members of a quorum. */
  readonly quorum?: Quorum;
  readonly health?: Health;
  /** Seconds that a start may take before the container is started anew; default 600. */
  readonly startupSeconds?: number;
  readonly mounts?: readonly Mount[];
  readonly claims?: readonly Claim[];
  readonly env?: Readonly<Record<string, Variable>>;
  readonly nodeAgent?: NodeAgent;
  /** What its pods have of their node; default: nothing. */
  readonly host?: HostAccess;
  /** Seconds between SIGTERM and SIGKILL; default 30. */
  readonly graceSeconds?: number;
  /** The port of an API that is not in the catalogue, and is served with TLS as those are that are. */
  readonly internalApi?: string;
  /** The port that users reach from outside, by name. */
  readonly exposed?: string;
  /** What it speaks there; default HTTP, or UDP where the port is one. */
  readonly exposedAs?: 'HTTP' | 'TCP';
  /** Its host name from outside; default `spec.publicHostname`. Without one it is only reached inside. */
  readonly publicHostname?: string;
  /**
   * Who may connect: pods of this cloud (default), anybody, or to these ports the agents on nodes, too. Those have the
   * addresses of their nodes: without `spec.nodeNetworks` that is anybody. Or anybody to the ports that `anyone` names.
   */
  readonly reachable?: 'cloud' | 'anyone' | readonly string[] | { readonly anyone: readonly string[] };
  /** Whose pods are meant by "of this cloud": of the services that depend on this one; its own alone; default: of all. */
  readonly clients?: 'dependents' | 'own';
  /** Ports that may be read from namespaces with the label `openstack.k8s.io/monitoring: "true"`. */
  readonly monitored?: readonly string[];
  readonly resources?: { readonly cpu: string; readonly memory: string; readonly 'ephemeral-storage'?: string };
  /** The condition of the step that it belongs to; default `DeploymentReady`. */
  readonly step?: string;
  /** What that step needs, beside what the engine derives. */
  readonly needs?: readonly string[];
  /**
   * `Recreate` where two at once would fight (a ReadWriteOnce volume). `RollingUpdate` for a node agent that touches
   * neither data path nor guests: it is replaced by itself, the others wait until somebody asks for it.
   */
  readonly strategy?: 'Recreate' | 'RollingUpdate';
  /** A StatefulSet that keeps the same data as others of its step: these are changed one after another. */
  readonly inTurn?: boolean;
  /** What has served already: where its pods are not ready, its step is done all the same, and says so, while no more such components than so many are away. */
  readonly mostAway?: number;
}

/** What a port of a component speaks. */
export function protocolOf({ udp = [] }: Pick<Component, 'udp'>, port: string): 'TCP' | 'UDP' {
  return udp.includes(port) ? 'UDP' : 'TCP';
}

/** The ports of a component's own container, and of its sidecars by their names. */
export function portsByContainer({ ports = {}, sidecars = [] }: Pick<Component, 'ports' | 'sidecars'>) {
  const of = (isIts: (port: string) => boolean): Readonly<Record<string, number>> =>
    Object.fromEntries(Object.entries(ports).filter(([port]) => isIts(port)));
  return {
    own: of((port) => !sidecars.some((sidecar) => sidecar.ports?.includes(port))),
    of: (name: string) => of((port) => sidecars.some((one) => one.name === name && one.ports?.includes(port) === true)),
  };
}
