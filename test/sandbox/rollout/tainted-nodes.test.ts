import { Node } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly } from './cloud.ts';

const taint = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' } as const;
const tolerations = [{ key: taint.key, operator: 'Exists' }];

test('on tainted nodes a cloud comes up as soon as its resource tolerates them, the Jobs that waited included', async () => {
  const cloud = await createCloud();
  for (const { metadata } of cloud.list('Node')) {
    const patch = cloud.rehearsal.sandbox
      .client()
      .patch(Node, { name: metadata.name }, 'merge', { spec: { taints: [taint] } });
    await cloud.settle(patch);
  }
  await cloud.startOperator();
  // Only what runs all the time tolerates the nodes: Jobs wait.
  const components = (name: string) => ({ components: { [name]: { tolerations } } });
  const spec = { ...identityOnly, mariadb: components('server'), memcached: components('server') };
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  await cloud.until(() => cloud.get('Job', 'my-cloud-keystone-db-create') !== undefined);
  await cloud.clock.advance(60_000);
  const waiting = cloud.get('Job', 'my-cloud-keystone-db-create')?.metadata.uid;
  expect(cloud.get('Job', 'my-cloud-keystone-db-create')?.['status']).not.toMatchObject({ succeeded: 1 });
  await cloud.clock.advance(60_000);
  expect(cloud.get('Job', 'my-cloud-keystone-db-create')?.metadata.uid).toBe(waiting);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { tolerations } });
  await cloud.ready();
  expect(cloud.get('Job', 'my-cloud-keystone-db-create')?.metadata.uid).not.toBe(waiting);
  cloud.rehearsal.stop();
});
