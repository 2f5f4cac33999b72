import type { KubeObject, StoredObject } from '@openstack-operator/kube';

/** The fields by which a resource refers to another one. */
export type ReferenceField =
  | 'databaseRef'
  | 'messageQueueRef'
  | 'cacheRef'
  | 'keystoneRef'
  | 'ovnRef'
  | 'placementRef'
  | 'glanceRef'
  | 'neutronRef'
  | 'novaRef';

/** What the operator found for a reference: the resource, or why there is none. */
export type Resolved = { readonly found: StoredObject } | { readonly missing: string };

/** A node that the resource has claimed, as far as compose may know it. */
export interface NodeFacts {
  readonly name: string;
  readonly internalIp: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the resource's agents have been up there, once: it does not change when the node is off for a while. */
  readonly joined: boolean;
}

/** The listeners of a Gateway (gateway.networking.k8s.io/v1). */
export interface GatewayFacts {
  readonly listeners: readonly { readonly name: string; readonly protocol: string; readonly port: number }[];
}

/** Another resource of the same kind in the namespace that is not being deleted. */
export interface Twin {
  readonly kind: string;
  readonly name: string;
  readonly spec: ServiceSpec;
  /** Fields that lead to the same server for both. */
  readonly shared: readonly ReferenceField[];
  /** Whether it was made before. */
  readonly isOlder: boolean;
}

/**
 * All that compose may know beside the resource: never secret values, never readiness. The same surroundings and the
 * same resource always give the same bytes.
 */
export interface Surroundings {
  /** Image of the operator itself: its Jobs keep users, endpoints and vhosts. */
  readonly operatorImage: string;
  /** Image of an operator that took it for an input of Jobs, where digests without a key id are compared. */
  readonly formerOperatorImage?: string;
  /** The cluster's DNS domain, such as `cluster.local`: for programs that know no search list (Open vSwitch). */
  readonly clusterDomain: string;
  /** Release that the resource was deployed with, or is being brought to; undefined for one that is new. */
  readonly release?: string;
  readonly references: Readonly<Partial<Record<ReferenceField, Resolved>>>;
  /** Addresses of the Services of what it refers to, by the Service's name; one that has none (yet) is absent. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Optional APIs that the cluster serves, as `group/Kind` (`gateway.networking.k8s.io/HTTPRoute`). */
  readonly served: ReadonlySet<string>;
  /** Keyed digests of Secrets by name, and of ConfigMaps by `configMapDigest`; what is absent does not exist (yet). */
  readonly digests: Readonly<Record<string, string>>;
  /** Names the key of `digests`: digests that follow from them carry it (credential-digest.ts). */
  readonly digestKeyId?: string;
  /** Keys of the Secrets that the resource names, by name, where they exist; undefined when nothing is known (`render`). */
  readonly secretKeys?: Readonly<Record<string, readonly string[]>>;
  /** The same of ConfigMaps. */
  readonly configMapKeys?: Readonly<Record<string, readonly string[]>>;
  /** StorageClasses of the cluster, and whether each is the default; undefined when nothing is known. */
  readonly storageClasses?: Readonly<Record<string, boolean>>;
  /** Gateways that exist, by `namespace/name`. */
  readonly gateways: Readonly<Record<string, GatewayFacts>>;
  /** Nodes that this resource has claimed. */
  readonly nodes: readonly NodeFacts[];
  /** Other resources of its kind in the namespace that have an account of its own; of many with the same, few. */
  readonly twins: readonly Twin[];
}

/** The key of a ConfigMap among the digests: no Secret has such a name. */
export function configMapDigest(name: string): string {
  return `ConfigMap/${name}`;
}

/** Surroundings of a cluster in which nothing is known: what `render` starts from. */
export const emptySurroundings: Surroundings = {
  operatorImage: 'ghcr.io/openstack-operator/openstack-operator:0.1.0',
  clusterDomain: 'cluster.local',
  references: {},
  addresses: {},
  served: new Set(),
  digests: {},
  gateways: {},
  nodes: [],
  twins: [],
};

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
  readonly deletionPolicy?: 'Retain' | 'Delete';
  readonly exposure?: string;
  readonly publicHostname?: string;
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
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A resource of ours: any kind whose spec the engine can read. */
export interface ServiceResource extends KubeObject {
  readonly spec?: ServiceSpec;
}
