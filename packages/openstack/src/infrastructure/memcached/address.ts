import type { StoredObject } from '@openstack-operator/kube';
import { hostOf } from '../../engine/addresses.ts';
import type { CacheRef } from './reference.ts';

/** `host:port` of a Memcached resource. */
export function cacheAddress(memcached: StoredObject): string {
  return `${hostOf(memcached)}:11211`;
}

/** Those of memcached servers that this operator does not run. */
export function externalCache({ servers }: NonNullable<CacheRef['external']>): string {
  return servers.join(',');
}
