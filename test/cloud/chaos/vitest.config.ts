import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** From one pod to the whole node. */
const order = ['pods', 'leader', 'objects', 'secrets', 'jobs', 'volume', 'power-cut'];

class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      order.findIndex((name) => moduleId.endsWith(`/chaos/${name}.test.ts`));
    return [...files].sort((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  test: {
    include: ['test/cloud/chaos/**/*.test.ts'],
    globalSetup: ['test/cloud/chaos/setup.ts'],
    // One worker, whose modules stay: what was acknowledged before is the same for all files.
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    sequence: { sequencer: Order },
    testTimeout: 1_800_000,
    hookTimeout: 900_000,
  },
});
