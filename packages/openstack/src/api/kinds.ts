import type { Api } from './define-api.ts';
import { Keystone } from './keystone.ts';
import { MariaDB } from './mariadb.ts';

/** Every kind of `openstack.k8s.io/v1alpha1` that this version offers. */
export const kinds: readonly Api[] = [MariaDB, Keystone];
