import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/kubernetes/**', 'test/clients/**', 'test/operator/**', 'test/cloud/**', '**/node_modules/**'],
    pool: 'threads',
    isolate: false,
    testTimeout: 120_000,
  },
});
