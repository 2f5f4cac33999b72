import { expect, test } from 'vitest';
import { createCloud } from './cloud.ts';
import { bringKeyrings, sample } from './full-sample.ts';

test.each(['ha', 'ceph', 'telco'])('the sample %s reaches Ready', async (name) => {
  const cloud = await createCloud({
    nodes: ['node-1', 'node-2', 'node-3'],
    capacity: { cpu: '8', memory: '32Gi' },
  });
  await cloud.startOperator();
  await bringKeyrings(cloud);
  await cloud.settle(cloud.rehearsal.create(sample(name)));
  await cloud.ready();
  expect(cloud.isReady('OpenStackControlPlane', 'my-cloud')).toBe(true);
});
