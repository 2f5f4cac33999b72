import { realClock } from '@openstack-operator/kube';
import type { TestProject } from 'vitest/node';
import { buildPrograms } from './programs.ts';

/** Builds the operators where that was not done yet; says at the end how long the suite took, beside what it may take. */
export function setup(project: TestProject): () => void {
  buildPrograms();
  const begun = realClock.now();
  return () => {
    const seconds = Math.round((realClock.now() - begun) / 1000);
    process.stdout.write(`\ntest-foreign: ${seconds} s of ${project.getProvidedContext().budget} s\n`);
  };
}
