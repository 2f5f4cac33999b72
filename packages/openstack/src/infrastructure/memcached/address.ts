import type { StoredObject } from '@openstack-operator/kube';
import { authority, hostOf } from '../../engine/vocabulary/addresses.ts';
import { secretReference } from '../../oslo/references.ts';
import type { CacheRef, CoordinationRef } from './reference.ts';

/** `host:port` of a Memcached resource. */
export function cacheAddress(memcached: StoredObject): string {
  return `${hostOf(memcached)}:11211`;
}

/** Those of memcached servers that this operator does not run. */
export function externalCache({ servers }: NonNullable<CacheRef['external']>): string {
  return servers.join(',');
}

/** What tooz reaches a Memcached resource by. */
export function coordinationUrl(memcached: StoredObject): string {
  return `memcached://${cacheAddress(memcached)}`;
}

/** What tooz reaches a Valkey or Redis by that this operator does not run, with a reference to its password. */
export function externalCoordination({
  host,
  port = 6379,
  secretName,
}: NonNullable<CoordinationRef['external']>): string {
  const login = secretName === undefined ? '' : `:${secretReference(secretName, 'password', 'url')}@`;
  return `redis://${login}${authority(host, port)}`;
}
