import { readFileSync, writeFileSync } from 'node:fs';
import { connect, realClock, Secret, type StoredObject } from '@openstack-operator/kube';
import { Keystone } from '@openstack-operator/openstack';
import type { Credentials } from './openstack.ts';
import { dnsOf, type Place } from './place.ts';

/** Writes openrc, clouds.yaml and a resolv.conf for the control plane's administrator; gives the credentials. */
export async function writeAccess(
  place: Place,
  { namespace, name }: { namespace: string; name: string },
): Promise<Credentials> {
  const { client } = await connect({ kubeconfig: place.kubeconfig, env: process.env, clock: realClock });
  const keystone = await client.get(Keystone, { namespace, name: `${name}-keystone` });
  const { apiEndpoint = '' } = (keystone as StoredObject & { status?: { apiEndpoint?: string } }).status ?? {};
  const secret = await client.get(Secret, { namespace, name: `${name}-keystone-admin-password` });
  const password = Buffer.from((secret['data'] as Record<string, string>)['password'] ?? '', 'base64').toString();
  const credentials = { dns: dnsOf(place), url: apiEndpoint, username: 'admin', password, project: 'admin' };
  writeFileSync(place.openrc, openrc(credentials), { mode: 0o600 });
  writeFileSync(place.clouds, clouds(name, credentials), { mode: 0o600 });
  writeFileSync(place.resolver, resolver(dnsOf(place)));
  return credentials;
}

/**
 * The cluster's DNS refuses what is not its own: then the machine's servers are asked, as before. They say of its names that
 * there are none, so that one which is only busy gets time.
 */
function resolver(dns: string): string {
  const own = readFileSync('/etc/resolv.conf', 'utf8').match(/^nameserver .+$/gm) ?? [];
  return [`nameserver ${dns}`, ...own.slice(0, 2), 'search cluster.local', 'options timeout:10', ''].join('\n');
}

function openrc({ url, username, password, project }: Credentials): string {
  const variables = {
    OS_AUTH_URL: url,
    OS_USERNAME: username,
    OS_PASSWORD: password,
    OS_PROJECT_NAME: project,
    OS_USER_DOMAIN_NAME: 'Default',
    OS_PROJECT_DOMAIN_NAME: 'Default',
    OS_IDENTITY_API_VERSION: '3',
    OS_REGION_NAME: 'RegionOne',
  };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('');
}

/** JSON is YAML. */
function clouds(name: string, { url, username, password, project }: Credentials): string {
  const auth = {
    auth_url: url,
    username,
    password,
    project_name: project,
    user_domain_name: 'Default',
    project_domain_name: 'Default',
  };
  return `${JSON.stringify({ clouds: { [name]: { region_name: 'RegionOne', auth } } }, null, 2)}\n`;
}
