import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('an upgrade expands the schema, replaces the programs, then contracts it, through restarts of the operator', async () => {
  const run = new URL('run.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [run]);
  const { moments, messages, held, release, refused, after } = JSON.parse(stdout) as Record<string, unknown>;
  const [old, next] = ['quay.io', 'next.example.org'];
  const guarded = true;
  // No program is replaced while the check of the new release finds what it cannot run on.
  expect(held).toEqual({
    message: expect.stringContaining('keystone-status upgrade check failed: the log of the Job says'),
    phase: 'Expand',
    api: [`api: ${old}`],
  });
  expect(moments).toEqual([
    { api: [`api: ${old}`], jobs: [`db-sync: ${old}`], ready: 'True', guarded },
    { phase: 'Expand', api: [`api: ${old}`], jobs: [`db-expand: ${next}`], ready: 'False', guarded },
    { phase: 'Rollout', api: [`api: ${old}`], jobs: [`db-expand: ${next}`], ready: 'False', guarded },
    { phase: 'Contract', api: [`api: ${next}`], jobs: [`db-expand: ${next}`], ready: 'False', guarded },
    { api: [`api: ${next}`], jobs: [`db-contract: ${next}`, `db-expand: ${next}`], ready: 'False', guarded },
    { api: [`api: ${next}`], jobs: [`db-sync: ${next}`], ready: 'True', guarded },
  ]);
  // What a phase was, until the status is written that begins the next one.
  expect(messages).toEqual([
    'upgrade from 2025.1 to 2099.1, phase Expand: the schema is being expanded, and programs of the release before run',
    expect.stringContaining(', phase '),
    expect.stringContaining(', phase '),
    'upgrade from 2025.1 to 2099.1, phase Contract: the schema is being contracted',
  ]);
  expect(release).toEqual({ deployed: '2099.1', target: '2099.1' });
  expect(refused).toBe(
    'spec.release: 2025.1 can be reached from no other release, not from 2099.1: set spec.release to 2099.1',
  );
  expect(after).toEqual([`api: ${next}`]);
});
