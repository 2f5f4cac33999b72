import { expect } from 'vitest';
import { admin } from './fixture.ts';

/** A request to each API of a minimal cloud, by which they ask Keystone and their databases. */
const questions = ['identity.users', 'image.images', 'compute.servers', 'network.networks'] as const;

/** Asks the APIs, but for some, again and again while something is done, and expects that none of the requests fails. */
export async function underRequests(
  act: () => Promise<void>,
  { without }: { readonly without?: (typeof questions)[number] } = {},
): Promise<void> {
  const failed: string[] = [];
  const end = new AbortController();
  let asked = 0;
  const asking = (async () => {
    while (!end.signal.aborted) {
      for (const question of questions.filter((one) => one !== without)) {
        asked += 1;
        await admin.call(question).catch((error: unknown) => failed.push(`${question}: ${String(error)}`));
      }
    }
  })();
  try {
    await act();
  } finally {
    end.abort();
    await asking;
  }
  expect(failed).toEqual([]);
  expect(asked).toBeGreaterThan(50);
}
