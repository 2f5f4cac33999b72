import { defineConfig } from 'vitest/config';

/** Seconds that the suite may take when Kubernetes is built and the Debian packages are there. */
export const budget = 240;

export default defineConfig({
  test: {
    include: ['test/node/**/*.test.ts'],
    globalSetup: ['test/node/setup.ts'],
    // One node at a time: they compare what the machine was before with what it is after.
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 120_000,
    provide: { budget },
  },
});
