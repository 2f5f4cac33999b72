import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyDirectory, problemOfDirectory, takeDirectory } from './directory.ts';
import { placeOf } from './place.ts';

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'cloud-directory-'));
});
afterEach(() => rmSync(scratch, { recursive: true }));

test("somebody else's files are neither taken nor removed", () => {
  writeFileSync(join(scratch, 'thesis.txt'), 'years of work');
  const place = placeOf(scratch, 1);
  expect(problemOfDirectory(place)).toContain(`${scratch} holds files that are not of a cloud, such as thesis.txt`);
  expect(() => takeDirectory(place)).toThrow('choose another directory with --dir');
  expect(readdirSync(scratch)).toEqual(['thesis.txt']);
});

test('what a cloud has written goes; its node, and the mark, stay for the next one', () => {
  const place = placeOf(join(scratch, 'made/anew'), 1);
  takeDirectory(place);
  writeFileSync(place.openrc, '');
  mkdirSync(join(place.overlay, 'operator'), { recursive: true });
  mkdirSync(place.kubernetes);
  emptyDirectory(place);
  expect(existsSync(place.kubernetes)).toBe(true);
  expect([place.openrc, place.overlay].filter(existsSync)).toEqual([]);
  takeDirectory(place);
});
