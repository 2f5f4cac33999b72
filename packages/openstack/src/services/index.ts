import type { Service } from '../engine/service.ts';
import { mariadb } from '../infrastructure/mariadb.ts';
import { memcached } from '../infrastructure/memcached.ts';
import { keystone } from './keystone/keystone.ts';

/** Every service that this version can deploy. */
export const services: readonly Service[] = [mariadb, memcached, keystone] as unknown as readonly Service[];
