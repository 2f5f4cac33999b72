import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { controlPlane, createCloud } from './cloud.ts';

test.each([2, 10, -10])(
  'an operator whose clock is %i minutes ahead of the cluster ends a deletion',
  async (minutes) => {
    const cloud = await createCloud();
    const { clock } = cloud;
    const skewed = { ...clock, now: () => clock.now() + minutes * 60_000, monotonic: () => clock.monotonic() };
    await cloud.startOperator({ clock: skewed });
    await cloud.settle(cloud.rehearsal.create(controlPlane()));
    await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
    await cloud.remove(OpenStackControlPlane, 'my-cloud');
    await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined, 3);
    expect(cloud.list('Job').filter(({ metadata }) => metadata.name.endsWith('resource-count'))).toEqual([]);
  },
);
