import { apiVersionOf, type Kind, type KubeObject } from '@openstack-operator/kube';
import { builtInKinds } from './built-in-kinds.ts';
import type { Api } from './define-api.ts';
import { Glance } from './glance.ts';
import { Keystone } from './keystone.ts';
import { MariaDB } from './mariadb.ts';
import { Memcached } from './memcached.ts';
import { Neutron } from './neutron.ts';
import { Nova } from './nova.ts';
import { OpenStackControlPlane } from './openstack-control-plane.ts';
import { OVNNetwork } from './ovn-network.ts';
import { Placement } from './placement.ts';
import { RabbitMQ } from './rabbitmq.ts';

/** Every kind of `openstack.k8s.io/v1alpha1` that this version offers. */
export const kinds: readonly Api[] = [
  OpenStackControlPlane,
  MariaDB,
  RabbitMQ,
  Memcached,
  OVNNetwork,
  Keystone,
  Glance,
  Placement,
  Neutron,
  Nova,
];

const known = new Map<string, Kind>(
  [...builtInKinds, ...kinds].map((kind) => [`${apiVersionOf(kind)} ${kind.kind}`, kind]),
);

/**
 * The `Kind` of an object: one of ours, or one that compose may state.
 * @throws Error when neither knows it (a kind that is missing in built-in-kinds.ts)
 */
export function kindOf(object: Pick<KubeObject, 'apiVersion' | 'kind'>): Kind {
  const kind = known.get(`${object.apiVersion} ${object.kind}`);
  if (kind === undefined) {
    throw new Error(`no Kind is known for ${object.apiVersion} ${object.kind}; it is missing in built-in-kinds.ts`);
  }
  return kind;
}
