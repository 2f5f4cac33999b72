import { defineConfig } from 'vitest/config';
import { reporters } from '../../../tools/cloud/cloud-results.ts';

/** Services that are enabled in a cloud that runs. Apart: what compares that cloud with the embedded one has none of them. */
export default defineConfig({
  test: {
    include: ['test/cloud/services/*.test.ts'],
    reporters: reporters(),
    globalSetup: ['test/cloud/setup.ts'],
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    // Longer than what a test waits for in turn, so that its own words are told.
    testTimeout: 1_200_000,
    hookTimeout: 300_000,
    provide: { budget: 3600 },
  },
});
