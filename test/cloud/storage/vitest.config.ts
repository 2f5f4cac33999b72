import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/cloud/storage/**/*.test.ts'],
    pool: 'threads',
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
