import type { Kind, KubeObject } from '@openstack-operator/kube';
import { Keystone, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly, readyCloud } from './cloud.ts';

const keystone = 'my-cloud-keystone';
const release = (object: KubeObject | undefined) => (object?.['status'] as { release?: object } | undefined)?.release;

test('the release is recorded when a rollout begins, and as deployed when it has ended', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.until(() => cloud.get('Keystone', keystone)?.status !== undefined);
  expect(release(cloud.get('Keystone', keystone))).toEqual({ target: '2025.1' });
  expect(release(cloud.get('OpenStackControlPlane', 'my-cloud'))).toEqual({ target: '2025.1' });
  await cloud.ready();
  const all = ['OpenStackControlPlane', 'MariaDB', 'Memcached', 'Keystone'].flatMap((kind) => cloud.list(kind));
  expect(all.map((object) => release(object))).toEqual(all.map(() => ({ deployed: '2025.1', target: '2025.1' })));
  // One that is added by a later operator, with another default, joins the cloud at its release.
  expect(cloud.get('Keystone', keystone)?.['spec']).toMatchObject({ release: '2025.1' });
});

test('a cloud of a release that this operator does not know is left as it is, and told', async () => {
  const { cloud, operator } = await readyCloud({ spec: identityOnly, life: { identity: 'first' } });
  await cloud.clock.advance(60_000);
  await cloud.settle(operator.stop());
  const before = [...cloud.list('Pod'), ...cloud.list('Job')].map(({ metadata }) => metadata.uid);
  const client = cloud.rehearsal.sandbox.client();
  const patch = { status: { release: { deployed: '2031.1', target: '2031.1' } } };
  for (const [kind, name] of [
    [OpenStackControlPlane as Kind, 'my-cloud'],
    [Keystone as Kind, keystone],
  ] as const) {
    await cloud.settle(client.patch(kind, { namespace: 'openstack', name }, 'merge', patch, { subresource: 'status' }));
  }
  await cloud.startOperator({ identity: 'earlier' });
  await cloud.clock.advance(60_000);
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud')).toMatchObject({
    status: 'False',
    reason: 'ReleaseUnknown',
    message:
      'status.release: this operator deploys 2025.1, not 2031.1; install a version that does, or set spec.release',
  });
  expect(release(cloud.get('OpenStackControlPlane', 'my-cloud'))).toEqual(patch.status.release);
  expect([...cloud.list('Pod'), ...cloud.list('Job')].map(({ metadata }) => metadata.uid)).toEqual(before);
});
