import { defineConfig } from 'vitest/config';

/** Suites with a configuration and a make target of their own: they need Go, root, or a cloud. */
const apart = [
  'chaos',
  'clients',
  'cloud',
  'durability',
  'foreign',
  'gateway',
  'kubernetes',
  'models',
  'node',
  'operator',
];

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
