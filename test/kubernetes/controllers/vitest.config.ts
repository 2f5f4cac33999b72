import { defineConfig } from 'vitest/config';

const common = {
  include: ['test/kubernetes/controllers/**/*.test.ts'],
  pool: 'threads' as const,
  isolate: false,
  testTimeout: 60_000,
};

/** The sandbox's controllers beside those of a real kube-controller-manager. */
export default defineConfig({
  test: {
    globalSetup: ['test/kubernetes/controllers/kubernetes.ts'],
    projects: [
      { test: { ...common, name: 'sandbox', env: { CONFORMANCE_SERVER: 'sandbox' } } },
      { test: { ...common, name: 'kubernetes', env: { CONFORMANCE_SERVER: 'kubernetes' } } },
    ],
  },
});
