import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { blockStorage, type Cloud } from './cloud.ts';
import {
  agreement,
  ask,
  attach,
  booted,
  cloudWithVolumes,
  detach,
  made,
  pair,
  podsOf,
  settles,
  sides,
  stateOf,
  statusOf,
  urls,
} from './disks.ts';
import { login } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const backup = { type: 'pvc' };
const shared = sharedCloud(() => cloudWithVolumes({ ...blockStorage, backup }));

/** The cloud without servers and volumes. */
async function emptied(): Promise<Cloud> {
  const { cloud } = await shared();
  const all = (url: string) => ask<Record<string, { id: string }[]>>(cloud, 'GET', `${url}?all_tenants=1`);
  const removed = async (base: string, what: string) => {
    // Increments before what they are of.
    for (const { id } of ((await all(`${base}/${what}`))[what] ?? []).reverse()) {
      await ask(cloud, 'DELETE', `${base}/${what}/${id}`);
      await settles(cloud, () => stateOf(cloud, `${base}/${what}/${id}`), 'gone');
    }
  };
  await removed(urls.nova, 'servers');
  for (const what of ['snapshots', 'backups', 'volumes']) await removed(urls.cinder, what);
  return cloud;
}

const kill = (cloud: Cloud, component: string) => {
  const [pod] = podsOf(cloud, component);
  cloud.rehearsal.sandbox.pods.kill({ namespace: 'openstack', name: pod?.metadata.name ?? '' });
};

test('a volume goes from one guest to another, grows while it is attached, and all three say who has it', async () => {
  const cloud = await emptied();
  const [one, two, volume] = [
    await booted(cloud, 'one'),
    await booted(cloud, 'two'),
    await made(cloud, 'volume', { size: 1 }),
  ];
  await attach(cloud, one, volume);
  expect(await statusOf(cloud, volume)).toMatch(/reserved|attaching/);
  await settles(cloud, () => statusOf(cloud, volume), 'in-use');
  expect(await agreement(cloud)).toEqual([pair(one, volume)]);
  await expect(attach(cloud, two, volume)).rejects.toThrow(
    `Invalid volume: volume ${volume} is already attached to instances: ${one}`,
  );
  await expect(ask(cloud, 'DELETE', `${urls.cinder}/volumes/${volume}`)).rejects.toThrow(
    'must not be migrating, attached',
  );
  await ask(
    cloud,
    'POST',
    `${urls.cinder}/volumes/${volume}/action`,
    { 'os-extend': { new_size: 2 } },
    { version: 'volume 3.42' },
  );
  await settles(cloud, () => statusOf(cloud, volume), 'in-use');
  await ask(cloud, 'POST', `${urls.nova}/servers/${one}/action`, { reboot: { type: 'HARD' } });
  await cloud.clock.advance(5000);
  expect(await agreement(cloud)).toEqual([pair(one, volume)]);
  await detach(cloud, one, volume);
  await settles(cloud, () => statusOf(cloud, volume), 'available');
  expect(await agreement(cloud)).toEqual([]);
  await attach(cloud, two, volume);
  await settles(cloud, () => statusOf(cloud, volume), 'in-use');
  expect(await agreement(cloud)).toEqual([pair(two, volume)]);
  await ask(cloud, 'DELETE', `${urls.nova}/servers/${two}`);
  await settles(cloud, () => statusOf(cloud, volume), 'available');
  expect(await agreement(cloud)).toEqual([]);
});

test('a server boots of a volume, leaves it or takes it along', async () => {
  const cloud = await emptied();
  const { id: image } = await ask<{ id: string }>(cloud, 'POST', `${urls.glance}/images`, { name: 'cirros' });
  const token = await login(cloud);
  const file = { token };
  await ask(cloud, 'PUT', `${urls.glance}/images/${image}/file`, { a: 'disk' }, file);
  const disk = (more: object) => ({
    block_device_mapping_v2: [{ destination_type: 'volume', boot_index: 0, ...more }],
  });
  const ofImage = { source_type: 'image', uuid: image, volume_size: 1, delete_on_termination: false };
  const first = await booted(cloud, 'on-volume', disk(ofImage));
  const [line = ''] = await agreement(cloud);
  const volume = line.split(' has ')[1] ?? '';
  await expect(detach(cloud, first, volume)).rejects.toThrow('Cannot detach a root device volume');
  await ask(cloud, 'DELETE', `${urls.nova}/servers/${first}`);
  await settles(cloud, () => statusOf(cloud, volume), 'available');
  const second = await booted(
    cloud,
    'again',
    disk({ source_type: 'volume', uuid: volume, delete_on_termination: true }),
  );
  expect(await agreement(cloud)).toEqual([pair(second, volume)]);
  await ask(cloud, 'DELETE', `${urls.nova}/servers/${second}`);
  await settles(cloud, () => statusOf(cloud, volume), 'gone');
});

test.each([
  ['the process of volumes', 'cinder-volume-share', 500],
  ['the broker', 'rabbitmq', 500],
  ['the broker, when Cinder has connected it,', 'rabbitmq', 1700],
])('an attachment during which %s dies is there or is not, on all sides', async (_name, component, after) => {
  const cloud = await emptied();
  const [server, volume] = [await booted(cloud, 'interrupted'), await made(cloud, 'volume', { size: 1 })];
  await attach(cloud, server, volume);
  await cloud.clock.advance(after);
  kill(cloud, component);
  await cloud.clock.advance(300_000);
  await cloud.ready();
  const found = await agreement(cloud);
  if (found.length === 0) {
    await attach(cloud, server, volume);
    await settles(cloud, () => statusOf(cloud, volume), 'in-use');
  }
  await detach(cloud, server, volume);
  await settles(cloud, () => statusOf(cloud, volume), 'available');
  expect(await agreement(cloud)).toEqual([]);
});

test('of an attachment during which nova-compute dies Cinder and Nova know; the server gives the volume free', async () => {
  const cloud = await emptied();
  const [server, volume] = [await booted(cloud, 'interrupted'), await made(cloud, 'volume', { size: 1 })];
  await attach(cloud, server, volume);
  await cloud.clock.advance(1500);
  kill(cloud, 'nova-compute');
  await cloud.clock.advance(120_000);
  await cloud.ready();
  expect(await sides(cloud)).toEqual({
    Cinder: [`volume ${volume} is attaching`],
    Nova: [pair(server, volume)],
    libvirt: [],
  });
  await expect(detach(cloud, server, volume)).rejects.toThrow("Volume status must be 'in-use'");
  await ask(cloud, 'DELETE', `${urls.nova}/servers/${server}`);
  await settles(cloud, () => statusOf(cloud, volume), 'available');
  expect(await agreement(cloud)).toEqual([]);
});

test('a backup is restored, and an increment of it; one whose process dies is in error, and its volume as before', async () => {
  const cloud = await emptied();
  const volume = await made(cloud, 'volume', { size: 1 });
  const whole = await made(cloud, 'backup', { volume_id: volume });
  const increment = await made(cloud, 'backup', { volume_id: volume, incremental: true });
  await expect(ask(cloud, 'DELETE', `${urls.cinder}/backups/${whole}`)).rejects.toThrow('Incremental backups exist');
  const { restore } = await ask(cloud, 'POST', `${urls.cinder}/backups/${increment}/restore`, {
    restore: { name: 'restored' },
  });
  await settles(cloud, () => statusOf(cloud, String(restore?.['volume_id'])), 'available');
  const { backup: cut } = await ask(cloud, 'POST', `${urls.cinder}/backups`, { backup: { volume_id: volume } });
  await cloud.clock.advance(500);
  kill(cloud, 'cinder-backup');
  await cloud.clock.advance(120_000);
  await cloud.ready();
  expect(await stateOf(cloud, `${urls.cinder}/backups/${String(cut?.['id'])}`)).toBe('error');
  expect(await statusOf(cloud, volume)).toBe('available');
  await ask(cloud, 'DELETE', `${urls.cinder}/backups/${increment}`);
  await settles(cloud, () => stateOf(cloud, `${urls.cinder}/backups/${increment}`), 'gone');
});

test('while the operator replaces all that takes part in attachments, none is lost', async () => {
  const cloud = await emptied();
  const server = await booted(cloud, 'busy');
  const kept = await made(cloud, 'volume', { size: 1 });
  await attach(cloud, server, kept);
  const moving = await made(cloud, 'volume', { size: 1 });
  const components = ['cinder-volume-share', 'cinder-api', 'nova-compute'];
  const uids = () => components.map((component) => podsOf(cloud, component).map(({ metadata }) => metadata.uid));
  const before = uids();
  const config = { DEFAULT: { rpc_response_timeout: 61 } };
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    metadata: { annotations: { 'openstack.k8s.io/roll-node-agents': 'true' } },
    spec: { cinder: { config: { 'cinder.conf': config } }, nova: { config: { 'nova.conf': config } } },
  });
  const isDone = () =>
    uids().every((now, index) => now.length > 0 && now.every((uid) => !before[index]?.includes(uid)));
  const done = { asked: 0, refused: 0 };
  const tried = (asked: Promise<unknown>) =>
    asked.then(
      () => void (done.asked += 1),
      () => void (done.refused += 1),
    );
  for (let rounds = 0; !isDone() || rounds < 10; rounds += 1) {
    if ((await statusOf(cloud, moving)) === 'available') await tried(attach(cloud, server, moving));
    else await tried(detach(cloud, server, moving));
    await cloud.clock.advance(5000);
    expect(rounds).toBeLessThan(200);
  }
  // What is asked for in the middle of another change is refused, most is not.
  expect(done.asked).toBeGreaterThan(done.refused);
  await cloud.ready();
  await cloud.clock.advance(180_000);
  const found = await agreement(cloud);
  expect(found).toContain(pair(server, kept));
  expect([
    [pair(server, kept)],
    [pair(server, kept), pair(server, moving)].sort((a, b) => a.localeCompare(b)),
  ]).toContainEqual(found);
});
