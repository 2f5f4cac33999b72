import { defineConfig } from 'vitest/config';
import { inOrder } from '../order.ts';

/** What a cloud of two nodes does that one of a single node cannot. */
export default defineConfig({
  test: {
    include: ['test/cloud/nodes/*.test.ts'],
    globalSetup: ['test/cloud/setup.ts'],
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    // A node whose servers others have made changes its zone no more.
    sequence: { sequencer: inOrder('availability-zones') },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    provide: { budget: 900 },
  },
});
