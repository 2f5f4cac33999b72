import {
  ConfigMap,
  Gateway,
  HTTPRoute,
  type Kind,
  Node,
  Secret,
  StorageClass,
  type StoredObject,
} from '@openstack-operator/kube';
import {
  cloudLabel,
  cloudOf,
  emptySurroundings,
  type GatewayFacts,
  Glance,
  Keystone,
  MariaDB,
  Memcached,
  Neutron,
  Nova,
  OVNNetwork,
  Placement,
  RabbitMQ,
  type ReferenceField,
  type Resolved,
  type Service,
  type Surroundings,
} from '@openstack-operator/openstack';
import type { Pass } from './pass.ts';
import { keyedDigest } from './write.ts';

/** The kind that each reference field is about. */
export const referenceKinds: Readonly<Record<ReferenceField, Kind>> = {
  databaseRef: MariaDB,
  messageQueueRef: RabbitMQ,
  cacheRef: Memcached,
  keystoneRef: Keystone,
  ovnRef: OVNNetwork,
  placementRef: Placement,
  glanceRef: Glance,
  neutronRef: Neutron,
  novaRef: Nova,
};

/** The only impure input of compose: what the cache shows, as far as compose may know it. */
export function gather(pass: Pass, service: Pick<Service, 'references' | 'mentions'> | undefined): Surroundings {
  const { cache, object: resource } = pass;
  const namespace = resource.metadata.namespace ?? '';
  const fields = [...(service?.references ?? []), ...(service?.mentions ?? [])];
  const references = fields.map((field) => [field, resolve(pass, field, resource)] as const);
  const contents = [...cache.list(Secret, { namespace }), ...cache.list(ConfigMap, { namespace })];
  return {
    ...emptySurroundings,
    operatorImage: pass.operatorImage,
    clusterDomain: pass.clusterDomain,
    references: Object.fromEntries(references),
    served: new Set(cache.served(HTTPRoute) ? ['gateway.networking.k8s.io/HTTPRoute'] : []),
    digests: Object.fromEntries(contents.map((object) => [object.metadata.name, keyedDigest(pass.digestKey, object)])),
    secretKeys: Object.fromEntries(
      cache.list(Secret, { namespace }).map(({ metadata, data }) => [metadata.name, Object.keys(data ?? {}).sort()]),
    ),
    ...(cache.has(StorageClass) ? { storageClasses: storageClassesOf(pass) } : {}),
    gateways: cache.served(Gateway) ? gatewaysOf(pass) : {},
    nodes: nodesOf(pass, resource),
  };
}

/** The resource that a field refers to: the named one, or the only one in the namespace. */
function resolve(pass: Pass, field: ReferenceField, resource: StoredObject): Resolved {
  const kind = referenceKinds[field];
  const namespace = resource.metadata.namespace ?? '';
  const name = ((resource['spec'] ?? {}) as Record<string, { name?: string } | undefined>)[field]?.name;
  if (name !== undefined) {
    const found = pass.cache.get(kind, { namespace, name });
    return found === undefined
      ? { missing: `spec.${field}.name: ${kind.kind} ${name} does not exist in namespace ${namespace}` }
      : { found };
  }
  const candidates = pass.cache.list(kind, { namespace });
  const [only] = candidates;
  if (only !== undefined && candidates.length === 1) return { found: only };
  const names = candidates.map((candidate) => candidate.metadata.name).join(', ');
  return {
    missing:
      candidates.length === 0
        ? `spec.${field} is not set and namespace ${namespace} has no ${kind.kind}; create one, or set spec.${field}`
        : `spec.${field} is not set and namespace ${namespace} has several of kind ${kind.kind} (${names}); set spec.${field}.name`,
  };
}

function storageClassesOf(pass: Pass): Record<string, boolean> {
  const isDefault = 'storageclass.kubernetes.io/is-default-class';
  const classes = pass.cache.list(StorageClass);
  return Object.fromEntries(
    classes.map(({ metadata }) => [metadata.name, metadata.annotations?.[isDefault] === 'true']),
  );
}

function gatewaysOf(pass: Pass): Record<string, GatewayFacts> {
  return Object.fromEntries(
    pass.cache.list(Gateway).map((gateway) => {
      const { listeners = [] } = (gateway['spec'] ?? {}) as { listeners?: GatewayFacts['listeners'] };
      const facts = listeners.map(({ name, protocol, port }) => ({ name, protocol, port }));
      return [`${gateway.metadata.namespace}/${gateway.metadata.name}`, { listeners: facts }];
    }),
  );
}

/** The nodes that the resource's cloud has claimed, by name. */
function nodesOf(pass: Pass, resource: StoredObject): Surroundings['nodes'] {
  if (!pass.cache.has(Node)) return [];
  const cloud = cloudOf(resource);
  return pass.cache
    .list(Node)
    .filter((node) => node.metadata.labels?.[cloudLabel] === cloud)
    .map((node) => {
      const { addresses = [] } = (node['status'] ?? {}) as { addresses?: { type: string; address: string }[] };
      return {
        name: node.metadata.name,
        internalIp: addresses.find(({ type }) => type === 'InternalIP')?.address ?? '',
        labels: node.metadata.labels ?? {},
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
