import { expect, test } from 'vitest';
import type { Cache } from './cache.ts';
import type { StoredObject } from './objects.ts';
import { Statements } from './statements.ts';
import { page } from './test-sites.ts';

const quiet = { onChange: () => () => {} } as unknown as Cache;
const statement = page('x', { made: 'by us' });
const state = (resourceVersion: string, more: Partial<StoredObject['metadata']> = {}): StoredObject => ({
  ...statement,
  metadata: { namespace: 'ns', name: 'x', uid: 'u', generation: 1, ...more, resourceVersion },
});

test('news that is faster than the answer counts as its outcome when it only reports', () => {
  const statements = new Statements(quiet, []);
  const answer = state('5');
  const reported = state('6');
  statements.made(statement, answer, reported);
  expect(statements.stands(statement, reported)).toBe(true);
  expect(statements.stands(page('x', { made: 'otherwise' }), reported)).toBe(false);
  for (const changed of [
    state('6', { generation: 2 }),
    state('6', { labels: { by: 'hand' } }),
    state('6', { uid: 'v' }),
  ]) {
    statements.made(statement, answer, changed);
    expect(statements.stands(statement, changed)).toBe(false);
  }
});
