import { Deployment, type Kind, Namespace, type StoredObject } from '@openstack-operator/kube';
import { Neutron, Nova, OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { asUser, userImage } from './servers.ts';

const ControlPlane = OpenStackControlPlane as Kind;
const withServers = { metadata: { annotations: { 'openstack.k8s.io/delete-with-resources': 'true' } } };
const phaseOf = (object: StoredObject | undefined) => (object?.status as { phase?: string } | undefined)?.phase;
const controlPlane = (cloud: Cloud) => cloud.get('OpenStackControlPlane', 'my-cloud');
const gone = (cloud: Cloud) =>
  cloud.until(() => controlPlane(cloud) === undefined && cloud.list('Pod').length === 0, 10);
/** The node agents, which a guest needs. */
const agents = (cloud: Cloud) =>
  cloud
    .list('Pod')
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet'))
    .map(({ metadata }) => metadata.uid)
    .sort();
const labels = (cloud: Cloud) =>
  cloud
    .list('Node')
    .flatMap(({ metadata }) => Object.keys(metadata.labels ?? {}).filter((one) => one.includes('openstack')));

async function cloudWithServer(spec: Record<string, unknown> = {}) {
  const { cloud } = await readyCloud({ images: [userImage], spec });
  await asUser(cloud, 'boot');
  return cloud;
}

test('a control plane with servers waits, goes on meanwhile, and goes when the servers are gone', async () => {
  const cloud = await cloudWithServer();
  const before = agents(cloud);
  expect(before.length).toBeGreaterThan(5);
  await cloud.remove(ControlPlane, 'my-cloud');
  await cloud.clock.advance(300_000);
  expect(agents(cloud)).toEqual(before);
  expect(phaseOf(controlPlane(cloud))).toBe('Deleting');
  for (const type of ['ResourcesGone', 'Ready']) {
    expect(cloud.condition(ControlPlane, 'my-cloud', type)).toMatchObject({
      status: 'False',
      reason: 'ResourcesExist',
      message: expect.stringMatching(
        /^Nova my-cloud-nova has 1 server: delete them, or annotate OpenStackControlPlane my-cloud with openstack\.k8s\.io\/delete-with-resources=true/,
      ),
    });
  }
  // What waits is kept right, as before.
  await cloud.remove(Deployment, 'my-cloud-nova-api');
  await cloud.until(
    () => cloud.isReady('Nova', 'my-cloud-nova') && cloud.get('Deployment', 'my-cloud-nova-api') !== undefined,
    10,
  );
  await asUser(cloud, 'delete');
  await gone(cloud);
  expect(labels(cloud)).toEqual([]);
});

test('servers that nobody can count hold as well, and the annotation lets go', async () => {
  const cloud = await cloudWithServer();
  // Nothing new starts on a node whose kubelet is silent: the Job that asks Nova does not run.
  cloud.rehearsal.sandbox.nodes.stop('node-1');
  await cloud.remove(ControlPlane, 'my-cloud');
  await cloud.until(
    () => cloud.condition(ControlPlane, 'my-cloud', 'ResourcesGone')?.reason === 'ResourcesUnknown',
    10,
  );
  expect(cloud.condition(ControlPlane, 'my-cloud', 'ResourcesGone')?.message).toMatch(
    /^how many servers Nova my-cloud-nova has is not known: Job my-cloud-nova-resource-count does not end\. It is asked again every minute/,
  );
  await cloud.clock.advance(900_000);
  expect(controlPlane(cloud)).toBeDefined();
  await cloud.change(ControlPlane, 'my-cloud', withServers);
  await cloud.until(() => controlPlane(cloud) === undefined);
});

test('Nova, Neutron and the network that are disabled, or deleted by hand, wait for servers', async () => {
  const cloud = await cloudWithServer({ nova: { nodeGroups: [{ name: 'big', gateway: false }] } });
  const before = agents(cloud);
  const network = () => cloud.get('OVNNetwork', 'my-cloud-ovn')?.['spec'];
  const groups = network();
  await cloud.change(ControlPlane, 'my-cloud', { spec: { nova: { enabled: false } } });
  await cloud.clock.advance(60_000);
  // Without Nova's groups OVN would leave its nodes.
  expect(network()).toEqual(groups);
  expect(cloud.condition(ControlPlane, 'my-cloud', 'OVNNetworkReady')?.message).toBe(
    'it stays as it is until Nova my-cloud-nova, which is disabled, is gone',
  );
  const switched = (enabled: boolean) =>
    cloud.change(ControlPlane, 'my-cloud', {
      spec: { nova: { enabled }, neutron: { enabled }, ovnNetwork: { enabled } },
    });
  await switched(false);
  await cloud.clock.advance(120_000);
  expect(agents(cloud)).toEqual(before);
  expect(cloud.condition(ControlPlane, 'my-cloud', 'NovaReady')).toMatchObject({
    status: 'False',
    reason: 'ResourcesExist',
    message: expect.stringMatching(
      /^spec\.nova: Nova my-cloud-nova is disabled, and kept: Nova my-cloud-nova has 1 server: /,
    ),
  });
  expect(cloud.condition(ControlPlane, 'my-cloud', 'NeutronReady')).toMatchObject({
    reason: 'Waiting',
    message: 'Neutron my-cloud-neutron is deleted when Nova my-cloud-nova, which needs it, is gone',
  });
  await switched(true);
  await cloud.ready();
  for (const [kind, name] of [
    [OVNNetwork, 'my-cloud-ovn'],
    [Neutron, 'my-cloud-neutron'],
    [Nova, 'my-cloud-nova'],
  ] as const) {
    await cloud.remove(kind, name);
    await cloud.clock.advance(60_000);
    expect(phaseOf(cloud.get(kind.kind, name))).toBe('Deleting');
    expect(cloud.condition(kind as Kind, name)).toMatchObject({ status: 'False', reason: 'ResourcesExist' });
  }
  expect(agents(cloud)).toEqual(before);
  const uid = cloud.get('Nova', 'my-cloud-nova')?.metadata.uid;
  await cloud.change(ControlPlane, 'my-cloud', withServers);
  // The control plane makes anew what was deleted below it.
  await cloud.until(() => ![undefined, uid].includes(cloud.get('Nova', 'my-cloud-nova')?.metadata.uid), 10);
  await cloud.ready();
});

test('without servers, what is switched off together goes dependents first, and the rest stays', async () => {
  const { cloud } = await readyCloud();
  const gone: string[] = [];
  const kinds = ['Nova', 'Neutron', 'OVNNetwork'];
  const watch = () => {
    for (const kind of kinds) if (cloud.list(kind).length === 0 && !gone.includes(kind)) gone.push(kind);
    return gone.length === kinds.length;
  };
  await cloud.change(ControlPlane, 'my-cloud', {
    spec: { nova: { enabled: false }, neutron: { enabled: false }, ovnNetwork: { enabled: false } },
  });
  await cloud.until(watch, 10);
  expect(gone).toEqual(kinds);
  await cloud.ready();
  expect(cloud.isReady('Glance', 'my-cloud-glance')).toBe(true);
  await cloud.until(() => cloud.list('Job').every(({ metadata }) => !metadata.name.includes('nova')), 5);
});

test('a namespace that is deleted takes its pods; its control plane says what it waits for', async () => {
  const cloud = await cloudWithServer();
  await cloud.settle(cloud.rehearsal.sandbox.client().delete(Namespace, { name: 'openstack' }));
  await cloud.clock.advance(600_000);
  expect(phaseOf(controlPlane(cloud))).toBe('Deleting');
  expect(cloud.condition(ControlPlane, 'my-cloud', 'ResourcesGone')).toMatchObject({
    reason: 'ResourcesUnknown',
    message: expect.stringContaining('namespace openstack is being deleted, and no Job runs in it'),
  });
  await cloud.change(ControlPlane, 'my-cloud', withServers);
  await cloud.until(() => cloud.list('Namespace').every(({ metadata }) => metadata.name !== 'openstack'), 10);
  expect(labels(cloud)).toEqual([]);
});
