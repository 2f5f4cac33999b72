import {
  type CacheReader,
  ConfigMap,
  controllerOf,
  Gateway,
  type IndexFunction,
  type Kind,
  type KubeObject,
  keyOf,
  Node,
  type ObjectRef,
  Secret,
  Service,
  StorageClass,
  type StoredObject,
  type Watched,
} from '@openstack-operator/kube';
import {
  type BroughtKind,
  broughtBy,
  claimants,
  cloudLabel,
  cloudOf,
  conditionOf,
  fieldFor,
  gatewayFacts,
  gatewayOf,
  hasLabels,
  isEligible,
  isLostBy,
  isStale,
  kinds,
  lastingSuffix,
  type NodeClaim,
  nodesByCloud,
  type Service as OurService,
  type ReferenceField,
  recordedIn,
  recordedNodes,
  rootOf,
  secretsReadBy,
  services,
} from '@openstack-operator/openstack';
import { borrowedName, borrowersOf } from './borrowers.ts';
import { deployedEndpoint } from './deployed-endpoint.ts';
import type { NodeInterest } from './node-interest.ts';
import { nodeFacts, slimNode, slimStorageClass, storageClassFacts } from './slim.ts';

/**
 * Whom a changed object concerns: indexes file each resource under what it depends on, so that a change costs as much as
 * there are resources that it concerns, however many there are beside.
 */

type Depending = Pick<OurService, 'kind' | 'providers'>;

/** Names of the indexes of a kind of ours. */
const index = {
  /** The cloud that it belongs to. */
  cloud: 'cloud',
  /** Keys of the Gateways that its URLs depend on. */
  gateway: 'gateway',
  /** Keys of the Secrets that it names. */
  secret: 'secret',
  /** StorageClasses that it names; '' for the default one. */
  storageClass: 'storage-class',
  /** Keys of what a field refers to; `<namespace>/` for the only one of its kind there. */
  reference: (field: ReferenceField) => `reference/${field}`,
} as const;

/** The indexes of a kind of ours, by which the watches below find whom they concern. */
export function indexesOf(references: readonly ReferenceField[]): Readonly<Record<string, IndexFunction>> {
  return {
    [index.cloud]: (object) => [cloudOf(object)],
    [recordedNodes]: (object) => recordedIn(object['status']).map(({ name }) => name),
    [index.gateway]: (object) => {
      const namespace = object.metadata.namespace ?? '';
      const gateway = gatewayOf({ namespace, spec: object['spec'] ?? {} });
      return gateway === undefined ? [] : [keyOf({ metadata: gateway })];
    },
    [index.secret]: (object) => named('Secret')(object).map(({ name }) => keyIn(object, name)),
    [index.storageClass]: storageClassesOf,
    ...Object.fromEntries(
      references.map((field) => [
        index.reference(field),
        (object: StoredObject) => {
          const { name = '', external } = referenceIn(object, field) ?? {};
          return external === undefined ? [keyIn(object, name)] : [];
        },
      ]),
    ),
  };
}

/** What a spec names of a kind that users bring; of Secrets, those of others that follow from it as well. */
export function named(kind: BroughtKind): (object: KubeObject) => ObjectRef[] {
  if (kind === 'Secret') return (object) => secretsReadBy(object).map((name) => ({ name }));
  return (object) => broughtBy(object).flatMap((one) => (one.kind === kind ? [{ name: one.name }] : []));
}

/** Concerned by a resource: who refers to it by name, and who means "the only one of its namespace". */
export function referenceWatch(kind: Kind, referred: Kind, field: ReferenceField): Watched {
  return {
    kind: referred,
    facts: referenceFacts,
    map: (changed, cache) => dependentsOf(kind, field, [changed], cache),
  };
}

/** Concerned by what a child remembers (ConfigMap `<child>-lasting`), whether that is there or not: the roots of its namespace. */
export function memoryWatch(kind: Kind, selection: Watched['selection']): Watched {
  return {
    kind: ConfigMap,
    ...(selection === undefined ? {} : { selection }),
    map: ({ metadata: { name, namespace = '' } }, cache) =>
      name.endsWith(`-${lastingSuffix}`) ? cache.list(kind, { namespace }).map(refOf) : [],
  };
}

/**
 * Concerned by a Secret: who refers to a resource that names it, or whose own it is, as its password or key is composed
 * there, too.
 */
export function secretsOfReferences(
  kind: Kind,
  fields: readonly (readonly [ReferenceField, Kind])[],
  selection: Watched['selection'],
): Watched {
  return {
    kind: Secret,
    ...(selection === undefined ? {} : { selection }),
    map(secret, cache) {
      const owner = controllerOf(secret);
      const { namespace = '' } = secret.metadata;
      return fields.flatMap(([field, referred]) => {
        const own = owner?.kind === referred.kind ? cache.get(referred, { namespace, name: owner.name }) : undefined;
        const naming = cache.byIndex(referred, index.secret, keyOf(secret));
        return dependentsOf(kind, field, own === undefined ? naming : [own, ...naming], cache);
      });
    },
  };
}

/** Concerned by a Service whose address is that of what controls it, and is composed: who refers to that. */
export function serviceWatches({ kind, providers }: Depending, selection: Watched['selection']): Watched[] {
  const fields = [...(providers ?? [])].filter(([field, { offers }]) => offers?.[field]?.ofServices === true);
  return fields.map(([field, { kind: offering }]) => ({
    kind: Service,
    ...(selection === undefined ? {} : { selection }),
    map(service, cache) {
      const owner = controllerOf(service);
      const { namespace = '' } = service.metadata;
      const found = owner?.kind === offering.kind ? cache.get(offering, { namespace, name: owner.name }) : undefined;
      return dependentsOf(kind, field, found === undefined ? [] : [found], cache);
    },
  }));
}

/**
 * Concerned by a peer that comes or goes: who stands alone beside it. Of those below a root, that one decides; but who
 * proxies its API is told where it answers.
 */
export function peerWatches({
  kind,
  peers = [],
  proxies = [],
}: Pick<OurService, 'kind' | 'peers' | 'proxies'>): Watched[] {
  return peers.map((peer) => {
    const isProxied = proxies.includes(peer.name);
    return {
      kind: peer.kind,
      facts: (changed) => [
        changed.metadata.deletionTimestamp,
        changed.metadata.ownerReferences,
        isProxied && deployedEndpoint(changed),
      ],
      map: (changed, cache) =>
        cache
          .list(kind, { namespace: changed.metadata.namespace ?? '' })
          .filter((one) => rootOf(one) === undefined || (isProxied && rootOf(one)?.uid === rootOf(changed)?.uid))
          .map(refOf),
    };
  });
}

/** Concerned by what has hosts log in as a user of its own: that is rotated when nobody does any more. */
export function borrowerWatches({ kind }: Pick<OurService, 'kind'>): Watched[] {
  return borrowersOf(kind.kind).map((borrower) => ({
    kind: borrower.kind,
    facts: (changed) => [borrowedName(borrower, changed)],
    map: ({ metadata: { namespace = '' } }, cache) => cache.list(kind, { namespace }).map(refOf),
  }));
}

/** Concerned by what names its Secret as that of a user of its own: they are not rotated while it is there. */
export function sharerWatches(kind: Kind): Watched[] {
  return services.map((service) => ({
    kind: service.kind,
    when: ({ type, object, old }) => type !== 'updated' || object.metadata.generation !== old?.metadata.generation,
    map: (changed, cache) =>
      broughtBy(changed).flatMap((brought) => {
        const { namespace = '' } = changed.metadata;
        if (brought.kind !== 'Secret') return [];
        const secret = cache.get(Secret, { namespace, name: brought.name });
        const owner = secret && controllerOf(secret);
        return owner?.kind === kind.kind ? [{ namespace, name: owner.name }] : [];
      }),
  }));
}

/** Concerned by a StorageClass: whose volumes are of it, or of the default one; none for kinds without volumes. */
export function storageClassWatches(kind: Kind): Watched[] {
  if (storageClassFields(kind) === 0) return [];
  const map: Watched['map'] = ({ metadata: { name } }, cache) =>
    [name, ''].flatMap((value) => cache.byIndex(kind, index.storageClass, value).map(refOf));
  return [{ kind: StorageClass, transform: slimStorageClass, facts: storageClassFacts, map }];
}

/** Concerned by a Gateway: whose API it carries, and who is told the identity service's URL; none for kinds without either. */
export function gatewayWatches(service: Depending): Watched[] {
  const { kind, providers } = service;
  const field = fieldFor(service, 'identity');
  const identity = field && providers?.get(field)?.kind;
  const exposed = kind.spec.schema.properties?.['gatewayRef'] !== undefined;
  if (!exposed && identity === undefined) return [];
  const map: Watched['map'] = (gateway, cache) => [
    ...(exposed ? cache.byIndex(kind, index.gateway, keyOf(gateway)).map(refOf) : []),
    ...(field === undefined || identity === undefined
      ? []
      : dependentsOf(kind, field, cache.byIndex(identity, index.gateway, keyOf(gateway)), cache)),
  ];
  return [{ kind: Gateway, facts: gatewayFacts, map }];
}

/**
 * Concerned by a node: of the cloud that has it, those that run or find something on its nodes; by a free node, those
 * whose claims want one more like it. `known`: what a resource has to do with nodes; without that it is concerned.
 */
export function nodeWatch(kind: Kind, known: (key: string) => NodeInterest | undefined): Watched {
  const map: Watched['map'] = (node, cache) => {
    const cloud = node.metadata.labels?.[cloudLabel];
    if (cloud !== undefined) {
      const own = cache.byIndex(kind, index.cloud, cloud);
      return own.filter((object) => known(keyOf(object))?.dependsOnNodes ?? true).map(refOf);
    }
    if (!claimants.includes(kind)) return [];
    const wants = (claim: NodeClaim) =>
      isEligible(cache, node, claim) && (isWanting(claim, cache) || isLostBy(cache, node, claim));
    return cache
      .list(kind)
      .filter((object) => known(keyOf(object))?.claims.some(wants) ?? true)
      .map(refOf);
  };
  return {
    kind: Node,
    transform: slimNode,
    facts: nodeFacts,
    indexes: { [nodesByCloud]: ({ metadata: { labels } }) => [labels?.[cloudLabel] ?? ''] },
    map,
  };
}

/**
 * Concerned by labels of a node of its cloud that are not ours: who gives such nodes a role by them, and who keeps data on nodes
 * that have it. Nobody else is. What is not composed yet is going to be.
 */
export function nodeLabelWatch(kind: Kind, known: (key: string) => NodeInterest | undefined): Watched {
  return {
    kind: Node,
    transform: slimNode,
    facts: ({ metadata: { labels } }) => labels,
    map(node, cache) {
      const cloud = node.metadata.labels?.[cloudLabel];
      const own = cloud === undefined ? [] : cache.byIndex(kind, index.cloud, cloud);
      return own.filter((object) => known(keyOf(object))?.readsLabels === true).map(refOf);
    },
  };
}

/** Whether a claim is for more nodes than it has. */
function isWanting({ labels, count }: NodeClaim, cache: CacheReader): boolean {
  if (count === undefined) return true;
  const own = cache.byIndex(Node, nodesByCloud, labels[cloudLabel] ?? '');
  return own.filter((node) => hasLabels(node, labels)).length < count;
}

/**
 * What a dependent reads of what it refers to: what is stated, what its Jobs have found, and whether it is Ready;
 * never the words of its status.
 */
function referenceFacts(object: StoredObject): unknown {
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = object.metadata;
  const ready = conditionOf(object, 'Ready');
  const { found } = (object['status'] ?? {}) as { readonly found?: unknown };
  return [metadata, object['spec'], found, ready?.status, ready?.reason, ready && isStale(ready, object)];
}

function dependentsOf(
  kind: Kind,
  field: ReferenceField,
  referred: readonly StoredObject[],
  cache: CacheReader,
): ObjectRef[] {
  return referringTo(kind, field, referred, cache).map(refOf);
}

/** Those of a kind that refer to one of some resources by a field: by name, or as "the only one of its namespace". */
export function referringTo(
  kind: Kind,
  field: ReferenceField,
  referred: readonly StoredObject[],
  cache: CacheReader,
): StoredObject[] {
  const keys = new Set(referred.flatMap((one) => [keyIn(one, one.metadata.name), keyIn(one, '')]));
  return [...keys].flatMap((key) => cache.byIndex(kind, index.reference(field), key));
}

function referenceIn(object: KubeObject, field: ReferenceField): { name?: string; external?: unknown } | undefined {
  return ((object['spec'] ?? {}) as Record<string, { name?: string; external?: unknown } | undefined>)[field];
}

/** Fields of a kind that name a StorageClass. */
function storageClassFields({ kind }: Pick<KubeObject, 'kind'>): number {
  const names = kinds.find((one) => one.kind === kind)?.spec.names ?? [];
  return names.filter((name) => name.kind === 'StorageClass').length;
}

/** StorageClasses of the volumes of a resource: '' for the default one, and while one is missing, as all are told then. */
function storageClassesOf(object: StoredObject): string[] {
  const classes = named('StorageClass')(object).map(({ name }) => name);
  const missing = conditionOf(object, 'Ready')?.reason === 'StorageClassMissing';
  return missing || classes.length < storageClassFields(object) ? [...classes, ''] : classes;
}

/** Key of a name in the namespace of an object. */
function keyIn({ metadata: { namespace = '' } }: StoredObject, name: string): string {
  return keyOf({ metadata: { namespace, name } });
}

/** The reference to an object. */
export function refOf({ metadata: { name, namespace = '' } }: StoredObject): ObjectRef {
  return { namespace, name };
}
