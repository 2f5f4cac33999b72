import type { KubeObject } from '@openstack-operator/kube';
import { bellCloud, often, tell } from './bell-cloud.ts';

/** What two users of one service have in the database, from its start to its end. */
const cloud = await bellCloud(often, { deletionPolicy: 'Delete' });
const root = cloud.secret('my-cloud-mariadb-root-password')['password'] ?? '';
const second = cloud.secret('my-cloud-bell-bell-persistence-password')['password'] ?? '';

/** What the database server answers a user, or how it refuses. */
async function sql(user: string, password: string, statement: string): Promise<string> {
  const argv = ['mariadb', '-h127.0.0.1', `-u${user}`, `-p${password}`, '-N', '-B', '-e', statement];
  const pod = { namespace: 'openstack', name: 'my-cloud-mariadb-0' };
  const { stdout, stderr } = await cloud.settle(cloud.rehearsal.sandbox.pods.exec(pod, argv));
  return `${stdout}${stderr}`.trim();
}

const up = {
  url: cloud.secret('my-cloud-bell-config')['OS_PERSISTENCE__CONNECTION']?.replace(second, 'PASSWORD'),
  databases: (await sql('bell_persistence', second, 'SHOW DATABASES')).split('\n').sort(),
};
await sql('root', root, "REVOKE ALL PRIVILEGES ON bell_persistence.* FROM 'bell_persistence'@'%'");
await sql('root', root, 'DROP DATABASE bell');
await cloud.audited();
const repaired = {
  events: cloud.events('RecordsRepaired'),
  databases: (await sql('bell_persistence', second, 'SHOW DATABASES')).split('\n').sort(),
};
// Data are taken back of servers alone that this operator does not run.
const metadata = { name: 'their-database', namespace: 'openstack' };
const login: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata,
  stringData: { username: 'root', password: root },
};
await cloud.settle(cloud.rehearsal.create(login));
const external = { host: 'my-cloud-mariadb.openstack.svc', secretName: metadata.name };
await cloud.changed({ bell: { databaseRef: { external } } });
await cloud.changed({ bell: { enabled: false } });
await cloud.changed({ bell: { enabled: false } });
tell({
  up,
  repaired,
  off: {
    databases: (await sql('root', root, 'SHOW DATABASES')).split('\n').filter((name) => name.startsWith('bell')),
    login: await sql('bell_persistence', second, 'SHOW DATABASES'),
    events: cloud.events('Deregistered'),
  },
});
