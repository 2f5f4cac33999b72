import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ofGateway, readExclusions, withoutTest } from './exclusions.ts';

const scratch = mkdtempSync(join(tmpdir(), 'exclusions-'));
afterAll(() => rmSync(scratch, { recursive: true }));

test('every exclusion is a regular expression with a reason', () => {
  expect(() => readExclusions()).not.toThrow();
  expect(Object.keys(readExclusions(ofGateway))).not.toEqual([]);
  const read = (text: string) => {
    const path = join(scratch, 'exclusions.yaml');
    writeFileSync(path, text);
    return readExclusions(path);
  };
  expect(() => read('test_one: ""')).toThrow('test_one has no reason');
  expect(() => read('test_(one: because')).toThrow(/Invalid regular expression/);
  expect(read('test_one: because')).toEqual({ test_one: 'because' });
});

test('an exclusion that no test has is found', () => {
  const ids = [
    'tempest.api.image.v2.test_images.ImagesTest.test_one',
    'tempest.api.image.v2.test_images.ImagesTest.test_two',
  ];
  expect(withoutTest({ 'ImagesTest\\.test_one$': 'a', 'ImagesTest\\.test_on$': 'b' }, ids)).toEqual([
    'ImagesTest\\.test_on$',
  ]);
});
