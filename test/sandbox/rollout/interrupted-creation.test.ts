import { Pod } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, isReady, networkOnly, readyCloud } from './cloud.ts';

const server = { namespace: 'openstack', name: 'my-cloud-mariadb-0' };

const data = '/var/lib/mysql/data';
const withBroker = { ...identityOnly, rabbitmq: {} };
const isRunning = (cloud: Cloud, name: string) =>
  (cloud.get('Pod', name)?.status as { phase?: string })?.phase === 'Running';

test.each([
  ['MariaDB', server.name, 150],
  ['RabbitMQ', 'my-cloud-rabbitmq-0', 800],
])('a pod may end at any moment while its volume is prepared for %s', async (_kind, name, step) => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(withBroker)));
  const client = cloud.rehearsal.sandbox.client();
  for (let times = 1; times < 8; times++) {
    await cloud.until(() => isRunning(cloud, name));
    await cloud.clock.advance(times * step);
    await cloud.settle(client.delete(Pod, { ...server, name }, { gracePeriodSeconds: 0 }));
  }
  await cloud.ready();
});

test('a broker that has started once keeps its data', async () => {
  const { cloud } = await readyCloud({ spec: { ...withBroker, barbican: {} } });
  const rabbitmq = { ...server, name: 'my-cloud-rabbitmq-0' };
  const users = async () =>
    (await cloud.settle(cloud.rehearsal.sandbox.pods.exec(rabbitmq, ['rabbitmqctl', '-q', 'list_users']))).stdout;
  const before = await users();
  expect(before).toContain('barbican');
  await cloud.remove(Pod, rabbitmq.name);
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect(await users()).toBe(before);
});

test.each([
  ['is empty is prepared', `rm -rf ${data}; mkdir ${data}`, 'ready for connections'],
  ['holds files, but no tables, is left alone', `rm -r ${data}/mysql`, `${data} holds files, but no tables`],
])('a data directory that %s', async (_title, change, says) => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const { pods } = cloud.rehearsal.sandbox;
  expect(await cloud.settle(pods.exec(server, ['sh', '-c', change]))).toMatchObject({ code: 0 });
  await cloud.remove(Pod, server.name);
  await cloud.until(() => isRunning(cloud, server.name) && pods.logs(server).includes(says));
});

test.each([
  ['of Open vSwitch', 'ovn-ovsdb-server', '/var/lib/openvswitch/conf.db'],
  ["of OVN's northbound side", 'ovn-nb-db', '/var/lib/ovn/data/ovnnb_db.db'],
])('a database %s that is an empty file is not taken for a new one', async (_title, component, file) => {
  const { cloud } = await readyCloud({ spec: networkOnly });
  const { pods } = cloud.rehearsal.sandbox;
  const live = () => cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(`my-cloud-${component}`));
  const name = live()?.metadata.name ?? '';
  const empty = ['sh', '-c', `rm ${file}; touch ${file}`];
  expect(await cloud.settle(pods.exec({ namespace: 'openstack', name }, empty))).toMatchObject({ code: 0 });
  await cloud.remove(Pod, name);
  await cloud.clock.advance(120_000);
  const pod = live();
  expect(pod !== undefined && isReady(pod)).toBe(false);
  expect(pods.logs({ namespace: 'openstack', name: pod?.metadata.name ?? '' })).toContain('cannot identify file type');
});
