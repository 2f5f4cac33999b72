import { expect, test } from 'vitest';
import { admin, guestImage, member, networks, tiny } from '../fixture.ts';
import { inNode } from '../node.ts';
import { prefix } from '../running-cloud.ts';
import { Server } from '../server.ts';
import { until } from '../until.ts';
import { kubectl, nodes, plane } from './plane.ts';

const annotation = 'openstack.k8s.io/forget-nodes';
const gone = 'node2';

/** What OpenStack has of the node. */
const recorded = async () => ({
  services: (await admin.call<readonly object[]>('compute.services', { host: gone })).length,
  hypervisors: (await admin.call<readonly { name: string }[]>('compute.hypervisors')).filter(
    ({ name }) => name === gone,
  ).length,
  providers: (await admin.call<readonly object[]>('placement.resource_providers', { name: gone })).length,
  agents: (await admin.call<readonly object[]>('network.agents', { host: gone })).length,
});
const listed = async () => (await nodes()).map(({ name, phase }) => `${name} ${phase}`);
const explain = async () =>
  `${JSON.stringify([await listed(), await recorded()])}\n${await kubectl('get', 'nova,neutron,job,pod', '-o', 'wide')}`;

test('what OpenStack has of a node that is gone is deleted on request; under its old name it joins anew', async () => {
  const before = await recorded();
  expect(before).toMatchObject({ services: 1, hypervisors: 1, providers: 1 });
  expect(before.agents).toBeGreaterThan(0);

  await kubectl('delete', 'node', gone);
  await kubectl('annotate', ...plane, `${annotation}=${gone}`);
  await until({
    what: `${gone} to be forgotten`,
    seconds: 480,
    probe: async () => (await listed()).every((node) => !node.startsWith(gone)) || undefined,
    explain,
  });
  expect(await recorded()).toEqual({ services: 0, hypervisors: 0, providers: 0, agents: 0 });
  await kubectl('annotate', ...plane, `${annotation}-`);

  // A kubelet registers its node when it starts, and is started again when it ends.
  await inNode('--node', '2', 'pkill', '-x', 'kubelet');
  await until({
    what: `${gone} to join`,
    seconds: 480,
    probe: async () => (await listed()).includes(`${gone} Joined`) || undefined,
    explain,
  });
  expect(await recorded()).toEqual(before);

  const [user, image, flavor, { near }] = await Promise.all([member(), guestImage(), tiny(), networks()]);
  const policy = { name: `${prefix}again-apart`, policy: 'anti-affinity' };
  const { id: group } = await user.call<{ id: string }>('compute.create_server_group', policy);
  const wanted = { image, flavor, networks: [{ uuid: near }], group };
  // With one node in use, the other server is at the other one.
  for (const name of ['first', 'second']) {
    const server = await Server.create(user, { ...wanted, name });
    await server.reaches('ACTIVE', 240);
    await server.says(/^== READY/m, 120);
  }
  await user.call('compute.delete_server_group', group);
});
