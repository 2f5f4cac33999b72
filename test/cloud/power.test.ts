import { expect, test } from 'vitest';
import { guests, member } from './fixture.ts';
import { timed } from './until.ts';

/** What the guest says when its disk has booted that often. */
const boots = (n: number) => new RegExp(`^== BOOT ${n} of this disk$`, 'm');

test('a server stops when its power button is pressed, and starts again from its disk', async () => {
  const [user, { three }] = await Promise.all([member(), guests()]);
  await three.says(/^== READY/m);
  const seconds = await timed(async () => {
    await user.call('compute.stop_server', three.id);
    await three.reaches('SHUTOFF');
  });
  expect(seconds, 'nobody had to pull the plug').toBeLessThan(45);
  expect((await three.state()).power_state).toBe(4);
  await user.call('compute.start_server', three.id);
  await three.reaches('ACTIVE');
  await three.says(boots(2));
  await three.says(/^== READY/m);
});

test.each([
  { kind: 'SOFT', boot: 3 },
  { kind: 'HARD', boot: 4 },
])('a server reboots: $kind', async ({ kind, boot }) => {
  const [user, { three }] = await Promise.all([member(), guests()]);
  await user.call('compute.reboot_server', three.id, kind);
  await three.reaches('ACTIVE');
  await three.says(boots(boot));
  await three.says(/^== READY/m);
});

test('a server that was restarted is reached again', async () => {
  const { two, three } = await guests();
  await three.says(/^== ADDRESS 10\.31\.0\.13\/24/m);
  const log = await two.console();
  await expect
    .poll(async () => (await two.console()).slice(log.length), { timeout: 30_000 })
    .toContain('PING three answers');
});
