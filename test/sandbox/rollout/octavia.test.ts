import { Secret } from '@openstack-operator/kube';
import { Octavia, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud, withResources } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const spec = { ...identityOnly, rabbitmq: {}, ovnNetwork: {}, neutron: {}, octavia: {} };
const lbaas = 'http://my-cloud-octavia-api.openstack.svc:9876/v2/lbaas';
const networks = 'http://my-cloud-neutron-server.openstack.svc:9696/v2.0';
const amphora = {
  flavorID: 'amphora',
  imageOwnerID: 'service',
  managementNetworkID: 'management',
  securityGroupIDs: ['amphorae'],
  controllerAddresses: ['192.0.2.10:5555'],
};

interface Item {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Makes something by an API, and waits for what is done beside its answer. */
async function make(cloud: Cloud, token: string, url: string, item: string, body: object): Promise<Item> {
  const answer = await request(cloud, token, 'POST', url, { [item]: body });
  await cloud.clock.advance(3000);
  return (JSON.parse(answer) as Record<string, Item>)[item] as Item;
}

async function makeBalancer(cloud: Cloud, token: string, more: object = {}): Promise<Item> {
  const { id } = await make(cloud, token, `${networks}/networks`, 'network', { name: 'web' });
  const asked = { vip_network_id: id, vip_address: '10.40.0.10', ...more };
  return make(cloud, token, `${lbaas}/loadbalancers`, 'loadbalancer', asked);
}

/** Its listener, a pool, and two members. */
async function fill(cloud: Cloud, token: string, balancer: Item): Promise<void> {
  const port = { loadbalancer_id: balancer.id, protocol: 'TCP', protocol_port: 80 };
  const listener = await make(cloud, token, `${lbaas}/listeners`, 'listener', port);
  const behind = { listener_id: listener.id, protocol: 'TCP', lb_algorithm: 'SOURCE_IP_PORT' };
  const pool = await make(cloud, token, `${lbaas}/pools`, 'pool', behind);
  for (const address of ['10.40.0.11', '10.40.0.12'])
    await make(cloud, token, `${lbaas}/pools/${pool.id}/members`, 'member', { address, protocol_port: 8080 });
}

const shown = async (cloud: Cloud, token: string, { id }: Item) => ask(cloud, token, `${lbaas}/loadbalancers/${id}`);

/** What OVN has of load balancers. */
async function inNorthbound(cloud: Cloud): Promise<string> {
  const pod = { namespace: 'openstack', name: 'my-cloud-ovn-nb-db-0' };
  const command = ['ovn-nbctl', '--db=unix:/run/ovn/ovnnb_db.sock', 'list', 'Load_Balancer'];
  return (await cloud.settle(cloud.rehearsal.sandbox.pods.exec(pod, command))).stdout;
}

const shared = sharedCloud(() => readyCloud({ spec }));

test('below a control plane that states it, it is Ready, and OVN balances until a load balancer is deleted', async () => {
  const { cloud } = await shared();
  expect(cloud.isReady('Octavia', 'my-cloud-octavia')).toBe(true);
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'octavia', type: 'load-balancer' }),
  );
  expect(await entitiesOf(cloud, 'roles')).toContainEqual(expect.objectContaining({ name: 'load-balancer_member' }));
  // Without servers that balance there is nobody who looks after them.
  expect(cloud.get('Deployment', 'my-cloud-octavia-worker')).toBeUndefined();
  const token = await login(cloud);
  const balancer = await makeBalancer(cloud, token);
  await fill(cloud, token, balancer);
  expect(JSON.parse(await shown(cloud, token, balancer))).toMatchObject({
    loadbalancer: { provider: 'ovn', provisioning_status: 'ACTIVE' },
  });
  expect(await inNorthbound(cloud)).toContain('vips : {"10.40.0.10:80":"10.40.0.11:8080,10.40.0.12:8080"}');

  await cloud.change(OpenStackControlPlane, 'my-cloud', { ...withResources, spec: { octavia: { enabled: false } } });
  await cloud.until(() => cloud.get('Octavia', 'my-cloud-octavia') === undefined);
  // What OVN has been told it goes on with.
  expect(await inNorthbound(cloud)).toContain('10.40.0.10:80');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { octavia: { enabled: null } } });
  await cloud.ready();
  const again = await login(cloud);
  await request(cloud, again, 'DELETE', `${lbaas}/loadbalancers/${balancer.id}?cascade=true`);
  await cloud.clock.advance(3000);
  expect(await inNorthbound(cloud)).toBe('');
  expect(JSON.parse(await ask(cloud, again, `${lbaas}/loadbalancers`))).toEqual({ loadbalancers: [] });
  const { ports } = JSON.parse(await ask(cloud, again, `${networks}/ports`)) as { ports: Item[] };
  expect(ports.filter(({ name }) => String(name).startsWith('ovn-lb-vip-'))).toEqual([]);
});

test('an authority that is lost is not made anew', async () => {
  const { cloud } = await shared();
  const before = cloud.get('Secret', 'my-cloud-octavia-server-ca');
  const told = () => cloud.condition(Octavia, 'my-cloud-octavia', 'CredentialsReady');
  await cloud.remove(Secret, 'my-cloud-octavia-server-ca');
  await cloud.until(() => told()?.reason === 'KeyMaterialMissing');
  expect(told()?.message).toContain('the servers of load balancers: restore the Secret from a backup');
  const { name = '', namespace = '', labels = {} } = before?.metadata ?? {};
  const restored = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels }, data: before?.['data'] };
  await cloud.settle(cloud.rehearsal.create(restored));
  await cloud.ready();
});

// The last one of the cloud that is shared: this provider stays.
test('with the provider amphora there are controllers; a load balancer without an image of it fails', async () => {
  const { cloud } = await shared();
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { glance: { enabled: true }, octavia: { amphora, workerReplicas: 2 } },
  });
  await cloud.ready();
  expect(cloud.get('Deployment', 'my-cloud-octavia-worker')?.['spec']).toMatchObject({ replicas: 2 });
  expect(cloud.get('Service', 'my-cloud-octavia-health-manager')?.['spec']).toMatchObject({
    ports: [{ port: 5555, protocol: 'UDP' }],
  });
  const token = await login(cloud);
  const balancer = await makeBalancer(cloud, token, { provider: 'amphora' });
  expect(await shown(cloud, token, balancer)).toContain('"provisioning_status":"ERROR"');
  const pod = cloud.list('Pod').filter(({ metadata }) => metadata.name.includes('octavia-worker'));
  expect(pod).toHaveLength(2);
});
