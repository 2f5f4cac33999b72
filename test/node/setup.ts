import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '@openstack-operator/kube';
import type { TestProject } from 'vitest/node';
import { installPackages } from '../../tools/cloud/packages.ts';
import { reasonToSkip } from './node.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Seconds that the suite may take when the caches are filled. */
    budget: number;
  }
}

/** What a node takes from Debian is there before a test looks at the machine. */
const nodePackages = `
  source tools/kubernetes/cluster.bash
  source tools/kubernetes/node/packages.bash
  mapfile -t missing < <(missing_packages)
  install_packages "\${missing[@]}"
`;

/** Says why nothing is tested, or at the end how long it took. */
export async function setup(project: TestProject): Promise<() => void> {
  if (reasonToSkip) process.stdout.write(`test-node is skipped: ${reasonToSkip}\n`);
  else {
    execFileSync('bash', ['-euc', nodePackages], { stdio: 'inherit' });
    await installPackages({ log: (name) => join(tmpdir(), `test-node-${name}.log`) }, { busybox: 'busybox-static' });
  }
  const begun = realClock.now();
  return () => {
    const seconds = Math.round((realClock.now() - begun) / 1000);
    process.stdout.write(`\ntest-node: ${seconds} s of ${project.getProvidedContext().budget} s\n`);
  };
}
