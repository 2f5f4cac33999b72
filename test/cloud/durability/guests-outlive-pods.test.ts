import { realClock } from '@openstack-operator/kube';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { slowness } from '../slowness.ts';
import { table } from '../table.ts';
import { deletions, type Event, kills, patchControlPlane, restarts, rolls } from './events.ts';
import { computeIsUp, Guest, type Process } from './guest.ts';
import { Pings } from './pings.ts';

let guest: Guest;
let qemu: Process;
let pings: Pings;
const rows: string[][] = [];

beforeAll(async () => {
  guest = await Guest.create('durable');
  pings = new Pings(await guest.floatingAddress());
  await pings.answer(120);
  qemu = await guest.process();
}, 900_000);
afterAll(async () => {
  pings?.stop();
  await patchControlPlane({ nova: { images: null }, neutron: { images: null }, ovnNetwork: { images: null } });
  const head = ['event', 'gap', 'bound', 'machine', 'back after', 'console after'];
  process.stdout.write(`\n${table(head, rows)}\n`);
});

const seconds = (value: number) => `${value.toFixed(1)} s`;

async function outlives({ name, bound, happen }: Event): Promise<void> {
  const slowBefore = slowness();
  const began = realClock.now();
  await happen();
  const back = (realClock.now() - began) / 1000;
  await pings.answer(120);
  const heard = realClock.now();
  await guest.goesOn(120);
  const consoleAfter = (realClock.now() - heard) / 1000;
  const slow = Math.max(slowBefore, slowness());
  const gap = pings.gapSince(began);
  const row = [name, seconds(gap), seconds(bound * slow), `${slow.toFixed(1)}x`, seconds(back), seconds(consoleAfter)];
  rows.push(row);
  process.stdout.write(`${row.join(', ')}\n`);
  expect(await guest.process(), 'the same qemu, since the same time').toEqual(qemu);
  expect(gap, `seconds without an answer, on a machine ${slow.toFixed(1)} times slower than alone`).toBeLessThan(
    bound * slow,
  );
}

async function obeys(): Promise<void> {
  await computeIsUp(180);
  await guest.stopAndStart();
  await guest.goesOn(120);
  qemu = await guest.process();
}

describe('a guest outlives', () => {
  test('the time in which nothing happens', async () => {
    await outlives({ name: 'nothing', bound: 1, happen: () => pings.answer(10) });
  });
  test.each(deletions)('$name', outlives);
  test('and stops and starts after that', obeys);
  test.each(kills)('$name', outlives);
  test('and stops and starts after that, too', obeys);
  test.each(restarts)('$name', outlives);
  test.each(rolls)('$name', outlives);
  test('and stops and starts after all of it', obeys);
  test('and a new one boots beside it', async () => {
    const other = await Guest.create('afterwards');
    await other.goesOn(120);
    await other.server.delete();
  });
});
