import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { users } from '../../../tools/ceph/keys.ts';
import { program } from '../kubernetes.ts';
import { Client, ceph } from './client.ts';

const cinder = new Client('cinder');

beforeAll(() => cinder.start());
afterAll(() => cinder.stop());

test('it is well, and all of its placement groups are clean', async () => {
  const status = await ceph<{ health: object; pgmap: { num_pgs: number; pgs_by_state: object[] } }>('status');
  expect(status.health).toMatchObject({ status: 'HEALTH_OK', checks: {} });
  expect(status.pgmap.num_pgs).toBeGreaterThan(0);
  expect(status.pgmap.pgs_by_state).toEqual([{ state_name: 'active+clean', count: status.pgmap.num_pgs }]);
});

test('every user of the services has the rights that are written down', async () => {
  for (const { name, caps } of users) {
    const [entity] = await ceph<{ entity: string; caps: object }[]>('auth', 'get', name);
    expect(entity).toMatchObject({ entity: name, caps });
  }
});

test('the daemons have no capabilities and get no more privileges', async () => {
  const text = await program(
    ...(['kubectl', 'exec', '-n', 'ceph', 'statefulset/ceph', '-c', 'osd', '--', 'cat'] as const),
    '/proc/1/status',
  );
  expect(text).toMatch(/^Uid:\s+64045\s/m);
  expect(text).toMatch(/^CapBnd:\s+0+$/m);
  expect(text).toMatch(/^NoNewPrivs:\s+1$/m);
});

describe('client.cinder, in a pod that has its keyring alone', () => {
  const image = 'volumes/acceptance-volume';

  afterAll(() => cinder.run('rbd', 'remove', image));

  test('makes a block device and writes to it', async () => {
    await cinder.run('rbd', 'remove', image); // of a run that was killed
    expect(await cinder.run('rbd', 'create', '--size', '64', image)).toEqual({ succeeded: true, text: '' });
    const info = await cinder.run('rbd', 'info', '--format', 'json', image);
    expect(JSON.parse(info.text)).toMatchObject({ name: 'acceptance-volume', size: 64 * 2 ** 20 });
    expect((await cinder.run('rbd', 'bench', '--io-type', 'write', '--io-total', '8M', image)).text).toContain(
      'ops/sec',
    );
  });

  test('lists images and makes none there', async () => {
    expect(await cinder.run('rbd', 'list', 'images')).toMatchObject({ succeeded: true });
    const made = await cinder.run('rbd', 'create', '--size', '1', 'images/acceptance-image');
    expect(made).toMatchObject({ succeeded: false, text: expect.stringContaining('Operation not permitted') });
  });

  test('has no access to backups', async () => {
    const listed = await cinder.run('rbd', 'list', 'backups');
    expect(listed).toMatchObject({ succeeded: false, text: expect.stringContaining('Operation not permitted') });
  });
});
