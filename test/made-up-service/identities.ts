import { addServices } from './add-services.ts';

/** What a service with two users, a domain and an implied role has in Keystone, from its start to its end. Prints it, as JSON. */
addServices(['bell.ts', 'bell']);

const { identityOnly, readyCloud } = await import('../rollout/cloud.ts');
const { call, entitiesOf, login } = await import('../rollout/keystone.ts');
const { OpenStackControlPlane } = await import('@openstack-operator/openstack');
const renamed = { identity: { users: { bell_domain_admin: { userName: 'ringer-in-chief' } } } };
const bell = { ...renamed, recordsAudit: { schedule: '*/5 * * * *' } };
const { cloud } = await readyCloud({ spec: { ...identityOnly, bell } });

const byName = async (collection: string, name: string) =>
  (await entitiesOf(cloud, collection)).find((one) => one['name'] === name);
const text = (secret: string, key: string) =>
  Buffer.from(
    ((cloud.get('Secret', secret)?.['data'] ?? {}) as Record<string, string>)[key] ?? '',
    'base64',
  ).toString();
const events = (reason: string) =>
  cloud
    .list('Event')
    .map((event) => event as unknown as { reason?: string; message?: string })
    .flatMap((event) => (event.reason === reason ? [event.message] : []));
/** Whether the second user logs in to its domain, with the rights of an administrator. */
async function isAdministrator(): Promise<boolean> {
  const domain = { name: 'bells' };
  const password = text('my-cloud-bell-bell-domain-admin-password', 'password');
  const user = { name: 'ringer-in-chief', domain, password };
  const token = await login(cloud, { identity: { methods: ['password'], password: { user } }, scope: { domain } });
  return (await call(cloud, token, 'GET', '/domains')).includes('bells');
}

const [admin, ringer] = [await byName('roles', 'admin'), await byName('roles', 'ringer')];
const implied = `/roles/${admin?.id}/implies/${ringer?.id}`;
const [probe, probes] = [await byName('users', 'bell_probe'), await byName('projects', 'probes')];
const up = {
  users: [await byName('users', 'bell'), await byName('users', 'ringer-in-chief')],
  owner: await byName('roles', 'bell_owner'),
  probe: JSON.parse(
    await call(cloud, await login(cloud), 'GET', `/projects/${probes?.id}/users/${probe?.id}/roles`),
  ) as unknown,
  domain: await byName('domains', 'bells'),
  isAdministrator: await isAdministrator(),
  implied: JSON.parse(await call(cloud, await login(cloud), 'GET', implied)) as unknown,
};
const token = await login(cloud);
await call(cloud, token, 'DELETE', implied);
await call(cloud, token, 'PATCH', `/domains/${up.domain?.id}`, { domain: { enabled: false } });
await cloud.clock.advance(7 * 60_000);
const repaired = events('RecordsRepaired');
await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { bell: { enabled: false } } });
await cloud.until(() => cloud.get('Bell', 'my-cloud-bell') === undefined);
const off = {
  users: [await byName('users', 'bell'), await byName('users', 'ringer-in-chief')],
  domain: await byName('domains', 'bells'),
  events: events('Deregistered'),
};
process.stdout.write(JSON.stringify({ up, repaired, off }));
process.exit(0);
