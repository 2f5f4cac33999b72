import { bellCloud, tell, whole } from './bell-cloud.ts';

/** What becomes of notifications while a service reads them, and while none does. */
const cloud = await bellCloud({ enabled: false }, whole);
const { password = '', username = '' } = cloud.secret('my-cloud-rabbitmq-credentials');

/** Who may do what in the virtual host of notifications, as the broker tells a pod that it lets in. */
async function rights(): Promise<unknown> {
  const name = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-neutron-server-'));
  const address = 'http://my-cloud-rabbitmq.openstack.svc:15672/api/vhosts/notifications/permissions';
  const pod = { namespace: 'openstack', name: name?.metadata.name ?? '' };
  const run = cloud.rehearsal.sandbox.pods.exec(pod, ['curl', '-s', '-u', `${username}:${password}`, address]);
  return JSON.parse((await cloud.settle(run)).stdout) as unknown;
}

const section = (deployment: string, file: string) =>
  /\[oslo_messaging_notifications\]\n(?:.+\n)*/.exec(cloud.file(deployment, file) ?? '')?.[0];
const variable = 'OS_OSLO_MESSAGING_NOTIFICATIONS__TRANSPORT_URL';
const told = () => ({
  neutron: section('my-cloud-neutron-server', 'neutron.conf'),
  nova: section('my-cloud-nova-api', 'nova.conf'),
  bell: cloud.get('Bell', 'my-cloud-bell') && section('my-cloud-bell-api', 'placement.conf'),
  url: cloud.secret('my-cloud-neutron-config')[variable]?.replace(/:[^:@]+@/, ':PASSWORD@'),
});
const unread = { ...told(), rights: await rights() };
await cloud.changed({ bell: { enabled: true } });
const read = { ...told(), rights: await rights() };
await cloud.changed({ bell: { enabled: false } });
tell({ unread, read, again: told() });
