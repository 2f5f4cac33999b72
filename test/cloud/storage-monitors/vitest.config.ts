import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/cloud/storage-monitors/**/*.test.ts'],
    globalSetup: ['test/cloud/setup.ts'],
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    testTimeout: 1_500_000,
    hookTimeout: 180_000,
    provide: { budget: 1200 },
  },
});
