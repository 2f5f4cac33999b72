import { Node } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { controlPlane, readyCloud } from './cloud.ts';
import { asUser, userImage } from './servers.ts';

test('a cloud made again on the database of one with servers is asked for them before it goes with all data', async () => {
  const { cloud } = await readyCloud({ images: [userImage] });
  const live = () => cloud.get('OpenStackControlPlane', 'my-cloud');
  await asUser(cloud, 'boot');
  const annotations = { 'openstack.k8s.io/delete-with-resources': 'true' };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { metadata: { annotations } });
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(() => live() === undefined && cloud.list('Pod').length === 0, 10);
  const volumes = () => cloud.list('PersistentVolumeClaim').map(({ metadata: { uid } }) => uid);
  const before = volumes();
  // No node for its hypervisors: Nova is never made.
  await cloud.change(Node, 'node-1', { spec: { unschedulable: true } });
  const nodeGroups = [{ name: 'default', nodeSelector: { no: 'such' } }];
  await cloud.settle(cloud.rehearsal.create(controlPlane({ deletionPolicy: 'Delete', nova: { nodeGroups } })));
  await cloud.change(Node, 'node-1', { spec: { unschedulable: null } });
  await cloud.until(() => cloud.isReady('Placement', 'my-cloud-placement'), 30);
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.clock.advance(120_000);
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud', 'ResourcesGone')).toMatchObject({
    reason: 'ResourcesUnknown',
    message: expect.stringContaining('is of an earlier cloud, and no Nova is there yet to tell how many servers'),
  });
  expect(volumes()).toEqual(before);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { deletionPolicy: 'Retain' } });
  await cloud.until(() => live() === undefined, 10);
  await cloud.clock.advance(60_000);
  expect(volumes()).toEqual(before);
});
