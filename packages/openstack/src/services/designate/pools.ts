import { serviceHost } from '../../engine/names/names.ts';
import type { Mount } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { DataMap } from '../../formats/data.ts';
import { secretReference } from '../../oslo/references.ts';
import type { Designate, Pool } from './kind.ts';

/** Ports of BIND in its pods: those that it has as a rule root alone may open. */
export const bindPorts = { dns: 5353, rndc: 1953 };

/** Where mdns hands zones out. */
export const mdnsPort = 5354;

/** The pool of zones that ask for no other, by the name and the id that Designate gives it. */
const defaultPool = { name: 'default', id: '794ccc2c-d751-44fe-b57f-8894c9f5c842' };

/** Whether BIND runs here: unless the pool `default` is somebody else's. */
export function hasBind({ pools = [] }: Designate['spec']): boolean {
  return !pools.some(({ name }) => name === defaultPool.name);
}

/**
 * `pools.yaml`. A zone without attributes fits into each pool; one with the attribute `pool` into that one alone, because
 * all have this attribute (a pool without any takes every zone: designate.scheduler.filters.attribute_filter).
 */
export function poolsOf(context: Context<Designate>): readonly DataMap[] {
  const { spec } = context;
  return [...(hasBind(spec) ? [ownPool(context)] : []), ...(spec.pools ?? []).map(externalPool)];
}

/** Keys of rndc, as files of the worker. */
export function keyMounts({ spec, named }: Context<Designate>): readonly Mount[] {
  const mount = (pool: string, secret: string) => ({ path: keyFile(pool), secret, key: 'rndc.key' });
  const external = (spec.pools ?? []).filter(({ type }) => type === 'bind9');
  return [
    ...(hasBind(spec) ? [mount(defaultPool.name, named('rndc-key'))] : []),
    ...external.map(({ name, secretName }) => mount(name, secretName)),
  ];
}

const keyFile = (pool: string) => `/etc/designate/rndc/${pool}.key`;

/** The NS records of a pool: host names with a dot at the end. */
const recordsOf = (names: readonly string[]) =>
  names.map((name, index) => ({ hostname: name.replace(/\.?$/, '.'), priority: index + 1 }));

/**
 * Every BIND is told of each zone, and has to have it. All are said by the addresses of their Services, which outlive pods:
 * BIND resolves no names of masters, and Designate takes no names of servers from its own messages.
 */
function ownPool(context: Context<Designate>): DataMap {
  const { spec, named, namespace, resource, surroundings } = context;
  const inCluster = (name: string) => `${serviceHost(named(name), namespace)}.${surroundings.clusterDomain}`;
  const { name = '', uid = '' } = resource.metadata;
  const owner = { metadata: { name, namespace, uid, resourceVersion: '' } };
  // As long as a Service has no address, where nothing runs yet, its name stands there.
  const addressOf = (service: string) => surroundings.address(owner, named(service)) ?? inCluster(service);
  const master = { host: addressOf('mdns'), port: mdnsPort };
  const servers = Array.from({ length: spec.bindReplicas ?? 1 }, (_, index) => addressOf(`bind-${index}`));
  return {
    ...defaultPool,
    attributes: { pool: defaultPool.name },
    ns_records: recordsOf(spec.nsRecords ?? [inCluster('bind')]),
    nameservers: servers.map((host) => ({ host, port: 53 })),
    targets: servers.map((host) => bindTarget(defaultPool.name, { host, port: 53, rndcPort: 953 }, [master])),
  };
}

interface Server {
  readonly host: string;
  readonly port: number;
  readonly rndcPort: number;
}

function bindTarget(pool: string, { host, port, rndcPort }: Server, masters: DataMap['masters']): DataMap {
  return {
    type: 'bind9',
    masters: masters ?? [],
    options: {
      host,
      port,
      rndc_host: host,
      rndc_port: rndcPort,
      rndc_key_file: keyFile(pool),
      clean_zonefile: true,
    },
  };
}

function externalPool({ name, type, nsRecords, masters: stated, servers, secretName }: Pool): DataMap {
  const masters = stated.map(({ host, port = mdnsPort }) => ({ host, port }));
  const target = ({ host, port = 53, rndcPort = 953, apiEndpoint = '' }: Pool['servers'][number]) => {
    if (type === 'bind9') return bindTarget(name, { host, port, rndcPort }, masters);
    const api_token = secretReference(secretName, 'password');
    return { type, masters, options: { host, port, api_endpoint: apiEndpoint, api_token } };
  };
  return {
    ...(name === defaultPool.name ? defaultPool : { name }),
    attributes: { pool: name },
    ns_records: recordsOf(nsRecords),
    nameservers: servers.map(({ host, port = 53 }) => ({ host, port })),
    targets: servers.map(target),
  };
}
