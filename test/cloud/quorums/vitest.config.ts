import { defineConfig } from 'vitest/config';

/** Quorums in a cloud that runs: they stay what they were made, so that the cloud is another one afterwards. */
export default defineConfig({
  test: {
    include: ['test/cloud/quorums/*.test.ts'],
    globalSetup: ['test/cloud/setup.ts'],
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    testTimeout: 1_200_000,
    hookTimeout: 300_000,
    provide: { budget: 1800 },
  },
});
