import type { StoredObject } from '@openstack-operator/kube';
import { type Filter, secretReference } from '../../oslo/references.ts';
import type { Release } from '../../releases/release.ts';
import { cloudOf, previousSuffix, serviceHost } from '../names/names.ts';
import { upgradeOf } from '../status/upgrade.ts';
import { type Accounts, accountsOf, databaseName, inGeneration, type UserAccount } from './accounts.ts';
import { authority, type BrokerAddress, type DatabaseAddress, type IdentityAddress } from './addresses.ts';
import { sharedSecrets } from './common-accounts.ts';
import type { Component } from './component.ts';
import { fieldFor, offerBy, ownOffer } from './dependencies.ts';
import { exposedOf, exposureOf } from './exposure.ts';
import { topicsOf } from './notifications.ts';
import type { Capability, Service } from './service.ts';
import type { ReferenceField, Rotation, ServiceResource, ServiceSpec, Surroundings } from './surroundings.ts';
import { databaseAt } from './trust.ts';

/** What a service's definition sees: the resource, its surroundings, and names and addresses that follow from them. */
export interface Context<R extends ServiceResource = ServiceResource> {
  readonly resource: R;
  readonly spec: NonNullable<R['spec']>;
  /** The resource's name: prefix of every object's name. */
  readonly name: string;
  readonly namespace: string;
  readonly region: string;
  /** Release of the programs: in the first phase of an upgrade the one before. */
  readonly release: Release;
  readonly surroundings: Surroundings;
  /** Value of the label of the nodes that its cloud has claimed. */
  readonly cloud: string;
  /** Type of its API in the catalogue; undefined when it has none. */
  readonly serviceType: string | undefined;
  /** Accounts of the service, with the names that the resource gives them. */
  readonly accounts: Accounts;
  readonly database: DatabaseAddress;
  readonly broker: BrokerAddress;
  /** memcached servers, `host:port[,host:port...]`; undefined when the service has no cache. */
  readonly cache: string | undefined;
  /** URL of what its processes coordinate by (tooz), with references to Secrets; undefined when the service has none. */
  readonly coordination: string | undefined;
  readonly identity: IdentityAddress;
  /** `status.data` of such servers that it refers to: another one when what was made there is to be made again. */
  readonly begun: (capabilities: readonly Capability[]) => string | undefined;
  /** What a service that it depends on offers: the address of the referenced resource, or of the external one. */
  readonly address: (field: ReferenceField) => unknown;
  /** `<name>-<suffix>`, or the name alone for an empty suffix. */
  readonly named: (suffix: string) => string;
  /** Host name of one of the resource's own Services. */
  readonly host: (suffix: string) => string;
  /** A referenced resource; undefined when it is external. */
  readonly reference: (field: ReferenceField) => StoredObject | undefined;
  /** Name of a resource that is referred to by name only: it may not exist yet. Undefined when nothing is meant. */
  readonly mention: (field: ReferenceField) => string | undefined;
  /** URL of a component from outside; undefined when it is not exposed. */
  readonly publicUrl: (name: string, component: Component) => string | undefined;
  /** SQLAlchemy URL of one of the service's databases (default: for PyMySQL), with references to its user's password. */
  readonly databaseUrl: (database: string, dialect?: Dialect) => string;
  /** oslo.messaging URL of one of the service's vhosts (default: its own), with references to its user's password. */
  readonly transportUrl: (vhost?: string) => string;
  /** The rotation of a Secret, while pods may use the password before: that need not be there any more. */
  readonly rotating: (secret: string) => Rotation | undefined;
  /** The Secret with the password before that of a Secret, while pods may use it. */
  readonly previousOf: (secret: string) => Previous | undefined;
  /** Whether another resource logs in as the same user by a Secret: it is told of no other user, and of no other password first. */
  readonly isShared: (secret: string) => boolean;
  /** One of the service's users in Keystone, by its name in the definition (default: the first). @throws Error when there is none */
  readonly user: (name?: string) => UserAccount;
  /** URLs of the APIs that the service proxies and its cloud has, inside the cluster, by the name of the service. */
  readonly apis: Readonly<Record<string, string>>;
  /** Topics that the service sends notifications to; none while nobody reads them. */
  readonly topics: readonly string[];
  /** Reference to the key with which tokens are encrypted in the cache; `filter`: how it is encoded in the file, default that of oslo.config. */
  readonly cacheKey: (filter?: Filter) => string;
}

/** A password before, which is still accepted. */
export interface Previous {
  readonly secret: string;
  readonly generation: number;
}

/** What SQLAlchemy, or what reads such URLs besides, calls the database and its driver: some want no driver. */
export type Dialect = 'mysql+pymysql' | 'mysql';

/** What a reference field of the spec says of something that this operator does not run. */
export function externalOf(spec: ServiceSpec, field: ReferenceField): unknown {
  return (spec as Record<string, { external?: unknown } | undefined>)[field]?.external;
}

/** Builds the context; addresses are computed when a definition asks for them. */
export function contextOf<R extends ServiceResource>(
  service: Service<R>,
  resource: R,
  surroundings: Surroundings,
): Context<R> {
  const name = resource.metadata.name ?? '';
  const namespace = resource.metadata.namespace ?? 'default';
  const spec = (resource.spec ?? {}) as NonNullable<R['spec']>;
  const accounts = inGeneration(accountsOf(service, name, spec), surroundings);
  const reference = (field: ReferenceField): StoredObject | undefined => {
    const resolved = surroundings.reference(field);
    return resolved !== undefined && 'found' in resolved ? resolved.found : undefined;
  };
  const address = (field: ReferenceField | undefined): unknown => {
    const offer = field === undefined ? undefined : offerBy(service, field);
    if (field === undefined || offer?.address === undefined)
      throw new Error(`${service.name}: ${field} offers no address`);
    const external = externalOf(spec, field) as never;
    if (external !== undefined) return offer.external?.(external);
    const found = reference(field);
    if (found === undefined) throw new Error(`${service.name}: uses ${field}, which is not among its references`);
    return offer.address(found, surroundings);
  };
  let shared: ReadonlySet<string> | undefined;
  const rotating = (secret: string) => {
    const rotation = surroundings.rotation(secret);
    const isUnderWay =
      rotation !== undefined &&
      rotation.generation > 1 &&
      surroundings.rotated[secret]?.generation !== rotation.generation;
    return isUnderWay ? rotation : undefined;
  };
  const named = (suffix: string) => (suffix === '' ? name : `${name}-${suffix}`);
  const database = () => address(fieldFor(service, 'database')) as DatabaseAddress;
  const broker = () => address(fieldFor(service, 'broker')) as BrokerAddress;
  return {
    resource,
    spec,
    name,
    namespace,
    region: spec.region ?? 'RegionOne',
    release: upgradeOf(service.migrate !== undefined, spec, surroundings.release).running,
    surroundings,
    cloud: cloudOf(resource),
    serviceType: service.identity?.catalogue[0]?.type,
    accounts,
    named,
    host: (suffix) => serviceHost(named(suffix), namespace),
    reference,
    mention: (field) =>
      (spec as Readonly<Record<string, { name?: string } | undefined>>)[field]?.name ?? reference(field)?.metadata.name,
    publicUrl: (name, component) =>
      component.exposed === undefined
        ? undefined
        : exposureOf(exposedOf({ namespace, spec }, name, component), surroundings).url,
    get database() {
      return database();
    },
    get broker() {
      return broker();
    },
    get cache() {
      const field = fieldFor(service, 'cache');
      return field === undefined ? undefined : (address(field) as string);
    },
    get coordination() {
      const field = fieldFor(service, 'coordination');
      return field === undefined ? undefined : (address(field) as string);
    },
    get identity() {
      const field = fieldFor(service, 'identity');
      // The identity service registers itself, at its own address.
      const own = field === undefined ? ownOffer(service, 'identity') : undefined;
      return (own?.address?.(resource as StoredObject, surroundings) ?? address(field)) as IdentityAddress;
    },
    begun(capabilities) {
      const servers = capabilities.flatMap((capability) => {
        const field = fieldFor(service, capability);
        if (field === undefined || externalOf(spec, field) !== undefined) return [];
        const { data } = (reference(field)?.['status'] ?? {}) as { data?: string };
        return data === undefined ? [] : [`${capability} ${data}`];
      });
      return servers.length === 0 ? undefined : servers.join(', ');
    },
    address,
    databaseUrl(name, dialect = 'mysql+pymysql') {
      const { trust, ...address } = database();
      const { users } = accounts.database;
      const owner = service.databases?.find((one) => one.name === name)?.user;
      const { name: user, secret } = users.find((one) => one.user === owner) ?? users[0];
      // What reads the other URLs (the library databases) has no option that leads to a verified server.
      const trusted = dialect === 'mysql' ? address : { ...address, trust };
      return `${dialect}://${user}:${secretReference(secret, 'password', 'url')}@${databaseAt(trusted, databaseName(accounts, name))}`;
    },
    transportUrl(vhost = accounts.broker.vhost) {
      const { host, port } = broker();
      const { user, secret } = accounts.broker;
      return `rabbit://${user}:${secretReference(secret, 'password', 'url')}@${authority(host, port)}/${vhost}`;
    },
    isShared(secret) {
      shared ??= sharedSecrets(service, name, spec, surroundings.twins());
      return shared.has(secret);
    },
    user(wanted) {
      const { users } = accounts.identity;
      const found = wanted === undefined ? users[0] : users.find(({ user }) => user.name === wanted);
      if (found === undefined) throw new Error(`${service.name}: has no user ${wanted ?? ''} in Keystone`);
      return found;
    },
    get apis() {
      const { proxies = [], peers = [] } = service;
      return Object.fromEntries(
        peers.flatMap((peer) => {
          const url = proxies.includes(peer.name) ? surroundings.peerEndpoint(peer.kind.kind) : undefined;
          return url === undefined ? [] : [[peer.name, url] as const];
        }),
      );
    },
    get topics() {
      return topicsOf(service as unknown as Service, spec, surroundings);
    },
    rotating,
    previousOf(secret) {
      const previous = `${secret}-${previousSuffix}`;
      const { generation = 0 } = surroundings.rotation(previous) ?? {};
      // Until another one was generated it is the present one.
      return generation > 0 && rotating(secret)?.generation === generation + 1
        ? { secret: previous, generation }
        : undefined;
    },
    cacheKey: (filter = 'oslo') => secretReference(named('cache-key'), 'password', filter),
  };
}
