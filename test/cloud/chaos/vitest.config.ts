import { defineConfig } from 'vitest/config';
import { inOrder } from '../order.ts';

export default defineConfig({
  test: {
    include: ['test/cloud/chaos/**/*.test.ts'],
    globalSetup: ['test/cloud/chaos/setup.ts'],
    // One worker, whose modules stay: what was acknowledged before is the same for all files.
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    // From one pod to the whole node.
    sequence: { sequencer: inOrder('pods', 'leader', 'objects', 'secrets', 'jobs', 'volume', 'power-cut') },
    testTimeout: 1_800_000,
    hookTimeout: 900_000,
  },
});
