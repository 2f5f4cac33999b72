import { readFileSync } from 'node:fs';
import { type KubeObject, timestamp } from '@openstack-operator/kube';
import { children, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createCloud, left } from './cloud.ts';

const sample = parse(
  readFileSync(new URL('../../../config/samples/controlplane_full.yaml', import.meta.url), 'utf8'),
) as KubeObject & { readonly spec: Readonly<Record<string, object>> };

test('the sample with every service reaches Ready, is left alone then, and leaves its keyrings when it is deleted', async () => {
  const optional = children.filter((child) => child.optional).map(({ field }) => field);
  expect(optional.filter((field) => sample.spec[field] === undefined)).toEqual([]);
  const cloud = await createCloud({ capacity: { cpu: '8', memory: '64Gi' } });
  const stringData = Object.fromEntries(
    ['cinder', 'cinder-backup', 'glance', 'manila', 'nova'].map((user, index) => [
      `ceph.client.${user}.keyring`,
      Buffer.alloc(28, index + 1).toString('base64'),
    ]),
  );
  const metadata = { name: 'ceph-keyrings', namespace: 'openstack' };
  const operator = await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }));
  const spec = { ...sample.spec, deletionPolicy: 'Delete' };
  await cloud.settle(cloud.rehearsal.create({ ...sample, spec }));
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
