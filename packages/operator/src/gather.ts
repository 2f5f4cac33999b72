import {
  ConfigMap,
  controllerOf,
  Gateway,
  Service as KubeService,
  Node,
  Secret,
  StorageClass,
  type StoredObject,
} from '@openstack-operator/kube';
import {
  type Capability,
  type ClaimedNode,
  childNameOf,
  cloudOf,
  commonAccounts,
  configMapDigest,
  externalOf,
  fieldFor,
  foreignKindsOf,
  type GatewayFacts,
  heldAccounts,
  kindOf,
  kindReferredBy,
  type Lacking,
  lastingSuffix,
  type Members,
  mentionsOf,
  nodesByCloud,
  ownershipOf,
  type Peer,
  peerOf,
  prefix,
  type ReferenceField,
  type ReleaseStatus,
  type Resolved,
  type Rotation,
  referencesOf,
  rememberedIn,
  rootOf,
  rotationOf,
  routeKinds,
  type Service,
  type ServiceSpec,
  type Surroundings,
  services,
  type TlsState,
  type Twin,
  wasReady,
} from '@openstack-operator/openstack';
import { borrowedName, borrowersOf } from './borrowers.ts';
import { childSpec, settledTlsIn } from './child-there.ts';
import { claimBytes } from './claim-bytes.ts';
import type { ComposeContext, OperatorContext } from './context.ts';
import { deployedEndpoint } from './deployed-endpoint.ts';
import { joinedNodes } from './joined-nodes.ts';
import { maintenanceFacts } from './maintenance.ts';
import type { DigestKey } from './secrets/digest-key.ts';
import { keyedDigest } from './secrets/keyed-digest.ts';
import { ownerOf } from './still-meant.ts';

/** Kinds that a cluster may serve, or not. */
const optionalKinds = [...routeKinds, ...new Set(services.flatMap(foreignKindsOf).map(({ kind }) => kind))];

/** What of a service decides what is gathered. */
type Gathered = Pick<
  Service,
  'dependsOn' | 'providers' | 'peers' | 'groups' | 'nodeGroups' | 'name' | 'databases' | 'messaging' | 'identity'
>;

/** The only impure input of compose: what the cache shows, as far as compose may know it. `key`: of its digests. */
export function gather(
  context: ComposeContext,
  service: Gathered | undefined,
  key: DigestKey = context.digestKey,
): Surroundings {
  const { cache, object: resource, operatorImage, clusterDomain } = context;
  const namespace = resource.metadata.namespace ?? '';
  const { release = {}, lasting, members = {}, rotated = {}, ...told } = (resource['status'] ?? {}) as Remembered;
  const fields = service === undefined ? [] : [...referencesOf(service), ...mentionsOf(service)];
  const data = (kind: 'Secret' | 'ConfigMap', name: string): StoredObject | undefined =>
    kind === 'Secret' ? cache.get(Secret, { namespace, name }) : cache.get(ConfigMap, { namespace, name });
  return {
    operatorImage,
    clusterDomain,
    release,
    members,
    rotated,
    ...(service === undefined ? settledTlsIn(context, told) : {}),
    ...rememberedIn(lasting, lastingOf(context, resource)),
    ...(key.id === undefined ? {} : { digestKeyId: key.id }),
    reference: (field) => (fields.includes(field) ? resolve(context, field, resource) : undefined),
    peer: (kind) => peerIn(context, service, kind)?.name,
    peerSpec: (kind) => (service === undefined ? childSpec(context, kind) : peerIn(context, service, kind)?.spec),
    peerEndpoint: (kind) => peerEndpointIn(context, service, kind),
    peerRemembered: (kind) => peerRememberedIn(context, service, kind),
    address: (owner, name) => addressOf(context, owner, name),
    serves: (api) => optionalKinds.some((kind) => `${kind.group}/${kind.kind}` === api && cache.served(kind)),
    digest(name) {
      const [, configMap] = configMapDigestPattern.exec(name) ?? [];
      const found = configMap === undefined ? data('Secret', name) : data('ConfigMap', configMap);
      return found && keyedDigest(key, found);
    },
    isLent: () => isLent(context),
    rotation: (name) => {
      const owners = fields.flatMap((field) => {
        const resolved = resolve(context, field, resource);
        return resolved !== undefined && 'found' in resolved ? [resolved.found] : [];
      });
      return rotationIn(data('Secret', name), [resource, ...owners]);
    },
    lacking: (kind, name, key) => lackingIn(data(kind, name), key),
    storageClasses: () => (cache.has(StorageClass) ? storageClassesOf(context) : undefined),
    claimBytes: (name) => claimBytes(context, name),
    gateway: (name) => (cache.served(Gateway) ? gatewayOf(context, name) : undefined),
    nodes: () => ((service?.groups ?? service?.nodeGroups) === undefined ? [] : nodesOf(context, resource)),
    isNode: (name) => !cache.has(Node) || cache.get(Node, { name }) !== undefined,
    wasReady: () => wasReady(resource),
    twins: () => (service === undefined ? [] : twinsOf(context, service)),
  };
}

/** What of its status compose may know. */
interface Remembered {
  readonly release?: ReleaseStatus;
  readonly members?: Members;
  readonly lasting?: Readonly<Record<string, string>>;
  readonly rotated?: Readonly<Record<string, Partial<Rotation>>>;
  readonly tls?: TlsState;
  readonly tlsGeneration?: number;
}

/** Which of its passwords a Secret of a resource holds: what somebody else has made says nothing. */
function rotationIn(secret: StoredObject | undefined, owners: readonly StoredObject[]): Rotation | undefined {
  if (secret === undefined) return undefined;
  const controller = controllerOf(secret)?.uid;
  return owners.some(({ metadata }) => metadata.uid === controller) ? rotationOf(secret) : undefined;
}

/** Whether a resource of the namespace has hosts log in as a user of this one. */
function isLent({ cache, object: { kind, metadata } }: ComposeContext): boolean {
  const { namespace = '', name } = metadata;
  return borrowersOf(kind).some((borrower) =>
    cache.list(borrower.kind, { namespace }).some((one) => (borrowedName(borrower, one) ?? name) === name),
  );
}

/** The ConfigMap in which an earlier resource of the name has left what its data are found by. */
function lastingOf({ cache }: ComposeContext, object: StoredObject): StoredObject | undefined {
  const { name, namespace = '' } = object.metadata;
  const found = cache.get(ConfigMap, { namespace, name: `${name}-${lastingSuffix}` });
  return found !== undefined && ownershipOf(object, true).ours?.(found) === true ? found : undefined;
}

const configMapDigestPattern = new RegExp(`^${configMapDigest('(.*)')}$`, 'u');

/** Where a resource has accounts. */
const accounts = ['database', 'broker', 'identity'] as const satisfies readonly Capability[];

/** So many twins are told of that have the same in common, the oldest ones: one is enough to say so. */
const mostTwins = 2;

/**
 * Other resources in the namespace that have an account of this one's on the same server and are not being deleted, or of
 * its kind, whose agents run on its nodes. Of thousands, few: each of them is told of the others.
 */
function twinsOf(context: OperatorContext, service: Gathered): Twin[] {
  const { cache, object: resource } = context;
  const { namespace = '', uid } = resource.metadata;
  const serverOf = serversBy(context);
  const mine = serversOf(service, resource, serverOf);
  const onNodes = service.groups !== undefined;
  if (mine.size === 0 && !onNodes) return [];
  const cloud = cloudOf(resource);
  const held = heldAccounts(service, resource.metadata.name, resource['spec'] ?? {});
  const born = ageOf(resource);
  const told = new Map<string, number>();
  const kind = kindOf(resource);
  return services
    .flatMap((one) => cache.list(one.kind, { namespace }).map((other) => ({ one, other })))
    .filter(({ other }) => other.metadata.uid !== uid)
    .flatMap(({ one, other }) => {
      const { metadata } = other;
      const its = metadata.deletionTimestamp === undefined ? serversOf(one, other, serverOf) : new Map();
      const servers = accounts.filter(
        (capability) => its.has(capability) && its.get(capability) === mine.get(capability),
      );
      const isOfKind = one.kind.kind === kind.kind;
      const onSameNodes = onNodes && isOfKind && hasNodes(other) && cloudOf(other) === cloud;
      const shared = [...servers, ...(onSameNodes ? ['nodes' as const] : [])];
      const common =
        servers.length === 0
          ? []
          : commonAccounts(heldAccounts(one, metadata.name, other['spec'] ?? {}), { held, shared });
      const age = ageOf(other);
      const twin: Twin = { kind: one.kind.kind, name: metadata.name, held: common, shared, isOlder: age < born };
      return common.length === 0 && !onSameNodes ? [] : [{ twin, age }];
    })
    .sort((one, other) => (one.age < other.age ? -1 : 1))
    .flatMap(({ twin }) => {
      const common = [...(twin.shared.includes('nodes') ? ['nodes'] : []), ...twin.held.map(({ what }) => what)];
      const untold = common.filter((one) => (told.get(one) ?? 0) < mostTwins);
      for (const one of untold) told.set(one, (told.get(one) ?? 0) + 1);
      return untold.length === 0 ? [] : [twin];
    });
}

/** By what the older one of two is known: who has nodes already goes before who was made first. */
function ageOf({ metadata, status }: StoredObject & { readonly status?: unknown }): string {
  const { nodes = [] } = (status ?? {}) as { nodes?: readonly unknown[] };
  return `${nodes.length > 0 ? 0 : 1} ${metadata.creationTimestamp} ${metadata.uid}`;
}

type ServerOf = (field: ReferenceField, resource: StoredObject) => string;

/** On which servers a resource has accounts. */
function serversOf(service: Gathered, resource: StoredObject, serverOf: ServerOf): ReadonlyMap<Capability, string> {
  const fields = accounts.flatMap((capability) => {
    const field = fieldFor(service, capability);
    return field === undefined ? [] : [[capability, serverOf(field, resource)] as const];
  });
  return new Map(fields);
}

/** Whether a resource that is there still has its nodes: one that is deleted has them until we let it go. */
function hasNodes({ metadata: { deletionTimestamp, finalizers = [] } }: StoredObject): boolean {
  return deletionTimestamp === undefined || finalizers.some((name) => name.startsWith(`${prefix}/`));
}

/**
 * Gives the server that a field of a resource leads to, as a text to compare; what does not resolve is nobody else's. A
 * namespace may have thousands of resources: it is listed once.
 */
function serversBy({ cache, object }: OperatorContext): ServerOf {
  const { namespace = '' } = object.metadata;
  const onlyOnes = new Map<ReferenceField, StoredObject | undefined>();
  const onlyOne = (field: ReferenceField) => {
    if (!onlyOnes.has(field)) {
      const [first, ...more] = cache.list(kindReferredBy(field), { namespace });
      onlyOnes.set(field, more.length === 0 ? first : undefined);
    }
    return onlyOnes.get(field);
  };
  return (field, resource) => {
    const spec = (resource['spec'] ?? {}) as Record<string, { name?: string; external?: object } | undefined>;
    const { name, external } = spec[field] ?? {};
    if (external !== undefined) return JSON.stringify({ ...external, secretName: '' });
    const found = name === undefined ? onlyOne(field) : cache.get(kindReferredBy(field), { namespace, name });
    return found?.metadata.uid ?? `unresolved, of ${resource.metadata.name}`;
  };
}

/** So many keys are told of that an object has in place of another one. */
const mostKeys = 11;

/** By cached object: a Secret may have tens of thousands of keys, and lack hundreds that are named. */
const knownKeys = new WeakMap<StoredObject, readonly string[]>();

/** What is not there of an object, and of a key of it. */
function lackingIn(found: StoredObject | undefined, key: string | undefined): Lacking | undefined {
  if (found === undefined) return 'object';
  const data = [found['data'] ?? {}, found['binaryData'] ?? {}];
  if (key === undefined || data.some((one) => Object.hasOwn(one, key))) return undefined;
  const keys = knownKeys.get(found) ?? data.flatMap((one) => Object.keys(one).slice(0, mostKeys)).sort();
  knownKeys.set(found, keys);
  return { keys: keys.slice(0, mostKeys) };
}

/** Resources that a message names, of those that a reference may mean. */
const mostNamed = 10;

/**
 * The resource that a field refers to: the named one, or the only one in the namespace. Undefined when the field leads to
 * something that this operator does not run.
 */
export function resolve(context: OperatorContext, field: ReferenceField, resource: StoredObject): Resolved | undefined {
  const kind = kindReferredBy(field);
  const namespace = resource.metadata.namespace ?? '';
  const spec = (resource['spec'] ?? {}) as ServiceSpec;
  if (externalOf(spec, field) !== undefined) return undefined;
  const name = (spec as Record<string, { name?: string } | undefined>)[field]?.name;
  if (name !== undefined) {
    const found = context.cache.get(kind, { namespace, name });
    return found === undefined
      ? { missing: `spec.${field}.name: ${kind.kind} ${name} does not exist in namespace ${namespace}` }
      : { found };
  }
  const root = rootOf(resource)?.uid;
  // What is below another control plane is not meant by default.
  const isCandidate = (one: StoredObject) => root === undefined || [root, undefined].includes(rootOf(one)?.uid);
  const candidates = context.cache.list(kind, { namespace }).filter(isCandidate);
  const [only] = candidates;
  if (only !== undefined && candidates.length === 1) return { found: only };
  const some = candidates.slice(0, mostNamed).map((candidate) => candidate.metadata.name);
  const names = [...some, ...(candidates.length > mostNamed ? ['...'] : [])].join(', ');
  if (candidates.length === 0)
    return {
      missing: `spec.${field} is not set and namespace ${namespace} has no ${kind.kind}; create one, or set spec.${field}`,
    };
  const missing = `spec.${field} is not set and namespace ${namespace} has several of kind ${kind.kind} (${names}); set spec.${field}.name`;
  return { missing, ambiguous: true };
}

/** The peer of a kind, of those that the service has. */
function peerIn(context: OperatorContext, service: Gathered | undefined, kind: string): Peer | undefined {
  const peer = service?.peers?.find((one) => one.kind.kind === kind);
  if (peer === undefined) return undefined;
  const { namespace = '' } = context.object.metadata;
  return peerOf(context.object, kind, {
    root: ownerOf(context),
    others: () => context.cache.list(peer.kind, { namespace }),
  });
}

/** Where the API of the peer of a kind answers, once it was deployed: before that its Service need not be there. */
function peerEndpointIn(context: OperatorContext, service: Gathered | undefined, kind: string): string | undefined {
  const peer = service?.peers?.find((one) => one.kind.kind === kind);
  const name = peerIn(context, service, kind)?.name;
  if (peer === undefined || name === undefined) return undefined;
  const { namespace = '' } = context.object.metadata;
  const found = context.cache.get(peer.kind, { namespace, name });
  return found && deployedEndpoint(found);
}

/**
 * What the resource of a kind in the same cloud remembers of its entries: a peer, or a child of a root. Of a child that was
 * disabled its ConfigMap tells, which outlives it as its data do.
 */
function peerRememberedIn(
  context: ComposeContext,
  service: Gathered | undefined,
  kind: string,
): Surroundings['remembered'] {
  const peer = (service === undefined ? services : (service.peers ?? [])).find((one) => one.kind.kind === kind);
  const root = service === undefined ? context.object : ownerOf(context);
  const name = (root && childNameOf(root, kind)) ?? peerIn(context, service, kind)?.name;
  if (peer === undefined || name === undefined) return {};
  const { namespace = '' } = context.object.metadata;
  const { kind: of } = peer;
  const gone: StoredObject = {
    apiVersion: `${of.group}/${of.version}`,
    kind,
    metadata: { namespace, name, uid: '', resourceVersion: '' },
  };
  const found = context.cache.get(of, { namespace, name }) ?? gone;
  const { lasting } = (found['status'] ?? {}) as Remembered;
  return rememberedIn(lasting, lastingOf(context, found)).remembered;
}

/** The address of a Service, if that is controlled by the owner and has one. */
function addressOf({ cache }: ComposeContext, owner: Pick<StoredObject, 'metadata'>, name: string): string | undefined {
  const service = cache.get(KubeService, { namespace: owner.metadata.namespace ?? '', name });
  if (service === undefined || controllerOf(service)?.uid !== owner.metadata.uid) return undefined;
  const { clusterIP = '' } = (service.spec ?? {}) as { clusterIP?: string };
  return ['', 'None'].includes(clusterIP) ? undefined : clusterIP;
}

function storageClassesOf(context: ComposeContext): Record<string, boolean> {
  const isDefault = 'storageclass.kubernetes.io/is-default-class';
  const classes = context.cache.list(StorageClass);
  return Object.fromEntries(
    classes.map(({ metadata }) => [metadata.name, metadata.annotations?.[isDefault] === 'true']),
  );
}

function gatewayOf(context: ComposeContext, key: string): GatewayFacts | undefined {
  const { listeners = [] } = (context.cache.get(Gateway, key)?.['spec'] ?? {}) as {
    listeners?: GatewayFacts['listeners'];
  };
  if (context.cache.get(Gateway, key) === undefined) return undefined;
  return { listeners: listeners.map(({ name, protocol, port }) => ({ name, protocol, port })) };
}

/** The nodes that the resource's cloud has claimed, by name. */
function nodesOf(context: ComposeContext, resource: StoredObject): ReturnType<Surroundings['nodes']> {
  if (!context.cache.has(Node)) return [];
  const cloud = cloudOf(resource);
  const joined = joinedNodes(context);
  const { nodes = [] } = (resource['status'] ?? {}) as { nodes?: readonly ClaimedNode[] };
  const { onCordon = false } = ((resource['spec'] ?? {}) as ServiceSpec).maintenance ?? {};
  const maintained = new Set(nodes.flatMap(({ name, maintenance }) => (maintenance === undefined ? [] : [name])));
  return context.cache
    .byIndex(Node, nodesByCloud, cloud)
    .map((node) => {
      const { addresses = [] } = (node['status'] ?? {}) as { addresses?: { type: string; address: string }[] };
      return {
        name: node.metadata.name,
        internalIp: addresses.find(({ type }) => type === 'InternalIP')?.address ?? '',
        labels: node.metadata.labels ?? {},
        joined: joined.has(node.metadata.name),
        ...maintenanceFacts(node, { recorded: maintained.has(node.metadata.name), onCordon }),
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
