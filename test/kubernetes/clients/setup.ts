import { realClock } from '@openstack-operator/kube';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Seconds that the suite may take when the caches are filled. */
    budget: number;
  }
}

/** Says at the end how long the suite took, beside what it may take. */
export function setup(project: TestProject): () => void {
  const begun = realClock.now();
  return () => {
    const seconds = Math.round((realClock.now() - begun) / 1000);
    process.stdout.write(`\ntest-clients: ${seconds} s of ${project.getProvidedContext().budget} s\n`);
  };
}
