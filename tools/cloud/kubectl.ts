import { join } from 'node:path';
import { kubernetesPrograms, type Place } from './place.ts';
import { type RunOptions, run } from './step.ts';

/** Runs kubectl as the administrator of the cloud's cluster. @throws StepError with its last words */
export async function kubectl(
  place: Place,
  args: readonly string[],
  options: Pick<RunOptions, 'input' | 'signal'> = {},
): Promise<string> {
  return await run(join(kubernetesPrograms(), 'kubectl'), ['--kubeconfig', place.kubeconfig, ...args], {
    log: place.log('kubectl'),
    env: { KUBECACHEDIR: join(place.directory, 'kubectl-cache') },
    ...options,
  });
}
