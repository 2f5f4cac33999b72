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
}

/** The listeners of a Gateway (gateway.networking.k8s.io/v1). */
export interface GatewayFacts {
  readonly listeners: readonly { readonly name: string; readonly protocol: string; readonly port: number }[];
}

/**
 * All that compose may know beside the resource: never secret values, never readiness. The same surroundings and the
 * same resource always give the same bytes.
 */
export interface Surroundings {
  /** Image of the operator itself: its Jobs keep users, endpoints and vhosts. */
  readonly operatorImage: string;
  /** The cluster's DNS domain, such as `cluster.local`: for programs that know no search list (Open vSwitch). */
  readonly clusterDomain: string;
  readonly references: Readonly<Partial<Record<ReferenceField, Resolved>>>;
  /** Optional APIs that the cluster serves, as `group/Kind` (`gateway.networking.k8s.io/HTTPRoute`). */
  readonly served: ReadonlySet<string>;
  /** Keyed digests of Secrets and ConfigMaps by name; a name that is absent does not exist (yet). */
  readonly digests: Readonly<Record<string, string>>;
  /** Keys of the Secrets of the namespace, by the Secret's name; undefined when nothing is known (`render`). */
  readonly secretKeys?: Readonly<Record<string, readonly string[]>>;
  /** StorageClasses of the cluster, and whether each is the default; undefined when nothing is known. */
  readonly storageClasses?: Readonly<Record<string, boolean>>;
  /** Gateways that exist, by `namespace/name`. */
  readonly gateways: Readonly<Record<string, GatewayFacts>>;
  /** Nodes that this resource has claimed. */
  readonly nodes: readonly NodeFacts[];
}

/** Surroundings of a cluster in which nothing is known: what `render` starts from. */
export const emptySurroundings: Surroundings = {
  operatorImage: 'ghcr.io/openstack-operator/openstack-operator:0.1.0',
  clusterDomain: 'cluster.local',
  references: {},
  served: new Set(),
  digests: {},
  gateways: {},
  nodes: [],
};

/** The fields of a resource's spec that the engine itself reads; the kind's own schema is richer. */
export interface ServiceSpec {
  readonly replicas?: number;
  readonly image?: string;
  readonly images?: Readonly<Record<string, string>>;
  readonly imageRegistry?: string;
  readonly imageTag?: string;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
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
  readonly resources?: unknown;
  readonly tolerations?: readonly unknown[];
  readonly affinity?: unknown;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly topologySpreadConstraints?: readonly unknown[];
  readonly priorityClassName?: string;
  readonly env?: readonly unknown[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A resource of ours: any kind whose spec the engine can read. */
export interface ServiceResource extends KubeObject {
  readonly spec?: ServiceSpec;
}
