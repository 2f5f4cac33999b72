import { expect, onTestFinished, test } from 'vitest';
import { admin, member } from '../fixture.ts';
import { prefix } from '../running-cloud.ts';
import { until } from '../until.ts';
import { attach, detach, goesOn, guest, made, writing } from './disks.ts';
import { addSecond, goesWithTest, second } from './second-backend.ts';

interface Volume {
  readonly status: string;
  readonly volume_type: string;
  readonly host: string;
  readonly migration_status: string | null;
}

test('a volume moves to another backend while its guest writes on', async () => {
  const user = await member();
  goesWithTest();
  await addSecond();
  const [server, volume] = await Promise.all([
    guest(user, 'moving-volume', writing),
    made(user, 'volume', { name: `${prefix}moving`, size: 1 }),
  ]);
  await server.reaches('ACTIVE', 180);
  await attach(user, server, volume);
  onTestFinished(() => detach(user, server, volume).catch(() => undefined), 120_000);
  await goesOn(server, 'nothing');
  const json = { 'os-retype': { new_type: second.name, migration_policy: 'on-demand' } };
  await user.call('block_storage.post', `/volumes/${volume.id}/action`, { json });
  const state = () => admin.call<Volume>('block_storage.get_volume', volume.id);
  const moved = await until({
    what: `volume ${volume.id} to be of type ${second.name}`,
    seconds: 240,
    probe: async () => {
      const now = await state();
      return now.volume_type === second.name && now.status === 'in-use' ? now : undefined;
    },
    explain: async () => JSON.stringify(await state()),
  });
  expect(moved.host).toMatch(/@second#/);
  await goesOn(server, 'a retype');
}, 900_000);
