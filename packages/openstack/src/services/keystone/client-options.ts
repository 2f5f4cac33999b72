import type { ClientOptions } from '../../engine/configuration/owned-options.ts';

/** How a service logs in somewhere: in every section that holds a client of Keystone. */
export const login: ClientOptions = {
  having: 'auth_type',
  fields: {
    auth_type: 'spec.keystoneRef',
    auth_url: 'spec.keystoneRef',
    username: 'spec.identity.userName',
    user_id: 'spec.identity.userName',
    password: 'spec.identity.secretName',
    project_name: 'spec.keystoneRef',
    project_id: 'spec.keystoneRef',
    user_domain_name: 'spec.keystoneRef',
    user_domain_id: 'spec.keystoneRef',
    project_domain_name: 'spec.keystoneRef',
    project_domain_id: 'spec.keystoneRef',
    domain_name: 'spec.keystoneRef',
    domain_id: 'spec.keystoneRef',
    region_name: 'spec.region',
    memcached_servers: 'spec.cacheRef',
    memcache_security_strategy: 'spec.cacheRef',
    memcache_secret_key: 'spec.cacheRef',
    www_authenticate_uri: 'spec.publicHostname of the Keystone',
  },
};
