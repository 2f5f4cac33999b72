import { defineConfig } from 'vitest/config';

const common = {
  include: ['test/kubernetes/conformance/**/*.test.ts'],
  pool: 'threads' as const,
  isolate: false,
  testTimeout: 30_000,
  hookTimeout: 60_000,
};

/** Every file on both servers; the real one is started for the run and taken down after it. */
export default defineConfig({
  test: {
    globalSetup: ['test/kubernetes/conformance/kubernetes.ts'],
    projects: [
      { test: { ...common, name: 'sandbox', env: { CONFORMANCE_SERVER: 'sandbox' } } },
      { test: { ...common, name: 'kubernetes', env: { CONFORMANCE_SERVER: 'kubernetes' } } },
    ],
  },
});
