import { type Kind, Namespace as NamespaceKind, Node as NodeKind } from '@openstack-operator/kube';
import { MariaDB, OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, isLasting, left, readyCloud } from './cloud.ts';
import { sharedCloud } from './shared-cloud.ts';

const ControlPlane = OpenStackControlPlane as Kind;
const protect = 'openstack.k8s.io/protect-servers';
const labels = (cloud: Cloud) =>
  cloud
    .list('Node')
    .flatMap(({ metadata }) => Object.keys(metadata.labels ?? {}).filter((one) => one.includes('openstack')));
const retained = [
  'PersistentVolumeClaim data-my-cloud-mariadb-0',
  'Secret my-cloud-keystone-admin-password',
  'Secret my-cloud-keystone-credential-keys',
  'Secret my-cloud-mariadb-root-password',
];

describe('deletionPolicy', () => {
  test.each([
    ['Delete', undefined, []],
    ['Retain', undefined, retained],
    ['Delete', 'Retain', retained],
    ['Retain', 'Delete', []],
  ] as const)('%s, then %s', async (first, then, expected) => {
    const { cloud } = await readyCloud({ spec: { ...identityOnly, deletionPolicy: first } });
    const pods = cloud
      .list('Pod')
      .filter(isLasting)
      .map(({ metadata }) => metadata.uid);
    if (then !== undefined) {
      await cloud.change(ControlPlane, 'my-cloud', { spec: { deletionPolicy: then } });
      await cloud.ready();
      expect(
        cloud
          .list('Pod')
          .filter(isLasting)
          .map(({ metadata }) => metadata.uid),
      ).toEqual(pods);
    }
    await cloud.remove(ControlPlane, 'my-cloud');
    await cloud.until(() => left(cloud).length <= expected.length, 5);
    await cloud.clock.advance(60_000);
    expect(left(cloud)).toEqual(expected);
  });
});

describe('a control plane', () => {
  const spec = { ...identityOnly, ovnNetwork: { nodeGroups: [{ name: 'edge' }] } };

  test.each([1, 3, 5, 8, 12])('deleted %i s into its rollout leaves what it retains, and no label', async (seconds) => {
    const cloud = await createCloud();
    await cloud.startOperator();
    await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
    await cloud.clock.advance(seconds * 1000);
    await cloud.remove(ControlPlane, 'my-cloud');
    await cloud.until(() => cloud.list('Pod').length === 0, 5);
    await cloud.clock.advance(60_000);
    expect(left(cloud).filter((name) => !/^(Secret|PersistentVolumeClaim) /.test(name))).toEqual([]);
    expect(labels(cloud)).toEqual([]);
  });

  test('created again while the old one is being deleted comes up with the volumes of the old one', async () => {
    const { cloud } = await readyCloud({ spec: identityOnly });
    const volume = cloud.get('PersistentVolumeClaim', 'data-my-cloud-mariadb-0')?.metadata.uid;
    const client = cloud.rehearsal.sandbox.client();
    await cloud.settle(client.delete(ControlPlane, { namespace: 'openstack', name: 'my-cloud' }));
    await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined);
    expect(cloud.list('Pod')).not.toEqual([]);
    await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
    await cloud.ready();
    expect(cloud.get('PersistentVolumeClaim', 'data-my-cloud-mariadb-0')?.metadata.uid).toBe(volume);
  });

  test('that is being deleted has nothing written for its services any more', async () => {
    const { cloud, operator } = await readyCloud();
    await cloud.change(ControlPlane, 'my-cloud', {
      metadata: { finalizers: ['example.com/hold', 'openstack.k8s.io/release-nodes', protect] },
    });
    // Until it is known that there are no servers, all goes on.
    await cloud.remove(ControlPlane, 'my-cloud');
    await cloud.until(
      () => cloud.get('OpenStackControlPlane', 'my-cloud')?.metadata.finalizers?.includes(protect) === false,
    );
    const written: string[] = [];
    operator.onWrite(({ path }) => written.push(path.replace(/\?.*/, '')));
    await cloud.clock.advance(60_000);
    expect(labels(cloud)).toEqual([]);
    expect(cloud.get('OpenStackControlPlane', 'my-cloud')?.status).toMatchObject({ phase: 'Deleting' });
    expect(written.filter((path) => !/\/(nodes\/node-1|openstackcontrolplanes\/my-cloud)$/.test(path))).toEqual([]);
  });

  test('whose nodes are gone is deleted all the same', async () => {
    const { cloud } = await readyCloud({ spec });
    cloud.rehearsal.sandbox.nodes.stop('node-1');
    const client = cloud.rehearsal.sandbox.client();
    for (const node of cloud.list('Node')) await cloud.settle(client.delete(NodeKind, { name: node.metadata.name }));
    await cloud.remove(ControlPlane, 'my-cloud');
    await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined, 5);
  });
});

const shared = sharedCloud(() => readyCloud({ spec: identityOnly }));

describe('a service that is disabled later', () => {
  test('goes with its workloads and keeps its data; switched on again, it finds them', async () => {
    const { cloud } = await shared();
    await cloud.change(ControlPlane, 'my-cloud', { spec: { keystone: { enabled: false } } });
    await cloud.ready();
    expect(cloud.get('Keystone', 'my-cloud-keystone')).toBeUndefined();
    expect(cloud.condition(ControlPlane, 'my-cloud', 'KeystoneReady')).toMatchObject({
      status: 'True',
      reason: 'Disabled',
      message: 'spec.keystone.enabled is false',
    });
    await cloud.until(() => left(cloud).every((name) => !/^(Deployment|Pod|Job) my-cloud-keystone/.test(name)));
    expect(left(cloud)).toContain('Secret my-cloud-keystone-credential-keys');
    await cloud.change(ControlPlane, 'my-cloud', { spec: { keystone: { enabled: true } } });
    await cloud.ready();
    expect(cloud.isReady('Keystone', 'my-cloud-keystone')).toBe(true);
  });

  test.each(['memcached', 'mariadb'])('%s takes nothing along that needs it, and says so', async (field) => {
    const { cloud } = await shared();
    const uids = () =>
      ['Deployment', 'StatefulSet', 'Pod', 'Keystone', 'Memcached', 'MariaDB'].flatMap((kind) =>
        cloud.list(kind).map(({ metadata }) => metadata.uid),
      );
    const before = uids();
    await cloud.change(ControlPlane, 'my-cloud', { spec: { [field]: { enabled: false } } });
    await cloud.clock.advance(120_000);
    expect(uids()).toEqual(expect.arrayContaining(before));
    expect(cloud.condition(ControlPlane, 'my-cloud', 'KeystoneReady')).toMatchObject({
      status: 'False',
      reason: 'DependencyDisabled',
      message: expect.stringContaining(`Keystone needs spec.${field}, which is disabled; enable it`),
    });
    expect(cloud.condition(ControlPlane, 'my-cloud')).toMatchObject({ status: 'False', reason: 'InUse' });
    expect(cloud.get('OpenStackControlPlane', 'my-cloud')?.status).toMatchObject({ phase: 'Failed' });
    await cloud.change(ControlPlane, 'my-cloud', { spec: { [field]: { enabled: true } } });
    await cloud.ready();
    expect(uids()).toEqual(expect.arrayContaining(before));
  });
});

describe('a StatefulSet', () => {
  test('whose pod hangs on a wrong image goes on when the image is corrected', async () => {
    const { cloud } = await shared();
    const image = (mariadb: string | null) => ({ spec: { mariadb: { images: { server: mariadb } } } });
    await cloud.change(ControlPlane, 'my-cloud', image('registry.example.org/no-such-image:1'));
    await cloud.until(() => cloud.condition(MariaDB, 'my-cloud-mariadb')?.message.includes('no-such-image') === true);
    await cloud.change(ControlPlane, 'my-cloud', image(null));
    await cloud.ready(10);
  });

  // The last one of the cloud that is shared: volumes do not shrink.
  test('grows its volume without touching the pod', async () => {
    const { cloud } = await shared();
    const pod = () => cloud.get('Pod', 'my-cloud-mariadb-0')?.metadata.uid;
    const before = { pod: pod(), set: cloud.get('StatefulSet', 'my-cloud-mariadb')?.metadata.uid };
    await cloud.change(ControlPlane, 'my-cloud', { spec: { mariadb: { storage: { size: '20Gi' } } } });
    await cloud.ready();
    expect(pod()).toBe(before.pod);
    const set = cloud.get('StatefulSet', 'my-cloud-mariadb');
    expect(set?.metadata.uid).not.toBe(before.set);
    expect(JSON.stringify(set?.['spec'])).toContain('20Gi');
    expect(cloud.get('PersistentVolumeClaim', 'data-my-cloud-mariadb-0')?.['spec']).toMatchObject({
      resources: { requests: { storage: '20Gi' } },
    });
  });
});

test('a namespace that is deleted goes, whatever it holds', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, ovnNetwork: { nodeGroups: [{ name: 'edge' }] } } });
  const client = cloud.rehearsal.sandbox.client();
  await cloud.settle(client.delete(NamespaceKind, { name: 'openstack' }));
  await cloud.until(() => cloud.list('Namespace').every(({ metadata }) => metadata.name !== 'openstack'), 10);
  expect(labels(cloud)).toEqual([]);
});

test('resources that stand alone share their nodes, and the last one lets them go', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const network = (name: string) => ({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'OVNNetwork',
    metadata: { name, namespace: 'openstack' },
    spec: { nodeGroups: [{ name: 'edge' }] },
  });
  for (const name of ['one', 'two']) await cloud.settle(cloud.rehearsal.create(network(name)));
  await cloud.until(() => labels(cloud).length > 0);
  await cloud.clock.advance(5000);
  await cloud.remove(OVNNetwork, 'one');
  expect(labels(cloud)).not.toEqual([]);
  await cloud.remove(OVNNetwork, 'two');
  expect(labels(cloud)).toEqual([]);
});
