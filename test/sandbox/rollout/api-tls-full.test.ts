import { expect, test } from 'vitest';
import { createCloud } from './cloud.ts';
import { bringKeyrings, fullSample } from './full-sample.ts';
import { entitiesOf } from './keystone.ts';

test('the sample with every service reaches Ready with TLS of the APIs', async () => {
  const cloud = await createCloud({ capacity: { cpu: '8', memory: '64Gi' } });
  await cloud.startOperator();
  await bringKeyrings(cloud);
  const keystone = { ...fullSample.spec['keystone'], tls: { enabled: true } };
  await cloud.settle(cloud.rehearsal.create({ ...fullSample, spec: { ...fullSample.spec, keystone } }));
  await cloud.ready(60);
  const endpoints = (await entitiesOf(cloud, 'endpoints')) as unknown as { interface: string; url: string }[];
  const inside = endpoints.flatMap(({ interface: of, url }) => (of === 'internal' ? [new URL(url)] : []));
  expect(inside.length).toBeGreaterThan(20);
  expect(inside.filter(({ protocol }) => protocol !== 'https:').map(String)).toEqual([]);
  const name = cloud.list('Pod').find((pod) => pod.metadata.name.startsWith('my-cloud-nova-scheduler-'))?.metadata.name;
  for (const { origin } of inside) {
    const argv = ['curl', '-sS', '--cacert', '/etc/openstack/trust/identity/ca.crt', '-o', '/dev/null', `${origin}/`];
    const ref = { namespace: 'openstack', name: name ?? '' };
    const asked = await cloud.settle(cloud.rehearsal.sandbox.pods.exec(ref, argv));
    expect({ origin, code: asked.code, stderr: asked.stderr }).toEqual({ origin, code: 0, stderr: '' });
  }
  await cloud.clock.advance(310_000);
  const refused = cloud.list('Pod').flatMap(({ metadata: { name } }) => {
    const logs = cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name });
    return [...logs.matchAll(/.*SSL(?:Error|: ).*/g)].slice(0, 1).map(([line]) => `${name}: ${line}`);
  });
  expect(refused).toEqual([]);
}, 600_000);
