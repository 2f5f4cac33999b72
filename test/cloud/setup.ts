import { realClock } from '@openstack-operator/kube';
import type { TestProject } from 'vitest/node';
import { clean } from './clean.ts';
import { program } from './kubernetes.ts';
import { connectProviderNetwork, disconnectProviderNetwork } from './provider-network.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Seconds that the suite may take when the caches are filled. */
    budget: number;
  }
}

/** Removes what an earlier run has left, and at the end what this one has made; says how long the suite took. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const begun = realClock.now();
  for (const [name, argument] of Object.entries({ ping: '-V', ip: '-V', ethtool: '--version', kubectl: '--help' })) {
    await program(name, argument);
  }
  await clean();
  await connectProviderNetwork();
  return async () => {
    await clean();
    await disconnectProviderNetwork();
    const seconds = Math.round((realClock.now() - begun) / 1000);
    process.stdout.write(`\ntest-cloud: ${seconds} s of ${project.getProvidedContext().budget} s\n`);
  };
}
