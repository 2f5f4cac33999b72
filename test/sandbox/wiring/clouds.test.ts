import { expect, test } from 'vitest';
import { clouds } from './clouds.ts';
import { goodRollout } from './trial.ts';

test.each(Object.keys(clouds))('the cloud %s comes up, does what its users want, and stops', async (name) => {
  const { outcome } = await goodRollout(clouds[name] ?? {});
  expect(outcome).toMatchObject({ verdict: 'survived', words: expect.any(String) });
});
