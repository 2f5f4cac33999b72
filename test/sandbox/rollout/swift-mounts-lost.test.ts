import { Secret } from '@openstack-operator/kube';
import { Swift } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { four, onDisks, step, told } from './mounts.ts';
import { cats, name, read, stored } from './swift.ts';

const hour = 3_600_000;

test('what names are hashed with is never made anew where objects lie on disks of nodes alone', async () => {
  const cloud = await onDisks();
  await cloud.ready();
  const all = await stored(cloud, cats);
  const secret = cloud.get('Secret', `${name}-hash`);
  await cloud.remove(Secret, `${name}-hash`);
  await cloud.clock.advance(hour);
  expect(cloud.get('Secret', `${name}-hash`)).toBeUndefined();
  expect(told(cloud, 'CredentialsReady')).toContain(
    `Secret ${name}-hash is gone, and with it all objects: restore the Secret from a backup`,
  );
  expect(await read(cloud, cats)).toEqual(all);
  const { labels = {}, annotations = {} } = secret?.metadata ?? {};
  const restored = { metadata: { name: `${name}-hash`, namespace: 'openstack', labels, annotations } };
  await cloud.settle(
    cloud.rehearsal.sandbox.client().create(Secret, { ...restored, data: secret?.['data'] ?? {} } as never),
  );
  await cloud.ready();
  expect(await read(cloud, cats)).toEqual(all);
}, 600_000);

test('a Swift without as many storage nodes as most copies need is not Ready', async () => {
  const cloud = await onDisks();
  await cloud.ready();
  const all = await stored(cloud, cats);
  const { nodes } = cloud.rehearsal.sandbox;
  const [first = '', second = ''] = four;
  nodes.stop(first);
  await cloud.until(() => told(cloud, step) !== '');
  await cloud.clock.advance(hour / 2);
  expect(cloud.condition(Swift, name, step)).toMatchObject({ status: 'True', reason: 'Degraded' });
  expect(await read(cloud, cats)).toEqual(all);
  nodes.stop(second);
  await cloud.until(() => !cloud.isReady('Swift', name));
  await cloud.clock.advance(hour / 2);
  expect(cloud.condition(Swift, name, step)?.status).toBe('False');
  for (const node of [first, second]) nodes.start(node);
  await cloud.ready();
  expect(await read(cloud, cats)).toEqual(all);
}, 600_000);
