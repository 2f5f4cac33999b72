import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { member } from './fixture.ts';
import { prefix } from './running-cloud.ts';

const directory = mkdtempSync(join(tmpdir(), prefix));
afterAll(() => rmSync(directory, { recursive: true }));

interface Image {
  readonly id: string;
  readonly status: string;
  readonly size: number;
  readonly hash_value: string;
}

test('an image comes back byte for byte, and is gone when it is deleted', async () => {
  const user = await member();
  const bytes = randomBytes(9 * 2 ** 20 + 7);
  const filename = join(directory, 'up');
  const output = join(directory, 'down');
  writeFileSync(filename, bytes);
  const { id } = await user.call<Image>('image.create_image', `${prefix}bytes`, {
    filename,
    disk_format: 'raw',
    container_format: 'bare',
    wait: true,
  });
  const image = await user.call<Image>('image.get_image', id);
  expect(image).toMatchObject({ status: 'active', size: bytes.length });
  expect(image.hash_value).toBe(createHash('sha512').update(bytes).digest('hex'));

  await user.call('image.download_image', id, { output });
  expect(readFileSync(output).equals(bytes), 'what came back is what went up').toBe(true);

  await user.call('image.delete_image', id);
  await expect(user.call('image.get_image', id)).rejects.toMatchObject({ status: 404 });
});

test.each(['http://example.org/disk.raw', 'https://kubernetes.default.svc/', 'https://example.org:8443/disk.raw'])(
  'web-download does not fetch %s',
  async (uri) => {
    const user = await member();
    const post = async (path: string, json: unknown) =>
      await user.call<{ status: number; text: string }>('image.post', path, { json, raise_exc: false });
    const image = { name: `${prefix}fetched`, disk_format: 'raw', container_format: 'bare' };
    const { id } = JSON.parse((await post('/images', image)).text) as Image;
    const { status, text } = await post(`/images/${id}/import`, { method: { name: 'web-download', uri } });
    await user.call('image.delete_image', id);
    expect(text).toContain('does not pass filtering');
    expect(status).toBe(400);
  },
);
