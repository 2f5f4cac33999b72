import { expect, onTestFinished, test } from 'vitest';
import { admin, guestImage, networks, tiny } from '../fixture.ts';
import { haveNodes, inNode } from '../node.ts';
import { Server } from '../server.ts';
import { until } from '../until.ts';
import { kubectl, nodes, plane } from './plane.ts';

const annotation = 'openstack.k8s.io/forget-nodes';
/** Joins when the control plane runs elsewhere, with its volumes: it has agents alone. */
const third = 'node3';

/** How much OpenStack has of that node. */
const recorded = async () => ({
  services: (await admin.call<readonly object[]>('compute.services', { host: third })).length,
  hypervisors: (await admin.call<readonly { name: string }[]>('compute.hypervisors')).filter(
    ({ name }) => name === third,
  ).length,
  providers: (await admin.call<readonly object[]>('placement.resource_providers', { name: third })).length,
  agents: (await admin.call<readonly object[]>('network.agents', { host: third })).length,
});
const phase = async () => (await nodes()).find(({ name }) => name === third)?.phase;
const isPhase = (wanted: string | undefined) =>
  until({
    what: `the phase of ${third} to be ${wanted ?? 'forgotten'}`,
    seconds: 480,
    probe: async () => (await phase()) === wanted || undefined,
    explain: async () =>
      `${await phase()}, ${JSON.stringify(await recorded())}\n${await kubectl('get', 'nova,neutron,job,pod', '-o', 'wide')}`,
  });
/** A kubelet registers its node when it starts, and is started again when it ends. */
const register = () => inNode('--node', '3', 'pkill', '-x', 'kubelet');
const forget = async () => {
  await kubectl('delete', 'node', third, '--ignore-not-found');
  await kubectl('annotate', '--overwrite', ...plane, `${annotation}=${third}`);
  await isPhase(undefined);
  await kubectl('annotate', ...plane, `${annotation}-`);
};

test('what OpenStack has of a node that is gone is deleted on request; under its old name it joins anew', async () => {
  // An earlier run has left it without a Node.
  await register().catch(() => {});
  // Other tests expect two nodes.
  onTestFinished(async () => {
    if ((await phase()) !== undefined) await forget();
  });
  await haveNodes(3);
  await isPhase('Joined');
  const before = await recorded();
  expect(before).toMatchObject({ services: 1, hypervisors: 1, providers: 1 });
  expect(before.agents).toBeGreaterThan(0);

  await forget();
  expect(await recorded()).toEqual({ services: 0, hypervisors: 0, providers: 0, agents: 0 });

  await register();
  await isPhase('Joined');
  expect(await recorded()).toEqual(before);
  const [image, flavor, { near }] = await Promise.all([guestImage(), tiny(), networks()]);
  const wanted = { name: 'settler', image, flavor, networks: [{ uuid: near }] };
  // Administrators may name a host.
  const server = await Server.create(admin, { ...wanted, zone: `nova:${third}` });
  onTestFinished(() => server.delete());
  await server.reaches('ACTIVE', 240);
  await server.says(/^== READY/m, 120);
}, 1_800_000);
