import type { StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { scheduleStatus } from './schedule-status.ts';

const cronJob = (suspend: boolean): StoredObject => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'check', uid: 'c', resourceVersion: '1' },
  spec: { suspend },
});

const failedAt = (at: string): StoredObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: `check-${at}`, uid: at, resourceVersion: '1' },
  status: {
    conditions: [
      { type: 'Failed', status: 'True', lastTransitionTime: at, reason: 'BackoffLimitExceeded', message: 'it failed' },
    ],
  },
});

test('what failed before a schedule was suspended is no failure any more', () => {
  const runs = {
    jobs: ['2026-01-01T00:00:00Z', '2026-01-01T00:05:00Z'].map(failedAt),
    pods: () => [],
    words: () => undefined,
  };
  expect(scheduleStatus(cronJob(false), runs)).toMatchObject({ failures: 2, message: 'it failed' });
  expect(scheduleStatus(cronJob(true), runs)).toEqual({
    lastFinishedTime: '2026-01-01T00:05:00Z',
    failures: 0,
    message: 'suspended',
  });
});
