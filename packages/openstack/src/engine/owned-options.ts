/** How a service logs in somewhere: in every section that holds a client of Keystone. */
const login: Readonly<Record<string, string>> = {
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
  region_name: 'spec.region',
  memcached_servers: 'spec.cacheRef',
  memcache_security_strategy: 'spec.cacheRef',
  memcache_secret_key: 'spec.cacheRef',
  www_authenticate_uri: 'spec.publicHostname of the Keystone',
};

const databaseSections = ['database', 'api_database', 'placement_database'];
const loginSections = [
  'keystone_authtoken',
  'nova',
  'placement',
  'neutron',
  'glance',
  'service_user',
  'keystone',
  'cinder',
];

/** The field to set instead of an option that the operator composes for every service that has it. */
export function ownedEverywhere(section: string, option: string): string | undefined {
  if (databaseSections.includes(section) && ['connection', 'slave_connection'].includes(option)) {
    return 'spec.databaseRef or spec.database';
  }
  if (section === 'DEFAULT' && option === 'transport_url') return 'spec.messageQueueRef or spec.messageQueue';
  if (section === 'cache' && ['memcache_servers', 'enabled', 'backend'].includes(option)) return 'spec.cacheRef';
  return loginSections.includes(section) ? login[option] : undefined;
}
