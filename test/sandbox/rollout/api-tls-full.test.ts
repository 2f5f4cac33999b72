import { readFileSync } from 'node:fs';
import type { KubeObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createCloud } from './cloud.ts';
import { entitiesOf } from './keystone.ts';

const sample = parse(
  readFileSync(new URL('../../../config/samples/controlplane_full.yaml', import.meta.url), 'utf8'),
) as KubeObject & { readonly spec: Readonly<Record<string, object>> };

test('the sample with every service reaches Ready with TLS of the APIs', async () => {
  const cloud = await createCloud({ capacity: { cpu: '8', memory: '64Gi' } });
  const stringData = Object.fromEntries(
    ['cinder', 'cinder-backup', 'glance', 'manila', 'nova'].map((user, index) => [
      `ceph.client.${user}.keyring`,
      Buffer.alloc(28, index + 1).toString('base64'),
    ]),
  );
  const metadata = { name: 'ceph-keyrings', namespace: 'openstack' };
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }));
  const keystone = { ...sample.spec['keystone'], tls: { enabled: true } };
  await cloud.settle(cloud.rehearsal.create({ ...sample, spec: { ...sample.spec, keystone } }));
  await cloud.ready(60);
  const endpoints = (await entitiesOf(cloud, 'endpoints')) as unknown as { interface: string; url: string }[];
  const inside = endpoints.flatMap(({ interface: of, url }) => (of === 'internal' ? [new URL(url)] : []));
  // What is not served by uwsgi.
  expect(
    inside.flatMap(({ protocol, hostname }) => (protocol === 'http:' ? [hostname.split('.')[0] ?? ''] : [])).sort(),
  ).toEqual(
    ['glance-internal', 'swift-proxy', 'tacker-server', 'venus-api', 'vitrage-api'].map((name) => `my-cloud-${name}`),
  );
  await cloud.clock.advance(310_000);
  const refused = cloud.list('Pod').flatMap(({ metadata: { name } }) => {
    const logs = cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name });
    return [...logs.matchAll(/.*SSL(?:Error|: ).*/g)].slice(0, 1).map(([line]) => `${name}: ${line}`);
  });
  expect(refused).toEqual([]);
}, 600_000);
