import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/cloud/models/**/*.test.ts'],
    // What takes time is the processor: one file after the other.
    pool: 'threads',
    fileParallelism: false,
    testTimeout: 60_000,
  },
});
