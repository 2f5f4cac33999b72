import { expect, onTestFinished, test } from 'vitest';
import { admin, guestImage, networks, tiny } from '../fixture.ts';
import { Server } from '../server.ts';
import { until } from '../until.ts';
import { changeNova, kubectl } from './plane.ts';

const group = 'openstack.k8s.io/node-group';
const trait = 'CUSTOM_WESTERN';

/** No node has this label: nodes come to the group by hand. */
const west = { name: 'west', nodeSelector: { 'test.openstack.k8s.io/none': 'yet' }, traits: [trait] };

interface Aggregate {
  readonly name: string;
  readonly hosts: readonly string[] | null;
}

/** Hosts of the aggregates of zones, by the zone. */
async function zones(): Promise<Readonly<Record<string, readonly string[]>>> {
  const all = await admin.call<readonly Aggregate[]>('compute.aggregates');
  const ours = all
    .filter(({ name }) => name.includes('-nova-zone-'))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return Object.fromEntries(
    ours.map(({ name, hosts }) => [name.replace(/^.*-nova-zone-/, ''), (hosts ?? []).toSorted()]),
  );
}

const zonesAre = (wanted: object) =>
  until({
    what: `hosts of zones to be ${JSON.stringify(wanted)}`,
    seconds: 480,
    probe: async () => JSON.stringify(await zones()) === JSON.stringify(wanted) || undefined,
    explain: async () => `${JSON.stringify(await zones())}\n${await kubectl('get', 'nova,job,pod', '-o', 'wide')}`,
  });
const move = (node: string, to: string) => kubectl('label', '--overwrite', 'node', node, `${group}=${to}`);

/** Whether the provider of a node has the trait. */
async function hasTrait(node: string): Promise<boolean> {
  const [provider] = await admin.call<readonly { id: string }[]>('placement.resource_providers', { name: node });
  const headers = { 'OpenStack-API-Version': 'placement 1.6' };
  const path = `/resource_providers/${provider?.id}/traits`;
  const { text } = await admin.call<{ text: string }>('placement.get', path, { headers });
  return (JSON.parse(text) as { traits: readonly string[] }).traits.includes(trait);
}

/** A node without servers: Nova lets no other change its zone. And one besides. */
async function emptyNode(): Promise<readonly [string, string]> {
  const servers = await admin.call<readonly { hypervisor_hostname: string }[]>('compute.servers', {
    all_projects: true,
  });
  const [empty, ...others] = ['node1', 'node2'].toSorted(
    (one, other) => count(servers, one) - count(servers, other),
  ) as [string, string];
  expect(count(servers, empty), 'servers of the node that is to change its zone').toBe(0);
  return [empty, ...others] as [string, string];
}
const count = (servers: readonly { hypervisor_hostname: string }[], node: string) =>
  servers.filter(({ hypervisor_hostname: host }) => host === node).length;

test('a server that asks for a zone boots on a node of its group; a node that has one stays in its zone', async () => {
  const [node, other] = await emptyNode();
  // Other tests expect nodes of one group, without zones.
  onTestFinished(async () => {
    await move(node, 'default');
    await changeNova({ nodeGroups: [{ name: 'default' }, west] });
    await zonesAre({});
    await changeNova({ nodeGroups: null });
  });
  await changeNova({
    nodeGroups: [{ name: 'default' }, { ...west, availabilityZone: 'west' }],
  });
  await zonesAre({ west: [] });
  await move(node, 'west');
  await zonesAre({ west: [node] });
  await until({
    what: `${node} to have ${trait}`,
    seconds: 240,
    probe: async () => (await hasTrait(node)) || undefined,
    explain: () => kubectl('get', 'pod', '-o', 'wide'),
  });
  expect(await hasTrait(other)).toBe(false);

  const [image, flavor, { near }] = await Promise.all([guestImage(), tiny(), networks()]);
  const wanted = { name: 'zoned', image, flavor, networks: [{ uuid: near }] };
  const server = await Server.create(admin, { ...wanted, zone: 'west' });
  onTestFinished(() => server.delete());
  await server.reaches('ACTIVE', 240);
  const { hypervisor_hostname: host } = await admin.call<{ hypervisor_hostname: string }>(
    'compute.get_server',
    server.id,
  );
  expect(host).toBe(node);

  await move(node, 'default');
  const message = async () =>
    await kubectl('get', 'nova', '-o', 'jsonpath={.items[0].status.conditions[?(@.type=="ResourcesReady")].message}');
  await until({
    what: `${node} to be told, as it has a server`,
    seconds: 480,
    probe: async () => (await message()).includes(`${node} stays in host aggregate`) || undefined,
    explain: message,
  });
  expect(await zones()).toEqual({ west: [node] });
}, 2_400_000);
