import { expect, test } from 'vitest';
import { podRow } from './pod-row.ts';

const now = 1_000_000_000;
const time = '1970-01-12T13:45:40Z';
const main = { name: 'main' };

function row(status: object, { spec = {}, metadata = {} } = {}): unknown[] {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', creationTimestamp: time, ...metadata },
    spec: { containers: [main], ...spec },
    status,
  };
  return podRow(pod, now).slice(1, 4);
}

const state = (state: object, rest: object = {}) => ({ ...main, state, restartCount: 0, ready: false, ...rest });

test('READY, STATUS and RESTARTS are as kubectl shows them', () => {
  const running = state({ running: {} }, { ready: true });
  const ready = [{ type: 'Ready', status: 'True' }];
  const last = { lastState: { terminated: { finishedAt: time } }, restartCount: 3 };
  const crash = state({ waiting: { reason: 'CrashLoopBackOff' } }, last);
  const done = state({ terminated: { exitCode: 0, reason: 'Completed' } });
  const killed = state({ terminated: { exitCode: 137, signal: 9 } });
  const deleted = { metadata: { deletionTimestamp: time } };
  expect([
    row({ phase: 'Pending' }),
    row({ phase: 'Running', containerStatuses: [running], conditions: ready }),
    row({ phase: 'Running', containerStatuses: [crash] }),
    row({ phase: 'Pending', containerStatuses: [state({ waiting: { reason: 'ErrImagePull' } })] }),
    row({ phase: 'Succeeded', containerStatuses: [done] }),
    row({ phase: 'Failed', containerStatuses: [killed] }),
    row({ phase: 'Failed', reason: 'Evicted' }),
    row({ phase: 'Running', containerStatuses: [running] }, deleted),
    row({ phase: 'Succeeded', containerStatuses: [done] }, deleted),
    row({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] }),
  ]).toEqual([
    ['0/1', 'Pending', '0'],
    ['1/1', 'Running', '0'],
    ['0/1', 'CrashLoopBackOff', '3 (60s ago)'],
    ['0/1', 'ErrImagePull', '0'],
    ['0/1', 'Completed', '0'],
    ['0/1', 'Signal:9', '0'],
    ['0/1', 'Evicted', '0'],
    ['1/1', 'Terminating', '0'],
    ['0/1', 'Completed', '0'],
    ['0/1', 'SchedulingGated', '0'],
  ]);
});

test('init containers come first', () => {
  const spec = { initContainers: [{ name: 'a' }, { name: 'b' }] };
  const init = (...statuses: object[]) =>
    row(
      { phase: 'Pending', initContainerStatuses: statuses.map((status, i) => ({ name: 'ab'[i], ...status })) },
      { spec },
    );
  const ok = state({ terminated: { exitCode: 0 } });
  expect([
    init(state({ running: {} }), state({ waiting: { reason: 'PodInitializing' } })),
    init(ok, state({ running: {} })),
    init(ok, state({ waiting: { reason: 'CrashLoopBackOff' } }, { restartCount: 2 })),
    init(ok, state({ terminated: { exitCode: 1, reason: 'Error' } })),
    init(ok, ok),
  ]).toEqual([
    ['0/1', 'Init:0/2', '0'],
    ['0/1', 'Init:1/2', '0'],
    ['0/1', 'Init:CrashLoopBackOff', '2'],
    ['0/1', 'Init:Error', '0'],
    ['0/1', 'Pending', '0'],
  ]);
});

test('a sidecar counts once it has started', () => {
  const spec = { initContainers: [{ name: 'side', restartPolicy: 'Always' }] };
  const side = { name: 'side', state: { running: {} }, started: true, ready: true, restartCount: 1 };
  const containerStatuses = [state({ running: {} }, { ready: true })];
  expect(row({ phase: 'Running', initContainerStatuses: [side], containerStatuses }, { spec })).toEqual([
    '2/2',
    'Running',
    '1',
  ]);
});
