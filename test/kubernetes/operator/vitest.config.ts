import { defineConfig } from 'vitest/config';

/** The operator on a real API server with its controllers: what the sandbox cannot prove of itself. */
export default defineConfig({
  test: {
    include: ['test/kubernetes/operator/**/*.test.ts'],
    globalSetup: ['test/kubernetes/controllers/kubernetes.ts'],
    env: { CONFORMANCE_SERVER: 'kubernetes' },
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    testTimeout: 400_000,
  },
});
