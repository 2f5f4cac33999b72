import type { Client } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { runPublish } from './publish.ts';

/** A publication of files into a Secret with these values: the patch that is sent, and what is printed. */
async function published(files: Readonly<Record<string, string>>, args: readonly string[], before: object = {}) {
  const patches: unknown[] = [];
  const lines: string[] = [];
  const client = {
    get: () => Promise.resolve({ data: before }),
    patch: (...[, , , patch]: unknown[]) => Promise.resolve(patches.push(patch)),
  } as unknown as Client;
  const code = await runPublish(args, {
    connect: () => Promise.resolve({ client, namespace: 'ns' }),
    read(path) {
      const content = files[path];
      if (content === undefined) throw new Error(`${path}: no such file`);
      return Buffer.from(content);
    },
    print: (line) => lines.push(line),
  });
  return { code, patches, lines };
}

test('files become the data of the Secret, and those of before go', async () => {
  const { code, patches, lines } = await published({ '/a/ring': 'x' }, ['rings', '/a/ring'], { old: 'eA==' });
  expect([code, patches, lines]).toEqual([0, [{ data: { ring: 'eA==', old: null } }], ['Secret rings has ring']]);
});

test.each([
  [['rings'], 2, /^usage: /],
  [['rings', '/a/gone'], 1, /^\/a\/gone: no such file$/],
  [['rings', '/a/large'], 1, /^1048577 bytes: a Secret holds 1048576 at most$/],
])('%j is refused', async (args, expected, words) => {
  const { code, patches, lines } = await published({ '/a/large': 'x'.repeat(1_048_577) }, args);
  expect([code, patches]).toEqual([expected, []]);
  expect(lines.join('\n')).toMatch(words);
});
