import { defineConfig } from 'vitest/config';

/** Suites with configurations and make targets of their own: they need Go, root, or a cloud. */
const apart = ['cloud', 'kubernetes', 'node'];

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'tools/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...apart.map((name) => `test/${name}/**`), '**/node_modules/**'],
    pool: 'threads',
    // Without it one core stays idle.
    maxWorkers: '100%',
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
