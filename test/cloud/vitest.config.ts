import { defineConfig } from 'vitest/config';
import { reporters } from '../../tools/cloud/cloud-results.ts';
import { inOrder } from './order.ts';

/** Seconds that the suite may take when the caches are filled. */
const budget = 900;

/** What needs no server runs first, so that a cloud that is not well says so early; what looks at logs sees those of all others. */
const order = [
  'shell',
  'identity',
  'services',
  'images',
  'networks',
  'servers',
  'traffic',
  'console',
  'power',
  'disk',
  'limits',
];

export default defineConfig({
  test: {
    include: ['test/cloud/*.test.ts'],
    reporters: reporters(),
    globalSetup: ['test/cloud/setup.ts'],
    // One worker, whose modules stay: the files share servers, which take seconds to boot.
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    sequence: { sequencer: inOrder(...order) },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    provide: { budget },
  },
});
