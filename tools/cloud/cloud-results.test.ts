import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startVitest } from 'vitest/node';
import { readResults, recordsResults } from './cloud-results.ts';

test('each test is recorded with how it ended; files that did not run keep what they have', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'results-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'results.json');
  expect(readResults(file)).toEqual({});
  const before = { 'z.test.ts': [{ test: 'a zone is published', result: 'passed', seconds: 40 }] };
  writeFileSync(file, JSON.stringify(before));
  const text =
    "import { describe, expect, test } from 'vitest';\ndescribe('a volume', () => { test('is made', ({ task }) => { task.meta.memory = { cinder: 300 }; }); test.skip('is kept', () => {}); });\n";
  writeFileSync(join(folder, 'a.test.ts'), `${text}test('fails', () => expect(1).toBe(2));\n`);
  const exitCode = process.exitCode;
  const vitest = await startVitest('test', [], {
    root: folder,
    config: false,
    watch: false,
    reporters: [recordsResults(file)],
  });
  await vitest.close();
  process.exitCode = exitCode;
  expect(readResults(file)).toEqual({
    'a.test.ts': [
      { test: 'a volume > is made', result: 'passed', seconds: expect.any(Number), memory: { cinder: 300 } },
      { test: 'a volume > is kept', result: 'skipped', seconds: expect.any(Number) },
      { test: 'fails', result: 'failed', seconds: expect.any(Number) },
    ],
    ...before,
  });
});
