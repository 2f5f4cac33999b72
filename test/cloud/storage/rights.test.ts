import { expect, onTestFinished, test } from 'vitest';
import { ceph } from './client.ts';
import { cephIs, check } from './health.ts';

test('a right that was taken away is told by user and pool, and told no more when it is back', async () => {
  const [entity] = await ceph<{ caps: Record<string, string> }[]>('auth', 'get', 'client.nova');
  const { mon = '', osd = '', mgr = '' } = entity?.caps ?? {};
  const grant = (right: string) => ceph('auth', 'caps', 'client.nova', 'mon', mon, 'osd', right, 'mgr', mgr);
  onTestFinished(async () => {
    await grant(osd);
  });
  expect(osd).toContain('profile rbd pool=vms');
  await grant(osd.replace('profile rbd pool=vms', 'profile rbd-read-only pool=vms'));
  await check(3);
  const { condition } = await cephIs('False', /client\.nova cannot write in pool vms/, 240);
  expect(condition).toContain("(it needs mon 'profile rbd', osd 'profile rbd pool=vms')");
  await grant(osd);
  await check(1);
  await cephIs('True', /^HEALTH_OK/m, 120);
}, 600_000);

test('a pool that is not there is told by its name, and told no more when it is back', async () => {
  const rename = (from: string, to: string) => ceph('osd', 'pool', 'rename', from, to);
  let isAway = false;
  onTestFinished(async () => {
    if (isAway) await rename('vms-away', 'vms');
  });
  await rename('vms', 'vms-away');
  isAway = true;
  await check(3);
  await cephIs('False', /client\.nova cannot write in pool vms: .*No such file or directory/, 240);
  await rename('vms-away', 'vms');
  isAway = false;
  await check(1);
  await cephIs('True', /^HEALTH_OK/m, 120);
}, 600_000);
