import { realClock } from '@openstack-operator/kube';
import type { TestProject } from 'vitest/node';
import { reasonToSkip } from './node.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Seconds that the suite may take when the caches are filled. */
    budget: number;
  }
}

/** Says why nothing is tested, or at the end how long it took. */
export function setup(project: TestProject): () => void {
  if (reasonToSkip) process.stdout.write(`test-node is skipped: ${reasonToSkip}\n`);
  const begun = realClock.now();
  return () => {
    const seconds = Math.round((realClock.now() - begun) / 1000);
    process.stdout.write(`\ntest-node: ${seconds} s of ${project.getProvidedContext().budget} s\n`);
  };
}
