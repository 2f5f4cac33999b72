import { CustomResourceDefinition, Namespace } from '@openstack-operator/kube';
import { CephStorage } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { cephStorage, createCloud } from './cloud.ts';

const ref = { namespace: 'openstack', name: 'ceph' };

test('of a name of a user that an earlier version took, client. is taken off, and nothing else is changed', async () => {
  const cloud = await createCloud();
  const client = cloud.rehearsal.sandbox.client();
  const definition = await cloud.settle(
    client.get(CustomResourceDefinition, { name: 'cephstorages.openstack.k8s.io' }),
  );
  const { resourceVersion: _version, ...metadata } = definition.metadata;
  const replaceWith = async (spec: unknown) => {
    const { resourceVersion } = (
      await cloud.settle(client.get(CustomResourceDefinition, { name: definition.metadata.name }))
    ).metadata;
    const changed = { ...definition, metadata: { ...metadata, resourceVersion }, spec } as typeof definition;
    await cloud.settle(client.replace(CustomResourceDefinition, changed));
  };
  await cloud.settle(
    client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'openstack' } }),
  );
  // The definition of the time before names were looked at.
  const early = JSON.stringify(definition.spec).replaceAll("!self.startsWith('client.')", 'self.size() > 0');
  await replaceWith(JSON.parse(early));
  const resource = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'CephStorage', metadata: ref };
  const spec = { ...cephStorage, users: { cinder: 'client.volumes', glance: 'images' } };
  await cloud.settle(client.create(CephStorage, { ...resource, spec } as never));
  await replaceWith(definition.spec);
  const change = (users: object) => cloud.settle(client.patch(CephStorage, ref, 'merge', { spec: { users } }));
  await expect(change({ cinder: 'other' })).rejects.toThrow('cannot be changed after creation');
  await expect(change({ glance: 'other' })).rejects.toThrow('cannot be changed after creation');
  await change({ cinder: 'volumes' });
  await expect(change({ cinder: 'client.volumes' })).rejects.toThrow('expected the name without client.');
});
