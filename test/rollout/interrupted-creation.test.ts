import { Pod } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, readyCloud } from './cloud.ts';

const server = { namespace: 'openstack', name: 'my-cloud-mariadb-0' };

const data = '/var/lib/mysql/data';
const isRunning = (cloud: Cloud) => (cloud.get('Pod', server.name)?.status as { phase?: string })?.phase === 'Running';

test('a pod may end at any moment while its volume is prepared for MariaDB', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  const client = cloud.rehearsal.sandbox.client();
  for (let step = 1; step < 8; step++) {
    await cloud.until(() => isRunning(cloud));
    await cloud.clock.advance(step * 150);
    await cloud.settle(client.delete(Pod, server, { gracePeriodSeconds: 0 }));
  }
  await cloud.ready();
});

test.each([
  ['is empty is prepared', `rm -rf ${data}; mkdir ${data}`, 'ready for connections'],
  ['holds files, but no tables, is left alone', `rm -r ${data}/mysql`, `${data} holds files, but no tables`],
])('a data directory that %s', async (_title, change, says) => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const { pods } = cloud.rehearsal.sandbox;
  expect(await cloud.settle(pods.exec(server, ['sh', '-c', change]))).toMatchObject({ code: 0 });
  await cloud.remove(Pod, server.name);
  await cloud.until(() => isRunning(cloud) && pods.logs(server).includes(says));
});

test.each([
  ['of Open vSwitch', 'ovn-ovsdb-server', '/var/lib/openvswitch/conf.db'],
  ["of OVN's northbound side", 'ovn-nb-db', '/var/lib/ovn/data/ovnnb_db.db'],
])('a database %s of which only an empty file was made is made anew', async (_title, component, file) => {
  const { cloud } = await readyCloud();
  const name = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(`my-cloud-${component}`))?.metadata
    .name as string;
  const empty = ['sh', '-c', `rm ${file}; touch ${file}`];
  const emptied = cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name }, empty);
  expect(await cloud.settle(emptied)).toMatchObject({ code: 0 });
  await cloud.remove(Pod, name);
  await cloud.clock.advance(60_000);
  await cloud.ready();
});
