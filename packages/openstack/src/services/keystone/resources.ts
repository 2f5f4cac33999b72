import type { ResourceApi } from '../../engine/vocabulary/cloud-resources.ts';

/**
 * How Keystone keeps projects and users of the default domain, which bootstrap creates under this id. A user of these has no
 * password. Both are known by their description: it never changes. A project that is found, by its name, is anybody's.
 */
export const identityApi: Readonly<Record<string, ResourceApi>> = {
  project: {
    path: '/projects',
    list: '/projects?domain_id=default&name={name}',
    item: 'project',
    mark: 'description',
    change: 'PATCH',
  },
  'found project': {
    path: '/projects',
    list: '/projects?domain_id=default&name={name}',
    item: 'project',
    mark: 'name',
  },
  user: {
    path: '/users',
    list: '/users?domain_id=default&name={name}',
    item: 'user',
    mark: 'description',
    change: 'PATCH',
  },
};
