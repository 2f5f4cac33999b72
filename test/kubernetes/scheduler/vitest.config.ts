import { defineConfig } from 'vitest/config';

const common = {
  include: ['test/kubernetes/scheduler/**/*.test.ts'],
  pool: 'threads' as const,
  // What one test puts on the nodes is in the way of another's.
  fileParallelism: false,
  testTimeout: 60_000,
};

/** The sandbox's scheduler beside the real one. */
export default defineConfig({
  test: {
    globalSetup: ['test/kubernetes/scheduler/kubernetes.ts'],
    projects: [
      { test: { ...common, name: 'sandbox', env: { CONFORMANCE_SERVER: 'sandbox' } } },
      { test: { ...common, name: 'kubernetes', env: { CONFORMANCE_SERVER: 'kubernetes' } } },
    ],
  },
});
