import { expect, onTestFinished, test } from 'vitest';
import { newKey } from '../../../tools/ceph/keys.ts';
import { member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix } from '../running-cloud.ts';
import { ceph } from '../storage/client.ts';
import { attach, goesOn, guest, made, reaches, servicesAreUp, writing } from '../storage/disks.ts';
import { cephIs, check } from '../storage/health.ts';
import { until } from '../until.ts';

/** Stops the processes of a daemon of Ceph, or lets them go on. */
async function signal(daemon: 'mon' | 'osd', name: 'STOP' | 'CONT'): Promise<void> {
  const inside = ['exec', '-n', 'ceph', 'ceph-0', '-c', daemon, '--', 'bash', '-c', 'kill "-$0" $(pidof "ceph-$1")'];
  await program('kubectl', ...inside, name, daemon);
}

test('a Ceph that does not answer is told; the guest waits, and writes on when it answers again', async () => {
  const user = await member();
  const [server, volume] = await Promise.all([
    guest(user, 'waiting', writing),
    made(user, 'volume', { name: `${prefix}waiting`, size: 1 }),
  ]);
  await server.reaches('ACTIVE', 180);
  await attach(user, server, volume);
  await goesOn(server, 'nothing');
  onTestFinished(() => signal('osd', 'CONT'));
  onTestFinished(() => signal('mon', 'CONT'));
  await signal('mon', 'STOP');
  await signal('osd', 'STOP');
  await check(3);
  await cephIs('False', /the monitors at .* give client\.\w+ no answer within 15 seconds/, 240);
  await signal('osd', 'CONT');
  await signal('mon', 'CONT');
  // Placement groups of a single OSD stay laggy after it stood still: nobody renews its lease but a new peering.
  await ceph('osd', 'down', 'osd.0');
  await goesOn(server, 'a Ceph that did not answer');
  await check(1);
  await cephIs('True', /^HEALTH_OK/m, 240);
  await server.delete();
  await reaches(user, 'volume', volume, 'available');
}, 1_200_000);

test('a pool that is full is told by its name, and written to again when it has room', async () => {
  const user = await member();
  const [server, volume] = await Promise.all([
    guest(user, 'crowded', writing),
    made(user, 'volume', { name: `${prefix}crowded`, size: 1 }),
  ]);
  await server.reaches('ACTIVE', 180);
  await attach(user, server, volume);
  await goesOn(server, 'nothing');
  const bytes = (max: string) => ceph('osd', 'pool', 'set-quota', 'volumes', 'max_bytes', max);
  onTestFinished(async () => void (await bytes('0')));
  await bytes('1');
  await until({
    what: 'the pool to be full',
    seconds: 60,
    probe: async () => {
      const { health } = await ceph<{ health: { checks: Record<string, object> } }>('status');
      return 'POOL_FULL' in health.checks || undefined;
    },
  });
  await check(3);
  await cephIs('False', /pool 'volumes' is full/, 300);
  await bytes('0');
  await goesOn(server, 'a pool that was full');
  await check(1);
  await cephIs('True', /^HEALTH_OK/m, 240);
  await server.delete();
  await reaches(user, 'volume', volume, 'available');
}, 1_200_000);

/** The keyrings that the cloud has. */
async function keyrings(): Promise<{ read: () => Promise<string>; write: (keyring: string) => Promise<void> }> {
  const { namespace } = (await controlPlane()).metadata;
  const secret = ['-n', namespace, 'secret', 'ceph-keyrings'];
  const file = 'ceph.client.cinder.keyring';
  return {
    read: async () => {
      const { data } = JSON.parse(await program('kubectl', 'get', ...secret, '-o', 'json')) as {
        data: Record<string, string>;
      };
      return Buffer.from(data[file] ?? '', 'base64').toString();
    },
    write: async (keyring) => {
      const patch = JSON.stringify({ stringData: { [file]: keyring } });
      await program('kubectl', 'patch', ...secret, '--type', 'merge', '-p', patch);
    },
  };
}

test('a key that is changed reaches all who use it while a guest writes; a wrong one is told by user', async () => {
  const user = await member();
  const { read, write } = await keyrings();
  const before = await read();
  const [server, first, second] = await Promise.all([
    guest(user, 'rotated', writing),
    made(user, 'volume', { name: `${prefix}rotated`, size: 1 }),
    made(user, 'volume', { name: `${prefix}rotated-later`, size: 1 }),
  ]);
  await server.reaches('ACTIVE', 180);
  await attach(user, server, first);
  await goesOn(server, 'nothing');

  const importKeyring = async (keyring: string) => {
    const inside = ['exec', '-i', '-n', 'ceph', 'statefulset/ceph', '-c', 'mon', '--', 'bash', '-c'];
    const script = 'printf "%s" "$0" > /tmp/keyring && ceph auth import -i /tmp/keyring && rm /tmp/keyring';
    await program('kubectl', ...inside, script, keyring);
  };
  const [entity] = await ceph<{ caps: Record<string, string> }[]>('auth', 'get', 'client.cinder');
  const caps = Object.entries(entity?.caps ?? {}).map(([daemon, rights]) => `\tcaps ${daemon} = "${rights}"\n`);
  const withKey = (key: string) => `[client.cinder]\n\tkey = ${key}\n${caps.join('')}`;
  const keyOf = (keyring: string) => /key = (\S+)/.exec(keyring)?.[1] ?? '';
  onTestFinished(async () => {
    await importKeyring(withKey(keyOf(before)));
    await write(before);
    await check(1);
    await cephIs('True', /./, 240);
    await servicesAreUp();
  }, 600_000);
  const wrong = before.replace(/key = \S+/, 'key = AQBAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAA==');
  expect(wrong).not.toBe(before);
  await write(wrong);
  await cephIs('False', /client\.cinder cannot/, 300);
  await goesOn(server, 'a wrong key of its volumes');

  // The key of the user itself is another one from now on.
  const fresh = newKey();
  await importKeyring(withKey(fresh));
  await write(before.replace(/key = \S+/, `key = ${fresh}`));
  await cephIs('True', /./, 420);
  await goesOn(server, 'a new key of its volumes');
  await attach(user, server, second);
  await server.delete();
  await Promise.all([first, second].map((volume) => reaches(user, 'volume', volume, 'available')));
}, 1_200_000);
