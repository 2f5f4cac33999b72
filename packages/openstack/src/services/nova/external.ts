import { userConfig, type WrittenConfig } from '../../engine/configuration/user-config.ts';
import { contextOf } from '../../engine/vocabulary/context.ts';
import type { Service } from '../../engine/vocabulary/service.ts';
import type { Surroundings } from '../../engine/vocabulary/surroundings.ts';
import { mariadb } from '../../infrastructure/mariadb/mariadb.ts';
import { memcached } from '../../infrastructure/memcached/memcached.ts';
import { rabbitmq } from '../../infrastructure/rabbitmq/rabbitmq.ts';
import { type Layer, layered } from '../../oslo/layers.ts';
import { keystone } from '../keystone/keystone.ts';
import { type Cell, cellsOf } from './cells.ts';
import { disksInCeph } from './ceph.ts';
import { computeConfiguration, isOfCompute, manageConfiguration } from './configuration.ts';
import type { Nova } from './kind.ts';
import { nova } from './nova.ts';

/** Where a host outside of the cluster reaches what its nova-compute asks. */
export interface OutsideAddresses {
  readonly broker: { readonly host: string; readonly port: number; readonly caSecretName?: string };
  readonly identityUrl: string;
}

/** What hypervisors outside of the cluster have of a Nova. */
export interface ExternalCompute {
  /** nova.conf of a hypervisor, without what is the host's alone: no database stands in it. */
  readonly compute: Layer;
  /** nova.conf of what finds its hosts, inside the cluster. */
  readonly manage: Layer;
  /** What cannot be had outside of the cluster. */
  readonly problems: readonly string[];
}

/** Nova, as far as its addresses go: those of what it refers to. */
const service = {
  ...nova,
  providers: new Map<string, unknown>(
    Object.entries({
      databaseRef: mariadb,
      messageQueueRef: rabbitmq,
      cacheRef: memcached,
      keystoneRef: keystone,
    }),
  ),
} as unknown as Service<Nova>;

/**
 * What hypervisors outside of the cluster have of a Nova: the same configuration as those inside have, with other
 * addresses and the public endpoints. `surroundings` refer to what the Nova refers to.
 */
export function externalCompute(
  resource: Nova,
  surroundings: Surroundings,
  { virtType, addresses: { broker, identityUrl } }: { virtType?: 'kvm' | 'qemu'; addresses: OutsideAddresses },
): ExternalCompute {
  const inside = contextOf(service, resource, { ...surroundings, release: {} });
  // No credential of an administrator is needed to say where they are.
  const secretName = '';
  const spec: Nova['spec'] = {
    ...resource.spec,
    messageQueueRef: { external: { ...broker, secretName } },
    keystoneRef: { external: { authURL: identityUrl, secretName } },
    // Their disks lie on them.
    ephemeralStorage: 'local',
  };
  const outside = contextOf(service, { ...resource, spec }, { ...surroundings, release: {} });
  const [cell] = cellsOf(inside) as [Cell];
  const own: Layer = {
    // Guests outside of the cluster have no agent of metadata beside them.
    DEFAULT: { force_config_drive: true },
  };
  const agents = { cell, virtType: virtType ?? spec.virtType ?? 'kvm' };
  return {
    compute: layered(computeConfiguration(outside, agents, 'public'), own, ...userLayers(spec)),
    manage: manageConfiguration(inside, cell),
    problems: disksInCeph(inside.spec)
      ? ['its spec.ephemeralStorage keeps disks in Ceph, which hosts outside of the cluster cannot have yet']
      : [],
  };
}

/** What users say of hypervisors; the Nova itself tells them of mistakes. */
function userLayers({ config = {} }: Partial<Nova['spec']>): Layer[] {
  const { 'nova.conf': file, compute } = config as Readonly<Record<string, WrittenConfig[string]>>;
  const said = { 'nova.conf': file ?? null, compute: compute ?? null };
  const rules = { path: 'spec.config', names: Object.keys(said), owned: nova.owned ?? {}, allowsUnknown: true };
  const { layers } = userConfig(said, rules);
  return Object.values(layers).map((layer) =>
    Object.fromEntries(Object.entries(layer).filter(([section]) => isOfCompute(section))),
  );
}
