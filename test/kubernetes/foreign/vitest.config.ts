import { defineConfig } from 'vitest/config';

/** Seconds that the suite may take when the operators and Kubernetes are built. */
const budget = 300;

/** Operators that others wrote, on the real API server and on the sandbox. */
export default defineConfig({
  test: {
    include: ['test/kubernetes/foreign/**/*.test.ts'],
    globalSetup: ['test/kubernetes/foreign/setup.ts', 'test/kubernetes/controllers/kubernetes.ts'],
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    testTimeout: 900_000,
    provide: { budget },
  },
});
