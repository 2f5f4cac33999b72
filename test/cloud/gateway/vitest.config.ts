import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Of the acceptance suite what a proxy could spoil, and what needs no network outside.
    include: ['test/cloud/gateway/*.test.ts', 'test/cloud/{identity,images}.test.ts'],
    globalSetup: ['test/cloud/gateway/setup.ts'],
    setupFiles: ['test/cloud/gateway/trust.ts'],
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
