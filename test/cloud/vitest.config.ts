import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { reporters } from '../../tools/cloud/cloud-results.ts';

/** Seconds that the suite may take when the caches are filled. */
const budget = 900;

/** What needs no server runs first, so that a cloud that is not well says so early. */
const order = [
  'shell',
  'identity',
  'services',
  'images',
  'networks',
  'servers',
  'traffic',
  'console',
  'power',
  'disk',
  'limits',
];

class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = order.findIndex((name) => moduleId.endsWith(`/cloud/${name}.test.ts`));
      return at < 0 ? order.length : at; // what looks at logs sees those of all the others
    };
    return [...files].sort((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  test: {
    include: ['test/cloud/*.test.ts'],
    reporters: reporters(),
    globalSetup: ['test/cloud/setup.ts'],
    // One worker, whose modules stay: the files share servers, which take seconds to boot.
    pool: 'threads',
    isolate: false,
    fileParallelism: false,
    sequence: { sequencer: Order },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    provide: { budget },
  },
});
