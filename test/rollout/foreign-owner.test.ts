import { Lease } from '@openstack-operator/kube';
import { Keystone } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { identityOnly, readyCloud } from './cloud.ts';

test('a Keystone that a controller of another API owns is reconciled like any other', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const client = cloud.rehearsal.sandbox.client();
  const namespace = 'openstack';
  const apiVersion = 'coordination.k8s.io/v1' as const;
  const wrapper = { apiVersion, kind: 'Lease', metadata: { name: 'wrapper', namespace } } as const;
  const { uid } = (await cloud.settle(client.create(Lease, wrapper))).metadata;
  const ownerReferences = [{ apiVersion, kind: 'Lease', name: 'wrapper', uid, controller: true }];
  await cloud.settle(
    client.create(Keystone, {
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'Keystone',
      metadata: { name: 'wrapped', namespace, ownerReferences },
      spec: { database: { user: 'wrapped', names: { keystone: 'wrapped' } } },
    }),
  );
  await cloud.until(() => cloud.isReady('Keystone', 'wrapped'), 10);
  expect(cloud.get('Deployment', 'wrapped-api')).toBeDefined();
});
