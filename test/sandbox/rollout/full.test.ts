import { timestamp } from '@openstack-operator/kube';
import { children, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { createCloud, left } from './cloud.ts';
import { bringKeyrings, fullSample } from './full-sample.ts';

test('the sample with every service reaches Ready, is left alone then, and leaves its keyrings when it is deleted', async () => {
  const optional = children.filter((child) => child.optional).map(({ field }) => field);
  expect(optional.filter((field) => fullSample.spec[field] === undefined)).toEqual([]);
  const cloud = await createCloud({ capacity: { cpu: '8', memory: '64Gi' } });
  const operator = await cloud.startOperator();
  await bringKeyrings(cloud);
  const spec = { ...fullSample.spec, deletionPolicy: 'Delete' };
  await cloud.settle(cloud.rehearsal.create({ ...fullSample, spec }));
  await cloud.ready(60);

  await cloud.clock.advance(60_000);
  const begun = timestamp(cloud.clock);
  const writes: string[] = [];
  operator.onWrite(({ method, path }) => {
    if (!path.includes('/leases/')) writes.push(`${method} ${path}`);
  });
  await cloud.clock.advance(120_000);
  operator.runtime.resync();
  await cloud.clock.advance(10_000);
  // A status tells of the last run of its audit.
  const audited = cloud.list('CronJob').flatMap(({ metadata, status }) => {
    const { lastScheduleTime = '' } = (status ?? {}) as { readonly lastScheduleTime?: string };
    return lastScheduleTime < begun ? [] : (metadata.ownerReferences ?? []).map(({ name }) => `/${name}/status?`);
  });
  expect(writes.filter((write) => !audited.some((status) => write.includes(status)))).toEqual([]);

  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(() => left(cloud).length <= 1, 10);
  expect(left(cloud)).toEqual(['Secret ceph-keyrings']);
});
