import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock, sleep } from '@openstack-operator/kube';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { member } from '../fixture.ts';
import { openstack, prefix } from '../running-cloud.ts';

/** More than any buffer of a proxy. */
const size = 64 * 2 ** 20 + 11;
/** Seconds; proxies wait 15 by default. */
const slow = 25;
const directory = mkdtempSync(join(tmpdir(), prefix));
afterAll(() => rmSync(directory, { recursive: true }));

const bytes = randomBytes(size);
const sum = (data: Buffer) => createHash('sha256').update(data).digest('hex');
let image = '';
beforeAll(async () => {
  const filename = join(directory, 'up');
  writeFileSync(filename, bytes);
  const user = await member();
  const options = { filename, disk_format: 'raw', container_format: 'bare', wait: true };
  image = (await user.call<{ id: string }>('image.create_image', `${prefix}large`, options)).id;
});

/** Takes an image down with a token alone; `pause` is waited for after each mebibyte. */
async function download(pause: number): Promise<{ data: Buffer; seconds: number }> {
  const token = await (await member()).call<string>('authorize');
  const url = `https://glance.${inject('domain')}/v2/images/${image}/file`;
  const begun = realClock.now();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { headers: { 'X-Auth-Token': token } }, resolve)
      .on('error', reject)
      .end();
  });
  const parts: Buffer[] = [];
  let [received, mebibytes] = [0, 0];
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part);
      received += part.length;
      const whole = Math.floor(received / 2 ** 20);
      if (whole > mebibytes) await sleep(realClock, pause * (whole - mebibytes));
      mebibytes = whole;
    }
  } catch (error) {
    const words = `${received} of ${size} bytes came in ${realClock.now() - begun} ms`;
    throw new Error(words, { cause: error });
  }
  return { data: Buffer.concat(parts), seconds: (realClock.now() - begun) / 1000 };
}

test('an image of 64 MiB comes back byte for byte', async () => {
  const { data, seconds } = await download(0);
  expect(data.length).toBe(size);
  expect(sum(data)).toBe(sum(bytes));
  process.stdout.write(`gateway: ${size} bytes came down in ${seconds.toFixed(1)} s\n`);
});

test('somebody with a slow line gets it too, however long it takes', async () => {
  const { data, seconds } = await download((slow * 1000) / 64);
  expect(seconds).toBeGreaterThan(slow * 0.9);
  expect(sum(data)).toBe(sum(bytes));
});

test('the command line client lists servers and networks', async () => {
  expect(await openstack<unknown[]>('server', 'list', '--all-projects')).toBeInstanceOf(Array);
  expect(await openstack<unknown[]>('network', 'list')).toBeInstanceOf(Array);
});
