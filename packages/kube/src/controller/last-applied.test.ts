import { expect, test } from 'vitest';
import type { Cache } from '../cache/cache.ts';
import type { StoredObject } from '../objects/objects.ts';
import { page } from '../testing/sites.ts';
import { LastAppliedCache } from './last-applied.ts';

const quiet = { onChange: () => () => {} } as unknown as Cache;
const configuration = page('x', { made: 'by us' });
const state = (resourceVersion: string, more: Partial<StoredObject['metadata']> = {}): StoredObject => ({
  ...configuration,
  metadata: { namespace: 'ns', name: 'x', uid: 'u', generation: 1, ...more, resourceVersion },
});

test('an event that overtakes the answer counts as its outcome when only the status differs', () => {
  const lastApplied = new LastAppliedCache(quiet, []);
  const answer = state('5');
  const reported = state('6');
  lastApplied.record(configuration, answer, reported);
  expect(lastApplied.has(configuration, reported)).toBe(true);
  expect(lastApplied.has(page('x', { made: 'otherwise' }), reported)).toBe(false);
  for (const changed of [
    state('6', { generation: 2 }),
    state('6', { labels: { by: 'hand' } }),
    state('6', { uid: 'v' }),
  ]) {
    lastApplied.record(configuration, answer, changed);
    expect(lastApplied.has(configuration, changed)).toBe(false);
  }
});
