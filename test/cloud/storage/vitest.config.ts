import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/cloud/storage/**/*.test.ts'],
    globalSetup: ['test/cloud/setup.ts'],
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    provide: { budget: 1800 },
  },
});
