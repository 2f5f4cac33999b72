import { expect, test } from 'vitest';
import { createLog } from './log.ts';
import { virtualClock } from './virtual-clock.ts';

test('a line is JSON: time, level, message, fields; an error keeps its code and cause', () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ clock: virtualClock(), write: (line) => lines.push(JSON.parse(line)), fields: { a: 1 } });
  log.debug('dropped');
  log.with({ b: 2n }).info('hello\nworld', { a: 3 });
  log.error('bad', { error: Object.assign(new Error('broke', { cause: new Error('root') }), { code: 'EX' }) });
  const loop: Record<string, unknown> = {};
  loop['self'] = loop;
  log.warn('odd', { loop });
  expect(lines).toEqual([
    { time: '2026-01-01T00:00:00.000000Z', level: 'info', message: 'hello\nworld', a: 3, b: '2' },
    expect.objectContaining({
      level: 'error',
      error: expect.objectContaining({
        name: 'Error',
        message: 'broke',
        code: 'EX',
        stack: expect.stringContaining('log.test.ts'),
        cause: expect.objectContaining({ message: 'root' }),
      }),
    }),
    expect.objectContaining({ level: 'warn', message: 'odd', unwritable: expect.stringContaining('circular') }),
  ]);
});
