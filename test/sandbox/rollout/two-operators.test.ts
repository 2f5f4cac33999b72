import { expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly } from './cloud.ts';
import { duplicateJobs } from './duplicate-jobs.ts';

test('two operators of one lease: the second waits, and goes on where the first was killed', async () => {
  const cloud = await createCloud();
  const duplicates = duplicateJobs(cloud);
  const first = await cloud.startOperator({ identity: 'first' });
  const second = cloud.rehearsal.startOperator({ identity: 'second' });
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.clock.advance(6000);
  first.kill();
  await cloud.settle(second);
  await cloud.ready();
  expect(cloud.get('Lease', 'openstack-operator', 'openstack-operator-system')?.['spec']).toMatchObject({
    holderIdentity: 'second',
  });
  expect(duplicates()).toEqual([]);
});
