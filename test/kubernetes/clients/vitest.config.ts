import { defineConfig } from 'vitest/config';

/** Seconds that the suite may take when the caches are filled. */
const budget = 180;

export default defineConfig({
  test: {
    include: ['test/kubernetes/clients/**/*.test.ts'],
    globalSetup: ['test/kubernetes/clients/setup.ts'],
    pool: 'threads',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    provide: { budget },
  },
});
