import { join } from 'node:path';
import { kubernetesPrograms, type Place } from './place.ts';
import { run } from './step.ts';

/** Runs kubectl as the administrator of the cloud's cluster. @throws StepError with its last words */
export async function kubectl(place: Place, args: readonly string[], input?: string): Promise<string> {
  return await run(join(kubernetesPrograms(), 'kubectl'), ['--kubeconfig', place.kubeconfig, ...args], {
    log: place.log('kubectl'),
    env: { KUBECACHEDIR: join(place.directory, 'kubectl-cache') },
    ...(input === undefined ? {} : { input }),
  });
}
