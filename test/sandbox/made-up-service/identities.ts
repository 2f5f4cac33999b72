import { bellCloud, often, tell } from './bell-cloud.ts';

/** What a service with further users, a domain and an implied role has in Keystone, from its start to its end. */
const cloud = await bellCloud({
  ...often,
  identity: { users: { bell_domain_admin: { userName: 'ringer-in-chief' } } },
});
const { call, entity } = cloud;

/** Whether the second user logs in to its domain, with the rights of an administrator. */
async function isAdministrator(): Promise<boolean> {
  const domain = { name: 'bells' };
  const { password } = cloud.secret('my-cloud-bell-bell-domain-admin-password');
  const user = { name: 'ringer-in-chief', domain, password };
  const token = await cloud.login({ identity: { methods: ['password'], password: { user } }, scope: { domain } });
  return (await call('GET', '/domains', { token })).includes('bells');
}

const users = async () => [await entity('users', 'bell'), await entity('users', 'ringer-in-chief')];
const domain = () => entity('domains', 'bells');
const [admin, ringer] = [await entity('roles', 'admin'), await entity('roles', 'ringer')];
const [probe, probes] = [await entity('users', 'bell_probe'), await entity('projects', 'probes')];
const implied = `/roles/${admin?.id}/implies/${ringer?.id}`;
const up = {
  users: await users(),
  owner: await entity('roles', 'bell_owner'),
  probe: JSON.parse(await call('GET', `/projects/${probes?.id}/users/${probe?.id}/roles`)) as unknown,
  domain: await domain(),
  isAdministrator: await isAdministrator(),
  implied: JSON.parse(await call('GET', implied)) as unknown,
};
await call('DELETE', implied);
await call('PATCH', `/domains/${up.domain?.id}`, { body: { domain: { enabled: false } } });
await cloud.audited();
const repaired = cloud.events('RecordsRepaired');
await cloud.changed({ bell: { enabled: false } });
tell({ up, repaired, off: { users: await users(), domain: await domain(), events: cloud.events('Deregistered') } });
