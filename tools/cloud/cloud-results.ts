import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter } from 'vitest/node';
import { root } from './place.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** MiB of memory of each service that the test has enabled, when it was Ready: by its field of the control plane. */
    memory?: Readonly<Record<string, number>>;
  }
}

/** How a test on a real cloud ended. */
export interface CloudResult {
  readonly test: string;
  readonly result: 'passed' | 'failed' | 'skipped' | 'pending';
  /** How long it took; 0 for one that did not run. */
  readonly seconds: number;
  /** MiB of memory of the services that it has enabled, by field of the control plane. */
  readonly memory?: Readonly<Record<string, number>>;
}

/** By file of tests, below the root of the repository. */
export type CloudResults = Readonly<Record<string, readonly CloudResult[]>>;

/** Where the results of the last run stand that was asked to record them. */
export const resultsFile = 'test/cloud/results.json';

/** What they are; nothing before the first such run. */
export function readResults(file = join(root, resultsFile)): CloudResults {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as CloudResults;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** Records how each test of a run ended; files that did not run keep what an earlier run has recorded. */
export function recordsResults(file = join(root, resultsFile)): Reporter {
  return {
    onTestRunEnd(modules) {
      const run = modules.map((module): [string, CloudResult[]] => [
        module.relativeModuleId,
        [...module.children.allTests()].map((test) => {
          const { memory } = test.meta();
          return {
            test: test.fullName,
            result: test.result().state,
            seconds: Math.round((test.diagnostic()?.duration ?? 0) / 1000),
            ...(memory && { memory }),
          };
        }),
      ]);
      const all = Object.entries({ ...readResults(file), ...Object.fromEntries(run) });
      const sorted = Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)));
      writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`);
    },
  };
}

/** What a suite on a real cloud reports with: it records its results where the variable RECORD is set. */
export const reporters = (): ('default' | Reporter)[] =>
  process.env['RECORD'] === undefined ? ['default'] : ['default', recordsResults()];
