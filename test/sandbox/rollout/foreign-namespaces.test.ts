import { Namespace, Service } from '@openstack-operator/kube';
import { Neutron } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { networking, readyCloud } from './cloud.ts';

test('objects of another namespace are not those of a resource, whatever owner they name', async () => {
  const { cloud } = await readyCloud({ spec: networking });
  const client = cloud.rehearsal.sandbox.client();
  const databases = [
    ['nb', 6641],
    ['sb', 6642],
  ] as const;
  const connections = () => {
    const [pod] = cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith('my-cloud-neutron-server-'));
    const { volumes = [] } = (pod?.['spec'] ?? {}) as { volumes?: { configMap?: { name: string } }[] };
    const files = volumes.flatMap(({ configMap }) =>
      Object.values((cloud.get('ConfigMap', configMap?.name ?? '')?.['data'] ?? {}) as Record<string, string>),
    );
    return files.join('\n').match(/^ovn_[ns]b_connection = .*$/gm);
  };
  const addressOf = (name: string, namespace?: string) =>
    ((cloud.get('Service', name, namespace)?.['spec'] ?? {}) as { clusterIP?: string }).clusterIP;
  const expected = databases.map(
    ([name, port]) => `ovn_${name}_connection = tcp:${addressOf(`my-cloud-ovn-${name}-db-0`)}:${port}`,
  );
  expect(connections()).toEqual(expected);

  const namespace = 'other';
  await cloud.settle(client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }));
  const { apiVersion, kind, metadata } = cloud.get('OVNNetwork', 'my-cloud-ovn') ?? expect.fail();
  const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }];
  const labels = { 'app.kubernetes.io/managed-by': 'openstack-operator' };
  for (const [name, port] of databases) {
    const planted = { name: `my-cloud-ovn-${name}-db-0`, namespace, labels, ownerReferences };
    await cloud.settle(
      client.create(Service, {
        apiVersion: 'v1',
        kind: 'Service',
        // The garbage collector deletes what names an owner that its namespace does not have.
        metadata: { ...planted, finalizers: ['example.com/stay'] },
        spec: { ports: [{ port }] },
      }),
    );
  }
  await cloud.clock.advance(600_000);
  expect(addressOf('my-cloud-ovn-nb-db-0', namespace)).toMatch(/^\d/);
  await cloud.change(Neutron, 'my-cloud-neutron', { metadata: { annotations: { 'example.com/wakes': 'it' } } });
  await cloud.clock.advance(300_000);
  expect(connections()).toEqual(expected);
  expect(cloud.get('Service', 'my-cloud-ovn-nb-db-0', namespace), 'nobody prunes it either').toBeDefined();
});
