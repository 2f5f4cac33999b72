import { defineConfig } from 'vitest/config';
import { reporters } from '../../../tools/cloud/cloud-results.ts';

export default defineConfig({
  test: {
    include: ['test/cloud/storage/**/*.test.ts'],
    reporters: reporters(),
    globalSetup: ['test/cloud/setup.ts'],
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    provide: { budget: 1800 },
  },
});
