import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { member, stranger } from '../fixture.ts';
import { containers } from '../pods.ts';
import { prefix, type User } from '../running-cloud.ts';
import { SdkError } from '../sdk.ts';
import { optionalService } from '../services/optional-service.ts';
import { programMistakes } from '../truth/checks.ts';
import { until } from '../until.ts';
import { ceph } from './client.ts';
import { Mounts } from './mounts.ts';

interface Thing {
  readonly id: string;
  readonly status: string;
}

interface Rule {
  readonly id: string;
  readonly state: string;
  readonly access_key: string | null;
}

const mounts = new Mounts();
/** Whom Ceph knows the client as. */
const alice = `${prefix}alice`;

beforeAll(() => mounts.start());
afterAll(() => mounts.stop());

/** Whether an error says that something is not there. @throws what says anything else */
function isGone(error: unknown): true {
  if (error instanceof SdkError && error.status === 404) return true;
  throw error;
}

/** Makes a share or a snapshot of one, waits for it, and removes it when the test is over. */
async function made(user: User, what: 'share' | 'share_snapshot', attributes: object): Promise<Thing> {
  const thing = await user.call<Thing>(`shared_file_system.create_${what}`, attributes);
  const state = () => user.call<Thing>(`shared_file_system.get_${what}`, thing.id);
  onTestFinished(async () => {
    await user.call(`shared_file_system.delete_${what}`, thing.id);
    await until({
      what: `${what} ${thing.id} to be gone`,
      seconds: 120,
      probe: () => state().then(() => undefined, isGone),
    });
  }, 180_000);
  return await until({
    what: `${what} ${thing.id} to be available`,
    // Manila looks after a share that is copied once a minute.
    seconds: 180,
    probe: async () => {
      const { status } = await state();
      if (status.includes('error')) throw new Error(`${what} ${thing.id} is ${status}`);
      return status === 'available' ? thing : undefined;
    },
    explain: async () => JSON.stringify(await state()),
  });
}

/** Lets the client mount a share; gives the rule with the client's key. */
async function allow(user: User, share: Thing): Promise<Rule & { readonly access_key: string }> {
  const asked = { access_type: 'cephx', access_to: alice, access_level: 'rw' };
  const { id } = await user.call<Rule>('shared_file_system.create_access_rule', share.id, asked);
  return await until({
    what: `access of ${alice} to share ${share.id}`,
    seconds: 60,
    probe: async () => {
      const rule = await user.call<Rule>('shared_file_system.get_access_rule', id);
      if (rule.state === 'error') throw new Error(`the rule of share ${share.id} is in error`);
      const { access_key } = rule;
      return rule.state === 'active' && access_key !== null ? { ...rule, access_key } : undefined;
    },
  });
}

async function locationOf(user: User, share: Thing): Promise<string> {
  const [location] = await user.call<{ path: string }[]>('shared_file_system.export_locations', share.id);
  if (location === undefined) throw new Error(`share ${share.id} is nowhere`);
  return location.path;
}

test('enabled later, Manila keeps shares in CephFS: mounted, written, copied by a snapshot, withdrawn', async () => {
  const manila = optionalService('manila', 'manilas');
  const spec = {
    enabled: true,
    backends: [{ name: 'cephfs', type: 'cephfs', cephFSName: 'cephfs' }],
    shareTypes: [
      { name: 'project', backend: 'cephfs', extraSpecs: { 'provisioning:max_share_size': '2' } },
      { name: 'elsewhere', driverHandlesShareServers: true },
    ],
    defaultShareType: 'project',
  };
  await manila(spec);
  expect(await programMistakes('manila', await containers())).toEqual([]);
  const [user, other] = (await Promise.all([member(), stranger()])).map((one) => one.connectedAnew()) as [User, User];
  const share = await made(user, 'share', { name: `${prefix}files`, size: 1, share_protocol: 'CEPHFS' });
  await expect(other.call('shared_file_system.get_share', share.id)).rejects.toThrow();
  // Its type is the default, which has a bound; of the other one nothing is made here.
  const shown = await user.call<{ text: string }>('shared_file_system.get', `/shares/${share.id}`, {
    microversion: '2.6',
  });
  expect(JSON.parse(shown.text)).toMatchObject({ share: { share_type_name: 'project' } });
  const large = { name: `${prefix}large`, size: 3, share_protocol: 'CEPHFS' };
  await expect(user.call('shared_file_system.create_share', large)).rejects.toThrow(/maximum allowable size of '2'/u);
  const rule = await allow(user, share);
  const client = { user: alice, key: rule.access_key };
  const location = await locationOf(user, share);
  await mounts.mount({ ...client, location, at: '/mnt/share' });
  // Its quota is the size that the client sees; 8 MiB are two objects.
  const written = await mounts.script(
    'set -e; cd /mnt/share; head -c 8388608 /dev/urandom > file; sync file; df --output=size -B1 . | tail -n 1; sha256sum < file',
  );
  expect(written, written.stderr).toMatchObject({ code: 0 });
  const [size = '', digest = ''] = written.stdout.trim().split('\n');
  expect(Number(size)).toBe(2 ** 30);
  const volumes = await ceph<{ name: string }[]>('fs', 'subvolume', 'ls', 'cephfs');
  expect(volumes.length).toBeGreaterThan(0);

  const snapshot = await made(user, 'share_snapshot', { name: `${prefix}snapshot`, share_id: share.id });
  expect(await mounts.script('rm /mnt/share/file')).toMatchObject({ code: 0 });
  const copied = { name: `${prefix}copy`, size: 1, share_protocol: 'CEPHFS', snapshot_id: snapshot.id };
  const copy = await made(user, 'share', copied);
  await allow(user, copy);
  await mounts.mount({ ...client, location: await locationOf(user, copy), at: '/mnt/copy' });
  expect((await mounts.script('sha256sum < /mnt/copy/file')).stdout.trim()).toBe(digest);

  await user.call('shared_file_system.delete_access_rule', rule.id, share.id);
  await until({
    what: `the access of ${alice} to be withdrawn`,
    seconds: 60,
    probe: async () => (await user.call<Rule[]>('shared_file_system.access_rules', share.id)).length === 0 || undefined,
  });
  expect((await mounts.script('echo more > /mnt/share/more && sync /mnt/share/more')).code).not.toBe(0);
  expect((await mounts.tryMount({ ...client, location, at: '/mnt/again' })).code).not.toBe(0);

  await manila({ ...spec, enabled: false }, 'shares');
  expect((await mounts.script('sha256sum < /mnt/copy/file')).stdout.trim()).toBe(digest);
  await manila(spec);
  expect(await user.call<Thing>('shared_file_system.get_share', share.id)).toMatchObject({ status: 'available' });
}, 900_000);
