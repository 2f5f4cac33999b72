import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { ownValue } from '../names/own-value.ts';
import type { TlsState } from '../status/tls-steps.ts';
import type { ReleaseProgress } from '../status/upgrade.ts';
import type { HeldAccount } from './common-accounts.ts';
import type { Members } from './component.ts';
import type { Capability } from './service.ts';

/** A field by which a resource refers to another one; which kind it is about, `Service.offers` says. */
export type ReferenceField = `${string}Ref`;

/** What the operator found for a reference: the resource, or why there is none. */
export type Resolved =
  | { readonly found: StoredObject }
  /** `ambiguous`: there are several that it may be about. */
  | { readonly missing: string; readonly ambiguous?: boolean };

/** A node that the resource has claimed, as far as compose may know it. */
export interface NodeFacts {
  readonly name: string;
  readonly internalIp: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the resource's agents have been up there, once: it does not change when the node is off for a while. */
  readonly joined: boolean;
  /** It is in maintenance, for this reason; without one, that is over, and the status still has it. */
  readonly maintenance?: { readonly reason?: string };
}

/** The listeners of a Gateway (gateway.networking.k8s.io/v1). */
export interface GatewayFacts {
  readonly listeners: readonly { readonly name: string; readonly protocol: string; readonly port: number }[];
}

/** Another resource in the namespace that is not being deleted, of whatever kind. */
export interface Twin {
  readonly kind: string;
  readonly name: string;
  /** Its accounts that have the name of one of this resource's. */
  readonly held: readonly HeldAccount[];
  /** Where both have any on the same server; and whether their agents run on the same nodes. */
  readonly shared: readonly (Capability | 'nodes')[];
  /** Whether it was made before. */
  readonly isOlder: boolean;
}

/** What is the same for all that this operator composes, and the release, which is the resource's own. */
export interface OperatorSurroundings {
  /** Image of the operator itself: its Jobs keep users, endpoints and vhosts. */
  readonly operatorImage: string;
  /** Image of an operator that took it for an input of Jobs, where digests without a key id are compared. */
  readonly formerOperatorImage?: string;
  /** The cluster's DNS domain, such as `cluster.local`: for programs that know no search list (Open vSwitch). */
  readonly clusterDomain: string;
  /** Where the resource is between two releases; nothing is known of one that is new. */
  readonly release: ReleaseProgress;
  /** What its fields were when they were stated first (`Service.lasting`), as its status has it, or without that the ConfigMap of its memory. */
  readonly lasting: Readonly<Record<string, string>>;
  /** What its status has of its quorum; nothing of one that has none. */
  readonly members: Members;
  /** Of these, the entries of the spec that said so, as they were stated last (`Service.remembers`). */
  readonly remembered: Readonly<Record<string, unknown>>;
  /** What all children were done with: whether they trust the authority of the APIs, and use it. Undefined for neither. */
  readonly tls?: TlsState;
  /** Generation of the child by whose field `tls` that is told, as it is there. */
  readonly tlsGeneration?: number;
  /** The rotations that were completed last, by Secret, as its status has them. */
  readonly rotated: Readonly<Record<string, Partial<Rotation>>>;
  /** Names the key of digests: those that follow from them carry it (credential-digest.ts). */
  readonly digestKeyId?: string;
}

/** What a Secret or ConfigMap lacks: itself, or a key; `keys` are some of those that it has. */
export type Lacking = 'object' | { readonly keys: readonly string[] };

/**
 * All that compose may know beside the resource: never secret values, never readiness. The same surroundings and the
 * same resource always give the same bytes. What may change is a question, so that the
 * operator can note what was asked.
 */
export interface Surroundings extends OperatorSurroundings {
  /** What a field refers to; undefined when it was not looked up. */
  readonly reference: (field: ReferenceField) => Resolved | undefined;
  /**
   * Name of the resource of a kind in the same cloud: the child that the root above wants, whether it exists yet or not;
   * for a resource that stands alone, the oldest of its namespace that does. Undefined when there is none.
   */
  readonly peer: (kind: string) => string | undefined;
  /** Spec of that resource: for a child, what the root says of it; for a root, that of its child as it is there. Undefined when there is none. */
  readonly peerSpec: (kind: string) => Readonly<Record<string, unknown>> | undefined;
  /** Where the API of that resource answers inside the cluster. Undefined until it was deployed once, and without an API. */
  readonly peerEndpoint: (kind: string) => string | undefined;
  /** What that resource remembers of entries of its spec, those that are stated no more among them (`remembered`). */
  readonly peerRemembered: (kind: string) => Readonly<Record<string, unknown>>;
  /** Address of a Service that another resource controls; undefined when it has none (yet). */
  readonly address: (owner: Pick<StoredObject, 'metadata'>, service: string) => string | undefined;
  /** Whether the cluster serves an optional API, as `group/Kind` (`gateway.networking.k8s.io/HTTPRoute`). */
  readonly serves: (api: string) => boolean;
  /** Keyed digest of a Secret, by its name, or of a ConfigMap, by `configMapDigest`; undefined when it does not exist (yet). */
  readonly digest: (name: string) => string | undefined;
  /** Whether hosts outside of the cluster log in to the broker as its user. */
  readonly isLent: () => boolean;
  /** Which of its passwords a Secret holds; undefined when it is neither the resource's nor of one that it refers to. */
  readonly rotation: (secret: string) => Rotation | undefined;
  /**
   * What is not there of a Secret or ConfigMap that the resource names, and a key of it; undefined when all is, or nothing
   * is known (`render`).
   */
  readonly lacking: (kind: 'Secret' | 'ConfigMap', name: string, key?: string) => Lacking | undefined;
  /** StorageClasses of the cluster, and whether each is the default; undefined when nothing is known. */
  readonly storageClasses: () => Readonly<Record<string, boolean>> | undefined;
  /**
   * Bytes that a PersistentVolumeClaim of the namespace has: what it asks for, or less while its volume has not grown;
   * undefined when there is none (yet).
   */
  readonly claimBytes: (name: string) => number | undefined;
  /** A Gateway, by `namespace/name`. */
  readonly gateway: (key: string) => GatewayFacts | undefined;
  /** Nodes that this resource has claimed. */
  readonly nodes: () => readonly NodeFacts[];
  /** Whether the cluster has a node of this name, whoever has claimed it; true where nodes are not seen. */
  readonly isNode: (name: string) => boolean;
  /**
   * Whether the resource was Ready as its spec is now: what a newer operator has against that spec is told, and stops
   * nothing.
   */
  readonly wasReady: () => boolean;
  /** Other resources in the namespace that have an account of its own; of many with the same, few. */
  readonly twins: () => readonly Twin[];
}

/** Surroundings as plain data: what `render` and tests know. What is left out does not exist. */
export interface KnownSurroundings extends Partial<OperatorSurroundings> {
  readonly references?: Readonly<Partial<Record<ReferenceField, Resolved>>>;
  /** By kind. */
  readonly peers?: Readonly<Record<string, string>>;
  /** By kind. */
  readonly peerSpecs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** By kind. */
  readonly peerEndpoints?: Readonly<Record<string, string>>;
  /** By kind. */
  readonly peersRemembered?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly served?: ReadonlySet<string>;
  readonly digests?: Readonly<Record<string, string>>;
  /** By Secret. */
  readonly rotations?: Readonly<Record<string, Rotation>>;
  readonly gateways?: Readonly<Record<string, GatewayFacts>>;
  readonly nodes?: readonly NodeFacts[];
  readonly wasReady?: boolean;
}

/** The key of a ConfigMap among the digests: no Secret has such a name. */
export function configMapDigest(name: string): string {
  return `ConfigMap/${name}`;
}

/** The answers of plain data; of keys, StorageClasses and addresses nothing is known. */
export function surroundingsOf(known: KnownSurroundings = {}): Surroundings {
  const {
    references = {},
    peers,
    peerSpecs,
    peerEndpoints,
    peersRemembered,
    served,
    digests,
    rotations,
    gateways,
    nodes = [],
    wasReady = false,
    ...operator
  } = known;
  return {
    release: {},
    lasting: {},
    remembered: {},
    members: {},
    rotated: {},
    operatorImage: 'ghcr.io/openstack-operator/openstack-operator:0.1.0',
    clusterDomain: 'cluster.local',
    ...operator,
    reference: (field) => references[field],
    peer: (kind) => ownValue(peers, kind),
    peerSpec: (kind) => ownValue(peerSpecs, kind),
    peerEndpoint: (kind) => ownValue(peerEndpoints, kind),
    peerRemembered: (kind) => ownValue(peersRemembered, kind) ?? {},
    address: () => undefined,
    serves: (api) => served?.has(api) === true,
    digest: (name) => ownValue(digests, name),
    rotation: (name) => ownValue(rotations, name),
    isLent: () => false,
    lacking: () => undefined,
    storageClasses: () => undefined,
    claimBytes: () => undefined,
    gateway: (key) => ownValue(gateways, key),
    nodes: () => nodes,
    isNode: (name) => nodes.some((node) => node.name === name),
    wasReady: () => wasReady,
    twins: () => [],
  };
}

/** Which of the passwords that a Secret has had it holds. */
export interface Rotation {
  /** 1 for the first one; of what holds none any more, 0. */
  readonly generation: number;
  /** The value of `rotate-at` that asked for it; absent when nobody did. */
  readonly request?: string;
}

/** The fields of a resource's spec that the engine itself reads; the kind's own schema is richer. */
export interface ServiceSpec {
  readonly replicas?: number;
  readonly image?: string;
  readonly images?: Readonly<Record<string, string>>;
  readonly imageRegistry?: string;
  readonly imageTag?: string;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly imagePullPolicy?: string;
  readonly nodeNetworks?: readonly string[];
  readonly tolerations?: readonly unknown[];
  readonly priorityClassName?: string;
  readonly release?: string;
  readonly region?: string;
  readonly resources?: unknown;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly components?: Readonly<Record<string, ComponentOverrides>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly unknownOptions?: 'Refuse' | 'Allow';
  /** Rules of policy: name, check string. */
  readonly policy?: Readonly<Record<string, string>>;
  readonly deletionPolicy?: 'Retain' | 'Delete';
  readonly passwordRotationDays?: number;
  readonly maintenance?: { readonly onCordon?: boolean };
  readonly exposure?: string;
  readonly publicHostname?: string;
  readonly externalService?: {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ports?: Readonly<Record<string, number>>;
    readonly scheme?: 'http' | 'https';
    readonly loadBalancerClass?: string;
    readonly loadBalancerSourceRanges?: readonly string[];
    readonly externalTrafficPolicy?: string;
  };
  readonly gatewayRef?: { readonly name?: string; readonly namespace?: string; readonly listenerName?: string };
}

/** What a user may say of one component's pods. */
export interface ComponentOverrides {
  readonly replicas?: number;
  readonly processes?: number;
  readonly threads?: number;
  readonly resources?: unknown;
  readonly tolerations?: readonly unknown[];
  readonly affinity?: unknown;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly topologySpreadConstraints?: readonly unknown[];
  readonly priorityClassName?: string;
  readonly env?: readonly { readonly name: string }[];
  readonly extraVolumes?: readonly ExtraVolume[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A volume that a user adds: core/v1's source of it, and where it is mounted. */
export interface ExtraVolume {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
  readonly secret?: { readonly secretName: string };
  readonly configMap?: { readonly name: string };
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly nfs?: { readonly server: string; readonly path: string };
  readonly hostPath?: { readonly path: string; readonly type?: string };
}

/** A resource of ours: any kind whose spec the engine can read. */
export interface ServiceResource extends KubeObject {
  /** `object`: a kind without pods has none of these fields. */
  readonly spec?: ServiceSpec & object;
}
