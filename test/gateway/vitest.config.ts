import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Of the acceptance suite what a proxy could spoil: tokens and the catalogue, bodies, the websocket of a console.
    include: ['test/gateway/*.test.ts', 'test/cloud/{identity,images,console}.test.ts'],
    globalSetup: ['test/gateway/setup.ts', 'test/cloud/setup.ts'],
    setupFiles: ['test/gateway/trust.ts'],
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
    provide: { budget: 600 },
  },
});
