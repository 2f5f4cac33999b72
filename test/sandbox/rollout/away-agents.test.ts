import { Service, type StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { type Cloud, isReady, networkOnly, readyCloud } from './cloud.ts';

const agents = (cloud: Cloud, name: string): readonly StoredObject[] =>
  cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith(`my-cloud-ovn-${name}-`));
const uids = (cloud: Cloud, name: string) => agents(cloud, name).map(({ metadata }) => metadata.uid);
const members = [0, 1, 2].map((ordinal) => `my-cloud-ovn-sb-db-${ordinal}`);

test('nodes whose ovn-controller cannot be Ready before their ovs-settings are replaced heal by themselves', async () => {
  const { cloud, operator } = await readyCloud({
    nodes: ['node-1', 'node-2', 'node-3'],
    spec: { ...networkOnly, ovnNetwork: { ...networkOnly.ovnNetwork, southboundDBReplicas: 3 } },
  });
  const names = ['ovsdb-server', 'ovs-vswitchd', 'ovn-controller'];
  const before = { settings: uids(cloud, 'ovs-settings'), others: names.flatMap((name) => uids(cloud, name)) };
  expect(before.others).toHaveLength(9);

  // The database has other addresses by the time that the operator is back, and no node finds it.
  await cloud.settle(operator.stop());
  for (const name of members) {
    await cloud.remove(Service, name);
    cloud.rehearsal.sandbox.pods.kill({ namespace: 'openstack', name });
  }
  await cloud.until(() => agents(cloud, 'ovn-controller').every((pod) => !isReady(pod)), 5);
  await cloud.startOperator();
  await cloud.until(() => members.every((name) => cloud.get('Service', name) !== undefined), 5);
  await cloud.clock.advance(60_000);
  expect(uids(cloud, 'ovs-settings'), 'not before two minutes').toEqual(before.settings);

  await cloud.until(() => agents(cloud, 'ovn-controller').every(isReady), 5);
  await cloud.ready();
  expect(uids(cloud, 'ovs-settings').filter((uid) => before.settings.includes(uid))).toEqual([]);
  expect(
    names.flatMap((name) => uids(cloud, name)),
    'what carries the data path stays',
  ).toEqual(before.others);
});
