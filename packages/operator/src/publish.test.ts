import { ApiError, type Client } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { runFetch, runPublish } from './publish.ts';

/** A world with these files, and a Secret with these values: what is sent, written and printed. */
function world(files: Readonly<Record<string, string>>, before: object = {}, refusal?: Error) {
  const patches: unknown[] = [];
  const lines: string[] = [];
  const written: Record<string, string> = {};
  const client = {
    get: () => Promise.resolve({ metadata: { resourceVersion: '7' }, data: before }),
    patch: (...[, , , patch]: unknown[]) =>
      refusal === undefined ? Promise.resolve(patches.push(patch)) : Promise.reject(refusal),
  } as unknown as Client;
  return {
    patches,
    lines,
    written,
    connect: () => Promise.resolve({ client, namespace: 'ns' }),
    read(path: string) {
      const content = files[path];
      if (content === undefined) throw new Error(`${path}: no such file`);
      return Buffer.from(content);
    },
    write(path: string, content: Uint8Array) {
      written[path] = Buffer.from(content).toString();
    },
    print: (line: string) => lines.push(line),
  };
}

test('files become the data of the Secret, and those of before go', async () => {
  const { patches, lines, ...given } = world({ '/a/ring': 'x' }, { old: 'eA==' });
  const code = await runPublish(['rings', '/a/ring'], given);
  expect([code, patches, lines]).toEqual([0, [{ data: { ring: 'eA==', old: null } }], ['Secret rings has ring']]);
});

test('what an earlier run has published is laid out, with the state that it is', async () => {
  const { written, lines, ...given } = world({}, { ring: 'eA==' });
  expect(await runFetch(['rings', '/a', 'ring'], given)).toBe(0);
  expect(written).toEqual({ '/a/ring': 'x', '/a/.resource-version': '7' });
  expect(lines).toEqual(['Secret rings had ring']);
});

test('a run that goes on from there replaces that state alone, and removes nothing', async () => {
  const files = { '/a/ring': 'x', '/a/.resource-version': '7' };
  const { patches, ...given } = world(files, { ring: 'eQ==', later: 'eA==' });
  expect(await runPublish(['--from', '/a', 'rings', '/a/ring'], given)).toBe(0);
  expect(patches).toEqual([{ metadata: { resourceVersion: '7' }, data: { ring: 'eA==' } }]);
  const conflict = new ApiError(
    { apiVersion: 'v1', kind: 'Status', code: 409, reason: 'Conflict', message: 'modified' },
    '',
  );
  const { lines, ...late } = world(files, {}, conflict);
  expect(await runPublish(['--from', '/a', 'rings', '/a/ring'], late)).toBe(1);
  expect(lines).toEqual(['Secret rings was changed since this run began: the next one goes on from there']);
});

test.each<[string, object, readonly object[]]>([
  ['has the same keys from an earlier operator', { ring: 'eQ==', other: 'eA==' }, [{ superseded: expect.any(String) }]],
  ['is marked already', { ring: 'eQ==', superseded: 'eA==' }, []],
  ['has none of the keys', { other: 'eA==' }, []],
])('a Secret that is superseded, and %s', async (_what, before, marks) => {
  const { patches, ...given } = world({ '/a/ring': 'x', '/a/.resource-version': '7' }, before);
  expect(await runPublish(['--supersedes', 'old', '--from', '/a', 'rings', '/a/ring'], given)).toBe(0);
  expect(patches.slice(1)).toEqual(marks.map((data) => ({ data })));
});

test.each([
  [['rings'], 2, /^usage: /],
  [['--from', '/a'], 2, /^usage: /],
  [['rings', '/a/gone'], 1, /^\/a\/gone: no such file$/],
  [['--from', '/b', 'rings', '/a/large'], 1, /^1048577 bytes: a Secret holds 1048576 at most$/],
  [['--from', '/b', 'rings', '/a/small'], 1, /^\/b\/.resource-version: no such file$/],
])('%j is refused', async (args, expected, words) => {
  const { patches, lines, ...given } = world({ '/a/large': 'x'.repeat(1_048_577), '/a/small': 'x' });
  expect([await runPublish(args, given), patches]).toEqual([expected, []]);
  expect(lines.join('\n')).toMatch(words);
});

test.each([
  ['some of what it had', {}, { ring: 'eA==', builder: '' }],
  ['all of it', { again: true }, {}],
  ['a key', { again: true }, { ring: 'eA==' }],
])('a Secret that has lost %s is not gone on from', async (_what, { again = false }: { again?: boolean }, data) => {
  const { written, lines, ...given } = world({}, data);
  expect(await runFetch([...(again ? ['--again'] : []), 'rings', '/a', 'ring', 'builder'], given)).toBe(1);
  expect(written).toEqual({});
  expect(lines[0]).toMatch(/^Secret rings has lost (ring, )?builder: restore it; nothing is made anew$/);
});

test('a first run begins with nothing', async () => {
  const given = world({});
  expect(await runFetch(['rings', '/a', 'ring', 'builder'], given)).toBe(0);
});

test('fetch wants a Secret, a directory and keys', async () => {
  const { lines, ...given } = world({});
  expect(await runFetch(['rings'], given)).toBe(2);
  expect(lines[0]).toMatch(/^usage: /);
});
