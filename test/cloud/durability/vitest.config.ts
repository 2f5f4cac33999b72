import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/cloud/durability/**/*.test.ts'],
    globalSetup: ['test/cloud/durability/setup.ts'],
    pool: 'threads',
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 900_000,
  },
});
