import { type StoredObject, timestamp } from '@openstack-operator/kube';
import { describe, expect, test } from 'vitest';
import type { Progress } from '../vocabulary/step.ts';
import { isCrashing, troubleOf, withDeadline } from './deadlines.ts';

const begin = 1_767_225_600_000;
const minutes = (count: number) => begin + count * 60_000;
const at = (time: number) => timestamp({ now: () => time });
const condition = (type: string, status: string, time: number) => ({ type, status, lastTransitionTime: at(time) });
const resource = (conditions: object[], more: object = {}): StoredObject => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Keystone',
  metadata: { name: 'k', namespace: 'ns', uid: 'k', resourceVersion: '1', generation: 2 },
  status: { conditions, ...more },
});
const waits: Progress = { condition: 'DeploymentReady', status: 'False', reason: 'NotAvailable', message: '0 of 1' };

describe('a wait', () => {
  const open = resource([condition('DatabaseReady', 'True', minutes(5)), condition('DeploymentReady', 'False', begin)]);

  test('begins when it is reported first', () => {
    const before = resource([condition('DeploymentReady', 'True', begin)]);
    expect(withDeadline(waits, { now: minutes(600), resource: before })).toEqual({ ...waits, deadline: minutes(615) });
  });

  test('counts from the last step that was done, and from the last sign of life of what is awaited', () => {
    expect(withDeadline(waits, { now: minutes(6), resource: open })).toEqual({ ...waits, deadline: minutes(20) });
    const alive = withDeadline(waits, { now: minutes(6), resource: open }, minutes(6));
    expect(alive).toEqual({ ...waits, deadline: minutes(21) });
  });

  test('that lasts too long says since when, how long is usual, and where to look', () => {
    expect(withDeadline(waits, { now: minutes(20), resource: open })).toEqual({
      ...waits,
      reason: 'ProgressDeadlineExceeded',
      message:
        '0 of 1; nothing has changed since 2026-01-01T00:05:00Z, for more than 15 minutes: see the events and logs of its pods',
    });
    // The words stay, so that nothing is written again.
    expect(withDeadline(waits, { now: minutes(99), resource: open })).toEqual(
      withDeadline(waits, { now: minutes(20), resource: open }),
    );
  });

  test('for somebody who has to act is not bounded', () => {
    const stuck = { ...waits, reason: 'SecretMissing' } as const;
    expect(withDeadline(stuck, { now: minutes(600), resource: open })).toEqual(stuck);
  });
});

test.each<[string, object, boolean]>([
  ['started for the third time', { restartCount: 2, lastState: { terminated: { finishedAt: at(begin) } } }, true],
  ['ended for the third time', { restartCount: 2, state: { terminated: { finishedAt: at(begin) } } }, true],
  ['failed once', { restartCount: 1, lastState: { terminated: { finishedAt: at(begin) } } }, false],
  ['is ready', { ready: true, restartCount: 5, lastState: { terminated: { finishedAt: at(begin) } } }, false],
  ['crashed long ago', { restartCount: 5, lastState: { terminated: { finishedAt: at(minutes(-11)) } } }, false],
])('a container that %s', (_title, container, crashing) => {
  const pod = { ...resource([]), status: { containerStatuses: [{ name: 'api', ...container }] } };
  expect(isCrashing(pod, begin)).toBe(crashing);
});

test.each<[string, Progress['reason'], number | undefined, string | undefined]>([
  ['makes progress', 'NotAvailable', 2, undefined],
  ['has waited too long, and was Ready', 'ProgressDeadlineExceeded', 1, 'Degraded'],
  ['has waited too long, and never was Ready', 'ProgressDeadlineExceeded', undefined, 'Failed'],
  ['crashes after it was Ready', 'CrashLoopBackOff', 2, 'Degraded'],
  ['is tried again while a change is rolled out', 'WriteFailed', 1, undefined],
  ['waits for somebody', 'SecretMissing', 2, 'Failed'],
])('the phase of what %s', (_title, reason, readyGeneration, phase) => {
  expect(troubleOf([{ ...waits, reason }], resource([], { readyGeneration }))).toBe(phase);
});
