import { defineConfig } from 'vitest/config';

/** Suites that run by make targets of their own alone: they need Go, root, or a cloud. The others run on the sandbox, too. */
const apart = [
  'cloud/*.test.ts',
  // What writes tempest's configuration, and reads what it prints, needs none.
  'cloud/!(tempest)/**',
  'kubernetes/clients/**',
  'kubernetes/foreign/**',
  'kubernetes/operator/**',
  'node/**',
];

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'tools/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...apart.map((name) => `test/${name}`), '**/node_modules/**'],
    pool: 'threads',
    // Without it one core stays idle.
    maxWorkers: '100%',
    isolate: false,
    // Node itself loads the TypeScript: what Vite makes of it reads every import through a getter.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
