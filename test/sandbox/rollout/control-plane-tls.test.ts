import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { entitiesOf } from './keystone.ts';
import { asUser, userImage } from './servers.ts';

const change = (cloud: Cloud, enabled: boolean | null) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { tls: { enabled } } });

/** The state of TLS as the cloud's status has it. */
const state = (cloud: Cloud): unknown =>
  (cloud.get('OpenStackControlPlane', 'my-cloud')?.['status'] as { tls?: string } | undefined)?.tls;

const told = (cloud: Cloud, kind: string, name: string): unknown =>
  (cloud.get(kind, `my-cloud-${name}`)?.['spec'] as { tls?: object } | undefined)?.tls;

/** What Keystone is told, whenever it changes, with the pods of services and agents that do not trust its authority then. */
function watchKeystone(cloud: Cloud) {
  const seen: { readonly tls: unknown; readonly without: readonly string[] }[] = [];
  const trusts = [
    'nova-compute',
    'nova-scheduler',
    'neutron-server',
    'neutron-metadata-agent',
    'placement-api',
    'glance-api',
  ];
  const agents = new Set<unknown>();
  const look = () => {
    const nova = cloud.get('Nova', 'my-cloud-nova')?.['status'] as { agentsLeaving?: boolean } | undefined;
    agents.add(nova?.agentsLeaving);
    const tls = told(cloud, 'Keystone', 'keystone');
    if (JSON.stringify(seen.at(-1)?.tls) === JSON.stringify(tls) && seen.length > 0) return;
    const without = cloud.list('Pod').flatMap(({ metadata: { name }, spec }) => {
      const concerned = trusts.some((one) => name.startsWith(`my-cloud-${one}-`));
      return !concerned || JSON.stringify(spec).includes('/etc/openstack/trust/identity') ? [] : [name];
    });
    seen.push({ tls, without });
  };
  look();
  return { seen, look, agents };
}

/** The endpoints of the catalogue, by their URLs without paths. */
async function endpoints(cloud: Cloud): Promise<string[]> {
  const all = (await entitiesOf(cloud, 'endpoints')) as unknown as { interface: string; url: string }[];
  return all.flatMap(({ interface: of, url }) => (of === 'internal' ? [new URL(url).origin] : [])).sort();
}

/** Those of the minimal cloud. */
const secure = [
  'https://my-cloud-glance-api.openstack.svc:19292',
  'https://my-cloud-keystone-api.openstack.svc:15000',
  'https://my-cloud-neutron-server.openstack.svc:19696',
  'https://my-cloud-nova-api.openstack.svc:18774',
  'https://my-cloud-placement-api.openstack.svc:18778',
];

/** What a guest in a network is told of itself, and by what the agents of its nodes ask for that. */
async function metadata(cloud: Cloud, network: string) {
  const names = cloud.list('Pod').map(({ metadata: { name } }) => name);
  const agents = names.filter((name) => name.startsWith('my-cloud-neutron-metadata-agent-'));
  const script = `grep -h '^nova_metadata_protocol' /etc/neutron/neutron_ovn_metadata_agent.ini
curl -sS --unix-socket /var/lib/neutron/metadata_proxy -H 'X-OVN-Network-ID: ${network}' http://169.254.169.254/`;
  const { pods } = cloud.rehearsal.sandbox;
  const said = new Set<string>();
  for (const name of agents)
    said.add((await cloud.settle(pods.exec({ namespace: 'openstack', name }, ['sh', '-c', script]))).stdout);
  return [...said];
}

test('a new cloud uses TLS from the beginning', async () => {
  const { cloud } = await readyCloud({ images: [userImage], spec: { tls: { enabled: true } } });
  expect(told(cloud, 'Keystone', 'keystone')).toEqual({ enabled: true });
  expect(told(cloud, 'MariaDB', 'mariadb')).toEqual({ enabled: true });
  expect(told(cloud, 'RabbitMQ', 'rabbitmq')).toEqual({ enabled: true });
  expect(told(cloud, 'OVNNetwork', 'ovn')).toEqual({ enabled: true });
  expect(state(cloud)).toBe('Enabled');
  const network = await asUser(cloud, 'boot', 'guest', 'first');
  expect(await metadata(cloud, network)).toEqual(['nova_metadata_protocol = https\n1.0\n2009-04-04\nlatest']);
});

test('a cloud in use comes to TLS and back; nobody is sent where he trusts nobody', async () => {
  const { cloud } = await readyCloud({ images: [userImage], nodes: ['node-1', 'node-2'] });
  const plain = await endpoints(cloud);
  const { seen, look, agents } = watchKeystone(cloud);
  const until = (wanted: string | undefined, tls: object | undefined) =>
    cloud.until(() => {
      look();
      const there = told(cloud, 'Keystone', 'keystone');
      return (
        state(cloud) === wanted &&
        JSON.stringify(there) === JSON.stringify(tls) &&
        cloud.isReady('OpenStackControlPlane', 'my-cloud')
      );
    }, 60);
  await change(cloud, true);
  await until('Enabled', { enabled: true });
  expect(seen.map(({ tls }) => tls)).toEqual([undefined, { enabled: false }, { enabled: true }]);
  expect(seen.at(-1)?.without).toEqual([]);
  expect([...agents]).toEqual([undefined, true]);
  expect(await endpoints(cloud)).toEqual(secure);
  // The tokens that nova-compute had before are no longer valid.
  await cloud.clock.advance(4_000_000);
  const network = await asUser(cloud, 'boot', 'guest', 'first');
  expect(await metadata(cloud, network)).toEqual([expect.stringMatching(/= https\n1\.0\n/)]);

  await change(cloud, null);
  await until(undefined, undefined);
  expect(seen.slice(3).map(({ tls }) => tls)).toEqual([{ enabled: false }, undefined]);
  expect(await endpoints(cloud)).toEqual(plain);
  expect(cloud.get('Service', 'my-cloud-keystone-api')?.['spec']).toMatchObject({ ports: [{ port: 5000 }] });
  expect(await metadata(cloud, network)).toEqual([expect.stringMatching(/= http\n1\.0\n/)]);
  await asUser(cloud, 'boot');
}, 600_000);

test('who changes his mind in the middle is led back by the same way', async () => {
  const { cloud } = await readyCloud({});
  await change(cloud, true);
  await cloud.until(() => JSON.stringify(told(cloud, 'Keystone', 'keystone')) === '{"enabled":true}', 60);
  const { seen, look } = watchKeystone(cloud);
  await change(cloud, false);
  await cloud.until(() => {
    look();
    return told(cloud, 'Keystone', 'keystone') === undefined;
  }, 60);
  expect(seen.map(({ tls }) => tls)).toEqual([{ enabled: true }, { enabled: false }, undefined]);
  await cloud.ready();
}, 600_000);

test('what the template of a child states is not changed', async () => {
  const { cloud } = await readyCloud({
    spec: { tls: { enabled: true }, keystone: { tls: { enabled: false } }, rabbitmq: { tls: { enabled: false } } },
  });
  expect(told(cloud, 'Keystone', 'keystone')).toEqual({ enabled: false });
  expect(told(cloud, 'RabbitMQ', 'rabbitmq')).toEqual({ enabled: false });
  expect(state(cloud)).toBe('Prepared');
});
