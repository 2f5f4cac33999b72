import type { KubeObject } from '@openstack-operator/kube';
import { Neutron, Nova, OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { asUser, userImage } from './servers.ts';

const withServers = { metadata: { annotations: { 'openstack.k8s.io/delete-with-resources': 'true' } } };
const network: KubeObject = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OVNNetwork',
  metadata: { name: 'next', namespace: 'openstack' },
  spec: { nodeGroups: [{ name: 'edge', nodeSelector: { none: 'yet' } }] },
};
const agents = (cloud: Cloud, prefix: string) =>
  cloud
    .list('Pod')
    .filter(({ metadata }) => metadata.name.startsWith(prefix) && metadata.ownerReferences?.[0]?.kind === 'DaemonSet')
    .map(({ metadata }) => metadata.uid)
    .sort();

async function cloudWithServer() {
  const { cloud } = await readyCloud({ images: [userImage] });
  await asUser(cloud, 'boot');
  return cloud;
}

/** The same cloud without its control plane, with the references that may be left out. */
async function standAlone(cloud: Cloud) {
  const client = cloud.rehearsal.sandbox.client();
  const ref = { namespace: 'openstack', name: 'my-cloud' };
  await cloud.settle(client.delete(OpenStackControlPlane, ref, { propagationPolicy: 'Orphan' }));
  await cloud.clock.advance(60_000);
  await cloud.change(Neutron, 'my-cloud-neutron', { spec: { ovnRef: null } });
  await cloud.change(Nova, 'my-cloud-nova', { spec: { neutronRef: null } });
  await cloud.clock.advance(120_000);
  expect(cloud.isReady('Nova', 'my-cloud-nova')).toBe(true);
}

describe('a reference that does not resolve leaves the servers of a Nova in the way', () => {
  test.each([
    [
      'a second network made it ambiguous',
      (cloud: Cloud) => cloud.settle(cloud.rehearsal.create(network)),
      'Neutron my-cloud-neutron, spec.ovnRef is not set and namespace openstack has several of kind OVNNetwork',
    ],
    [
      'it has a typing error',
      (cloud: Cloud) => cloud.change(Neutron, 'my-cloud-neutron', { spec: { ovnRef: { name: 'my-cloud-onv' } } }),
      'Neutron my-cloud-neutron, spec.ovnRef.name: OVNNetwork my-cloud-onv does not exist in namespace openstack',
    ],
    [
      'the Neutron between was deleted with its servers',
      async (cloud: Cloud) => {
        await cloud.change(Neutron, 'my-cloud-neutron', withServers);
        await cloud.remove(Neutron, 'my-cloud-neutron');
        await cloud.until(() => cloud.get('Neutron', 'my-cloud-neutron') === undefined);
      },
      'Nova my-cloud-nova, spec.neutronRef is not set and namespace openstack has no Neutron',
    ],
  ] as const)('%s', async (_how, act, why) => {
    const cloud = await cloudWithServer();
    await standAlone(cloud);
    const before = agents(cloud, 'my-cloud-ovn-');
    expect(before).not.toEqual([]);
    await act(cloud);
    await cloud.remove(OVNNetwork, 'my-cloud-ovn');
    await cloud.clock.advance(300_000);
    expect(agents(cloud, 'my-cloud-ovn-')).toEqual(before);
    const held = cloud.condition(OVNNetwork, 'my-cloud-ovn', 'ResourcesGone');
    expect(held).toMatchObject({ status: 'False', reason: 'ResourcesExist' });
    expect(held?.message).toMatch(
      /^Nova my-cloud-nova has 1 server: delete them, or annotate OVNNetwork my-cloud-ovn /,
    );
    expect(held?.message).toContain(`Nova my-cloud-nova may depend on it, as a reference does not resolve: ${why}`);
    await cloud.change(OVNNetwork, 'my-cloud-ovn', withServers);
    await cloud.until(() => cloud.get('OVNNetwork', 'my-cloud-ovn') === undefined);
  });

  test('below a control plane', async () => {
    const cloud = await cloudWithServer();
    const before = agents(cloud, 'my-cloud-');
    await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { nova: { neutronRef: { name: 'next' } } } });
    await cloud.clock.advance(60_000);
    await cloud.change(OpenStackControlPlane, 'my-cloud', {
      spec: { neutron: { enabled: false }, ovnNetwork: { enabled: false } },
    });
    await cloud.clock.advance(300_000);
    expect(agents(cloud, 'my-cloud-')).toEqual(before);
    const held = cloud.condition(OpenStackControlPlane, 'my-cloud', 'NeutronReady');
    expect(held).toMatchObject({ status: 'False', reason: 'ResourcesExist' });
    expect(held?.message).toMatch(
      /^spec\.neutron: Neutron my-cloud-neutron is disabled, and kept: Nova my-cloud-nova has 1 server/,
    );
    expect(held?.message).toContain('spec.neutronRef.name: Neutron next does not exist in namespace openstack');
    // Taken back, all is as before.
    await cloud.change(OpenStackControlPlane, 'my-cloud', {
      spec: { nova: { neutronRef: null }, neutron: { enabled: true }, ovnNetwork: { enabled: true } },
    });
    await cloud.ready();
    expect(agents(cloud, 'my-cloud-')).toEqual(before);
    // A control plane goes with its servers, whatever its references say.
    await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { nova: { neutronRef: { name: 'next' } } } });
    await cloud.change(OpenStackControlPlane, 'my-cloud', withServers);
    await cloud.remove(OpenStackControlPlane, 'my-cloud');
    await cloud.until(() => cloud.list('Pod').length === 0, 10);
  });
});

test('a Nova that never had a host holds no network, whatever it refers to', async () => {
  const spec = { nova: { enabled: false }, ovnNetwork: { nodeGroups: [{ name: 'edge' }] } };
  const { cloud } = await readyCloud({ spec });
  await cloud.settle(
    cloud.rehearsal.create({
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'Nova',
      metadata: { name: 'alone', namespace: 'openstack' },
      spec: { neutronRef: { name: 'none' } },
    }),
  );
  await cloud.until(() => cloud.condition(Nova, 'alone')?.reason === 'ReferenceMissing');
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { neutron: { enabled: false }, ovnNetwork: { enabled: false } },
  });
  await cloud.until(() => cloud.list('OVNNetwork').length === 0, 10);
  await cloud.ready();
});

test('without servers, what stands alone is deleted together, and ends, whatever it refers to', async () => {
  const { cloud } = await readyCloud();
  await standAlone(cloud);
  await cloud.change(Nova, 'my-cloud-nova', { spec: { neutronRef: { name: 'next' } } });
  await cloud.until(() => cloud.condition(Nova, 'my-cloud-nova')?.reason === 'ReferenceMissing');
  await cloud.remove(OVNNetwork, 'my-cloud-ovn');
  await cloud.remove(Neutron, 'my-cloud-neutron');
  await cloud.remove(Nova, 'my-cloud-nova');
  const left = () => ['Nova', 'Neutron', 'OVNNetwork'].flatMap((kind) => cloud.list(kind));
  await cloud.until(() => left().length === 0, 10);
});
