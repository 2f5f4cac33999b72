import { Lease, StatefulSet } from '@openstack-operator/kube';
import { Keystone, MariaDB } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { createCloud, identityOnly, readyCloud } from './cloud.ts';

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

test('a pod of a StatefulSet of somebody else’s, of the same name, is left alone', async () => {
  const cloud = await createCloud();
  const client = cloud.rehearsal.sandbox.client();
  const metadata = { name: 'db', namespace: 'openstack' };
  const labels = { app: 'theirs', 'app.kubernetes.io/managed-by': 'openstack-operator' };
  const containers = [{ name: 'a', image: 'theirs' }];
  const spec = {
    serviceName: 'theirs',
    selector: { matchLabels: { app: 'theirs' } },
    template: { metadata: { labels }, spec: { nodeSelector: { no: 'such' }, containers } },
  };
  await cloud.settle(
    cloud.rehearsal.create({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { ...metadata, labels }, spec }),
  );
  await cloud.clock.advance(5000);
  const template = { metadata: { annotations: { new: 'one' } } };
  await cloud.settle(client.patch(StatefulSet, metadata, 'merge', { spec: { template } }));
  await cloud.clock.advance(5000);
  const pods = () => cloud.list('Pod').map(({ metadata: { uid } }) => uid);
  const before = pods();
  expect(before).toHaveLength(1);
  await cloud.startOperator();
  await cloud.settle(
    cloud.rehearsal.create({ apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'MariaDB', metadata, spec: {} }),
  );
  await cloud.clock.advance(120_000);
  expect(cloud.condition(MariaDB, 'db')?.message).toContain('StatefulSet');
  expect(pods()).toEqual(before);
});

test('an object whose owner has the uid of a resource and another kind is not taken for its own', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const metadata = { name: 'db', namespace: 'openstack' };
  const paused = { 'openstack.k8s.io/paused': 'true' };
  await cloud.settle(
    cloud.rehearsal.create({
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'MariaDB',
      metadata: { ...metadata, annotations: paused },
      spec: {},
    }),
  );
  await cloud.clock.advance(5000);
  const uid = cloud.get('MariaDB', 'db')?.metadata.uid ?? '';
  const ownerReferences = [{ apiVersion: 'unknown.example/v1', kind: 'Whatever', name: 'db', uid, controller: true }];
  const template = { metadata: { labels: { app: 'theirs' } }, spec: { containers: [{ name: 'a', image: 'theirs' }] } };
  const spec = { serviceName: 'theirs', selector: { matchLabels: { app: 'theirs' } }, template };
  await cloud.settle(
    cloud.rehearsal.create({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { ...metadata, ownerReferences },
      spec,
    }),
  );
  await cloud.change(MariaDB, 'db', { metadata: { annotations: { 'openstack.k8s.io/paused': null } } });
  await cloud.clock.advance(120_000);
  expect(cloud.condition(MariaDB, 'db', 'DeploymentReady')).toMatchObject({ status: 'False', reason: 'ForeignObject' });
  expect(cloud.get('StatefulSet', 'db')?.['spec']).toMatchObject({ serviceName: 'theirs' });
  expect(cloud.get('StatefulSet', 'db')?.metadata.ownerReferences).toEqual(ownerReferences);
});
