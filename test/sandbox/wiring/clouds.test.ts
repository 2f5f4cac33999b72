import { expect, test } from 'vitest';
import { clouds } from './clouds.ts';
import { goodRollout } from './trial.ts';

// The others are parts of it.
test('the cloud of all services comes up, does what its users want, and stops', async () => {
  const { outcome } = await goodRollout(clouds['full'] ?? {});
  expect(outcome).toMatchObject({ verdict: 'survived', words: expect.any(String) });
});
