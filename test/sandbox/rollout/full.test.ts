import { timestamp } from '@openstack-operator/kube';
import { children, OpenStackControlPlane, services } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { createCloud, left } from './cloud.ts';
import { bringKeyrings, fullSample } from './full-sample.ts';
import { rowImage, rows } from './kept-rows.ts';

test('the sample with every service reaches Ready, is left alone then, and goes when users keep nothing in it', async () => {
  const optional = children.filter((child) => child.optional).map(({ field }) => field);
  expect(optional.filter((field) => fullSample.spec[field] === undefined)).toEqual([]);
  const cloud = await createCloud({ capacity: { cpu: '8', memory: '64Gi' }, images: [rowImage] });
  const operator = await cloud.startOperator();
  await bringKeyrings(cloud);
  // Nobody may list the stacks of all projects otherwise.
  const heat = { policy: { 'stacks:global_index': 'rule:context_is_admin' } };
  const spec = { ...fullSample.spec, heat, deletionPolicy: 'Delete' };
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

  const held = services.filter(({ heldBy }) => heldBy !== undefined);
  const names = held.map(({ name }) => name);
  await rows(cloud, 'make', names);
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  const said = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'ResourcesGone')?.message ?? '';
  const one = held.map(({ kind, name, heldBy }) => {
    const of = heldBy?.counts[0]?.of ?? '';
    return `${kind.kind} my-cloud-${name} has 1 ${of.slice(0, -1)}`;
  });
  const missing = () => one.filter((words) => !said().includes(words));
  await cloud
    .until(() => missing().length === 0, 5)
    .catch(() => expect({ missing: missing(), said: said() }).toEqual({}));
  await rows(cloud, 'take', names);
  await cloud.until(() => left(cloud).length <= 1, 10);
  expect(left(cloud)).toEqual(['Secret ceph-keyrings']);
});
