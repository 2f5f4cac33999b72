import { expect, test } from 'vitest';
import type { OperatorContext } from './context.ts';
import { report } from './report.ts';
import { StatusPace } from './status-pace.ts';

const condition = (type: string, status: string, reason: string) => {
  return { type, status, reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
};
const status = (...conditions: readonly object[]) => ({ phase: 'Progressing', observedGeneration: 1, conditions });

/** Reports one status after another at some times, in ms. Gives what was written, and the reasons of events. */
async function reported(before: object, ...after: readonly (readonly [at: number, status: object])[]) {
  const written: object[] = [];
  const events: string[] = [];
  const statusPace = new StatusPace();
  let current = before;
  for (const [at, next] of after) {
    const context = {
      key: 'ns/n',
      object: { kind: 'Neutron', metadata: { name: 'n', namespace: 'ns' }, status: current },
      clock: { now: () => at, monotonic: () => at },
      statusPace,
      writes: () => written.length,
      status: async (one: object) => void written.push(one),
      event: ({ reason }: { reason: string }) => void events.push(reason),
    } as unknown as OperatorContext;
    if ((await report(context, next as Record<string, unknown>)) === undefined) current = next;
  }
  return { written: written.length, events };
}

test('progress waits for a second; Ready and failures do not', async () => {
  const [missing, running] = [
    status(condition('A', 'False', 'Missing')),
    status(condition('A', 'False', 'JobRunning')),
  ];
  expect(await reported({}, [0, missing], [500, running])).toMatchObject({ written: 1 });
  expect(await reported({}, [0, missing], [1000, running])).toMatchObject({ written: 2 });
  const failed = status(condition('A', 'False', 'JobFailed'));
  expect(await reported({}, [0, missing], [500, failed])).toEqual({ written: 2, events: ['JobFailed'] });
  const ready = status(condition('Ready', 'True', 'Ready'));
  expect(await reported(status(condition('Ready', 'False', 'Waiting')), [0, ready])).toMatchObject({
    events: ['Ready'],
  });
});

test('a reason that an earlier operator has left, and this one does not know, harms nothing', async () => {
  const left = status(condition('AgentsReady', 'True', 'NoNova'));
  const now = status(condition('AgentsReady', 'True', 'Skipped'));
  expect(await reported(left, [0, now], [500, now])).toEqual({ written: 1, events: [] });
  expect(await reported({}, [0, left], [500, now])).toMatchObject({ events: [] });
});
