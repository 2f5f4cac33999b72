import type { Layer } from '../../oslo/layers.ts';
import { type Filter, secretReference } from '../../oslo/references.ts';
import type { Context } from '../vocabulary/context.ts';
import { trustedBy } from '../vocabulary/trust.ts';

/** Sections that many services share, said once. Facts: the service catalogue of 2025.1, checked option by option. */

/** Logs go to the container's output. */
export const logging: Layer = { DEFAULT: { use_stderr: true, debug: false } };

/** `[database]`, or the section that the service calls so. */
export function database(context: Context, name: string, section = 'database'): Layer {
  return {
    [section]: {
      connection: context.databaseUrl(name),
      // Below MariaDB's wait_timeout; oslo.db's default overflow of 50 breaks the sum of all pools.
      connection_recycle_time: 280,
      max_pool_size: 5,
      max_overflow: 10,
      max_retries: -1,
    },
  };
}

/** What of a service's way to speak to the broker depends on its programs. */
interface Speaking {
  /** Its API runs under uwsgi: idle it misses its heartbeats and then hangs in the next AMQP handshake (seen live). */
  readonly pthreadHeartbeat?: boolean;
}

/** The broker, and notifications to whoever reads them. */
export function messaging(context: Context, options: Speaking & { readonly vhost?: string } = {}): Layer {
  return {
    DEFAULT: { transport_url: context.transportUrl(options.vhost) },
    ...rabbit(context, options),
    ...notifications(context),
  };
}

/**
 * The same of a service that does nothing at the broker but to send notifications. It serves without a broker: by default
 * oslo.messaging tries for ever, and the request that sends one waits. One further attempt is what a broker that was
 * replaced takes, as the first one meets the old connection.
 */
export function sending(context: Context, options: Speaking = {}): Layer {
  if (context.topics.length === 0) return notifications(context);
  return sections(rabbit(context, options), notifications(context), { oslo_messaging_notifications: { retry: 1 } });
}

/** Quorum queues everywhere, RabbitMQ 4 has no mirrored ones. */
function rabbit({ broker }: Context, { pthreadHeartbeat = false }: Speaking): Layer {
  return {
    oslo_messaging_rabbit: {
      rabbit_quorum_queue: true,
      rabbit_transient_quorum_queue: true,
      ...(broker.trust === undefined ? {} : { ssl: true, ssl_ca_file: trustedBy('broker') }),
      ...(pthreadHeartbeat ? { heartbeat_in_pthread: true } : {}),
    },
  };
}

/** To whom notifications go: without readers their queues would grow without end. */
function notifications({ topics, accounts, transportUrl }: Context): Layer {
  if (topics.length === 0) return { oslo_messaging_notifications: { driver: 'noop' } };
  const url = transportUrl(accounts.broker.notifications);
  return { oslo_messaging_notifications: { driver: 'messagingv2', topics: topics.join(','), transport_url: url } };
}

/**
 * `[cache]` on memcached; nothing when there is none. The pool takes a server that is not there for a miss, where
 * dogpile's pymemcache lets every request fail (Keystone answered 500, seen live); by default it looks again after 300 s.
 */
export function cache(context: Context): Layer {
  if (context.cache === undefined) return {};
  const backend = 'oslo_cache.memcache_pool';
  return { cache: { enabled: true, backend, memcache_servers: context.cache, memcache_dead_retry: 10 } };
}

/** By what its processes agree on who does what (tooz); nothing when there is none. */
export function coordination(context: Context): Layer {
  return context.coordination === undefined ? {} : { coordination: { backend_url: context.coordination } };
}

/**
 * How the service asks Keystone about tokens: as its own user. What it caches of them others cannot read or forge.
 * `filter`: how secrets are encoded in the file.
 */
export function authtoken(context: Context, filter: Filter = 'oslo'): Layer {
  const cached = {
    memcached_servers: context.cache ?? '',
    memcache_security_strategy: 'ENCRYPT',
    memcache_secret_key: context.cacheKey(filter),
  };
  return {
    keystone_authtoken: {
      www_authenticate_uri: context.identity.publicUrl,
      ...client(context, undefined, filter),
      ...(context.cache === undefined ? {} : cached),
      // Without it every request with an application credential that has access rules is refused.
      ...(context.serviceType === undefined ? {} : { service_type: context.serviceType }),
      service_token_roles: 'service',
      service_token_roles_required: true,
    },
  };
}

/**
 * How the service logs in when it calls another one; always as a user of its own (production rule 33), the first one
 * unless it says otherwise: to the user's project, or to its domain. `filter`: how its password is encoded in the file.
 */
export function client(context: Context, name?: string, filter: Filter = 'oslo'): Readonly<Record<string, string>> {
  const { user, login: username, domain, secret } = context.user(name);
  return {
    auth_type: 'password',
    auth_url: context.identity.internalUrl,
    username,
    password: secretReference(secret, 'password', filter),
    user_domain_name: domain ?? 'Default',
    ...(domain === undefined
      ? { project_name: user.project ?? 'service', project_domain_name: 'Default' }
      : { domain_name: domain }),
    region_name: context.region,
    ...trustOfApis(context),
  };
}

/**
 * By what clients of Keystone and of the APIs verify certificates, where they are to be told. `option`: what a section calls
 * it, `cafile` where keystoneauth reads it.
 */
export function trustOfApis({ identity }: Context, option = 'cafile'): Readonly<Record<string, string>> {
  return identity.trust === undefined ? {} : { [option]: trustedBy('identity') };
}

/**
 * The same for programs of Python that have no option for it, or not for all of their clients: then they verify all servers
 * behind HTTPS by it (the library requests reads the variable).
 */
export function trustByVariable({ identity }: Context): Readonly<Record<string, string>> {
  return identity.trust === undefined ? {} : { REQUESTS_CA_BUNDLE: trustedBy('identity') };
}

/** APIs behind a gateway that ends TLS answer with its scheme. */
export const proxied: Layer = { oslo_middleware: { enable_proxy_headers_parsing: true } };

/** Where the service keeps its locks: a path that is writable in the pod. */
export function locks(service: string): Layer {
  return { oslo_concurrency: { lock_path: `/var/lib/${service}/tmp` } };
}

/** Adds sections up: the later ones' options win. */
export function sections(...layers: readonly Layer[]): Layer {
  const result: Record<string, Layer[string]> = {};
  for (const layer of layers) {
    for (const [section, options] of Object.entries(layer)) result[section] = { ...result[section], ...options };
  }
  return result;
}
