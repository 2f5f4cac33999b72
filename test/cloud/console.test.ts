import { expect, test } from 'vitest';
import { guests } from './fixture.ts';
import { GraphicalConsole } from './rfb.ts';
import { openstack, prefix } from './running-cloud.ts';

test('the console log grows with what the guest says', async () => {
  const { three } = await guests();
  const [, before] = await three.says(/== UPTIME ([\d.]+)\n/);
  const last = async () => Number([...(await three.console()).matchAll(/== UPTIME ([\d.]+)\n/g)].at(-1)?.[1]);
  await expect.poll(last, { timeout: 20_000 }).toBeGreaterThan(Number(before));
});

test('the graphical console is a keyboard of the guest', async () => {
  const { three } = await guests();
  await three.says(/^== READY/m);
  const { url } = await openstack<{ url: string }>('console', 'url', 'show', '--novnc', three.id);
  const screen = await GraphicalConsole.open(url);
  expect(screen.banner).toMatch(/^RFB 003\.\d{3}\n$/);
  expect(screen.desktop).not.toBe('');
  screen.type(`echo "== TYPED by $(hostname): $((6 * 7))" > /dev/ttyS0`);
  await three.says(new RegExp(`^== TYPED by ${prefix}three.*: 42$`, 'm'), 30);
  screen.close();
});

test('a token of a console that nobody gave out opens nothing', async () => {
  const { three } = await guests();
  const { url } = await openstack<{ url: string }>('console', 'url', 'show', '--novnc', three.id);
  const wrong = url.replace(/[0-9a-f-]{36}$/, '00000000-0000-4000-8000-000000000000');
  expect(wrong).not.toBe(url);
  await expect(GraphicalConsole.open(wrong)).rejects.toThrow(/the console (refused|closed)/);
});
