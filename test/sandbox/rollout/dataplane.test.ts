import { Secret } from '@openstack-operator/kube';
import { OpenStackControlPlane, OpenStackDataPlane } from '@openstack-operator/openstack';
import { type OutsideHost, sshServer } from '@openstack-operator/processes';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { sharedCloud } from './shared-cloud.ts';

const privateKey = '-----BEGIN OPENSSH PRIVATE KEY-----\nof-a-test\n-----END OPENSSH PRIVATE KEY-----\n';
const hostKeyOf = (name: string) => `ssh-ed25519 ${Buffer.from(name.padEnd(51, '.')).toString('base64')}`;

/** A machine beside the cluster, which answers by SSH. */
function outsideHost(cloud: Cloud, name: string, address: string): OutsideHost & { off: () => void; on: () => void } {
  const host: OutsideHost = { hostKey: hostKeyOf(name), authorized: [privateKey], files: new Map(), tasks: new Set() };
  const { network } = cloud.rehearsal.sandbox;
  const [off, on] = network.beside(address, { 22: { protocol: 'ssh', accept: () => sshServer(host) } });
  return { ...host, off, on };
}

const node = (hostname: string, ip: string, more: object = {}) => ({
  hostname,
  ip,
  role: 'compute',
  sshSecretName: 'hosts-ssh',
  hostKey: hostKeyOf(hostname),
  ...more,
});

const addresses = {
  messageQueue: { host: '192.0.2.100' },
  southbound: 'tcp:192.0.2.101:6642',
  identity: 'https://keystone.example.com/v3',
};
const images = { deploy: 'registry.example.com/openstack/ansible:1' };

function dataPlane(spec: object) {
  const metadata = { name: 'edge', namespace: 'openstack' };
  return {
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'OpenStackDataPlane',
    metadata,
    spec: { addresses, images, ...spec },
  };
}

async function createKey(cloud: Cloud, name = 'hosts-ssh') {
  const metadata = { name, namespace: 'openstack' };
  const stringData = { 'ssh-privatekey': privateKey };
  await cloud.settle(
    cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/ssh-auth', stringData }),
  );
}

const conditionOf = (cloud: Cloud, type?: string) => cloud.condition(OpenStackDataPlane, 'edge', type);
const statusOf = (cloud: Cloud) =>
  (cloud.get('OpenStackDataPlane', 'edge')?.status ?? {}) as { deployedNodes?: number; totalNodes?: number };

const shared = sharedCloud(() => readyCloud());

/** The cloud that is shared, without a data plane and without the key for its hosts. */
async function without(): Promise<Cloud> {
  const { cloud } = await shared();
  if (cloud.get('OpenStackDataPlane', 'edge') !== undefined) await cloud.remove(OpenStackDataPlane, 'edge');
  await cloud.until(() => cloud.get('OpenStackDataPlane', 'edge') === undefined);
  if (cloud.get('Secret', 'hosts-ssh') !== undefined) await cloud.remove(Secret, 'hosts-ssh');
  return cloud;
}

test('hosts beside the cluster are configured once, again when a credential changes, and by name where one fails', async () => {
  const cloud = await without();
  await createKey(cloud);
  const first = outsideHost(cloud, 'compute-1', '192.0.2.11');
  await cloud.settle(
    cloud.rehearsal.create(dataPlane({ nodes: [node('compute-1', '192.0.2.11', { role: 'networker' })] })),
  );
  await cloud.until(() => cloud.isReady('OpenStackDataPlane', 'edge'));
  await cloud.until(() => statusOf(cloud).deployedNodes === 1 && statusOf(cloud).totalNodes === 1);
  expect(first.tasks).toContain('OVN knows the chassis');
  expect(first.files.size).toBe(0);
  first.tasks.clear();
  await cloud.clock.advance(900_000);
  expect(first.tasks.size).toBe(0);

  const second = outsideHost(cloud, 'compute-2', '192.0.2.12');
  second.off();
  const nodes = [node('compute-1', '192.0.2.11', { role: 'networker' }), node('compute-2', '192.0.2.12')];
  await cloud.change(OpenStackDataPlane, 'edge', { spec: { nodes } });
  const deployed = () => conditionOf(cloud, 'DeploymentReady')?.message ?? '';
  await cloud.until(() => deployed().includes('host compute-2 UNREACHABLE!'));
  expect(deployed()).toContain('make it reachable by SSH from the cluster, or take it out of spec.nodes');
  expect(deployed()).not.toContain('compute-1');
  await cloud.until(() => statusOf(cloud).totalNodes === 2 && statusOf(cloud).deployedNodes === 1);

  second.on();
  const discovered = () => conditionOf(cloud, 'HostsReady')?.message ?? '';
  await cloud.until(() => discovered().includes('nova-compute has not reported from: compute-2'), 60);
  expect(statusOf(cloud).deployedNodes).toBe(2);
  const conf = () => second.files.get('/etc/nova/nova.conf') ?? '';
  expect(conf()).toMatch(/transport_url = rabbit:\/\/nova:[A-Za-z0-9]+@192\.0\.2\.100:5672\/nova-cell1/u);
  expect(conf()).not.toMatch(/\.svc:(?!6080)|\[(?:api_)?database\]/u);
  expect(second.files.get('/etc/nova/nova-host.conf')).toContain('host = compute-2\nmy_ip = 192.0.2.12');

  const before = conf();
  await cloud.remove(Secret, 'my-cloud-nova-mq-password');
  await cloud.until(() => conf() !== before);
  await cloud.ready();
});

test("hosts log in as Nova's users of the broker and of Keystone: they are not rotated before they are gone, and others get the one that is there", async () => {
  const cloud = await without();
  await createKey(cloud);
  const host = outsideHost(cloud, 'compute-3', '192.0.2.13');
  const conf = () => host.files.get('/etc/nova/nova.conf') ?? '';
  const create = () => cloud.settle(cloud.rehearsal.create(dataPlane({ nodes: [node('compute-3', '192.0.2.13')] })));
  await create();
  await cloud.until(() => /transport_url = rabbit:\/\/nova:/u.test(conf()));
  const rotated = () =>
    Object.keys(
      ((cloud.get('Nova', 'my-cloud-nova')?.['status'] ?? {}) as { rotated?: Record<string, object> }).rotated ?? {},
    );
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    metadata: { annotations: { 'openstack.k8s.io/rotate-at': 'now' } },
  });
  await cloud.until(() => rotated().length > 0);
  await cloud.clock.advance(300_000);
  expect(rotated().toSorted()).toEqual(['my-cloud-nova-cache-key', 'my-cloud-nova-db-password']);
  await cloud.remove(OpenStackDataPlane, 'edge');
  await cloud.until(() => rotated().length === 4);
  await create();
  await cloud.until(() => /transport_url = rabbit:\/\/nova\.b:/u.test(conf()));

  // One that is lost meanwhile is a generation of its own all the same: the next rotation would not be told from the last one.
  const mq = 'my-cloud-nova-mq-password';
  await cloud.remove(Secret, mq);
  await cloud.until(() => /transport_url = rabbit:\/\/nova:/u.test(conf()));
  expect(cloud.get('Secret', mq)?.metadata.annotations?.['openstack.k8s.io/generation']).toBe('3');
});

test('a data plane says what is missing before any host is asked', async () => {
  const cloud = await without();
  const host = outsideHost(cloud, 'compute-1', '192.0.2.21');
  const { hostKey: _key, ...unknown } = node('compute-1', '192.0.2.21');
  await cloud.settle(cloud.rehearsal.create(dataPlane({ nodes: [unknown], addresses: {}, images: {} })));
  const message = () => conditionOf(cloud)?.message ?? '';
  await cloud.until(() => message() !== '');
  expect(message()).toContain('spec.nodes[hostname=compute-1].hostKey');
  expect(message()).toContain(
    'spec.addresses.messageQueue: RabbitMQ my-cloud-rabbitmq is reached inside the cluster only',
  );
  expect(message()).toContain('spec.addresses.southbound: the southbound database of OVNNetwork my-cloud-ovn');
  expect(message()).toContain('spec.images.deploy');

  await cloud.change(OpenStackDataPlane, 'edge', {
    spec: { nodes: [node('compute-1', '192.0.2.21')], addresses, images },
  });
  await cloud.until(
    () =>
      message().includes('spec.nodes[hostname=compute-1].sshSecretName: Secret hosts-ssh does not exist') ||
      message().includes('sshSecretName: Secret hosts-ssh does not exist; create it'),
  );
  expect(host.tasks.size).toBe(0);
  await createKey(cloud);
  await cloud.until(() => host.tasks.size > 0);
});

test('a host with another key is given nothing', async () => {
  const cloud = await without();
  await createKey(cloud);
  const host = outsideHost(cloud, 'somebody-else', '192.0.2.31');
  await cloud.settle(cloud.rehearsal.create(dataPlane({ nodes: [node('compute-1', '192.0.2.31')] })));
  const deployed = () => conditionOf(cloud, 'DeploymentReady')?.message ?? '';
  await cloud.until(() => deployed().includes('host compute-1 UNREACHABLE! '));
  expect(deployed()).toContain('Host key verification failed.');
  expect([host.tasks.size, host.files.size]).toEqual([0, 0]);
});
