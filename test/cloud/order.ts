import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** A sequencer by which files run in this order (`image` is image.test.ts), and those that are not named after them. */
export function inOrder(...names: readonly string[]): typeof BaseSequencer {
  const place = ({ moduleId }: TestSpecification) => {
    const at = names.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
    return at < 0 ? names.length : at;
  };
  return class extends BaseSequencer {
    override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return Promise.resolve(files.toSorted((one, other) => place(one) - place(other)));
    }
  };
}
