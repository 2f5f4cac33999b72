import { connect, Pod, realClock } from '@openstack-operator/kube';
import { execute } from '../../cloud/pods.ts';
import { readyCloud } from '../rollout/cloud.ts';
import { namespace, type Stage } from './provoke.ts';

/** A stage, what makes its time pass while something is done on it, and its end. */
export interface Opened {
  readonly stage: Stage;
  readonly run: <T>(action: () => Promise<T>) => Promise<T>;
  readonly stop: () => void;
}

/** The minimal cloud on the embedded Kubernetes, in virtual time. */
export async function embeddedStage(): Promise<Opened> {
  const { cloud } = await readyCloud();
  const { sandbox } = cloud.rehearsal;
  return {
    stage: {
      client: sandbox.client(),
      clock: cloud.clock,
      execute: async (name, command) => {
        const { stdout, stderr } = await sandbox.pods.exec({ namespace, name }, command);
        return stdout + stderr;
      },
    },
    run: (action) => cloud.settle(action()),
    stop: () => cloud.rehearsal.stop(),
  };
}

/** The cloud that the environment leads to. */
export async function realStage(): Promise<Opened> {
  const { client } = await connect({ env: process.env, clock: realClock });
  return {
    stage: {
      client,
      clock: realClock,
      execute: async (pod, command) => {
        const { items } = await client.list(Pod, { namespace, fieldSelector: `metadata.name=${pod}` });
        const [name = ''] = items.flatMap(({ spec }) => spec?.containers.map((container) => container.name) ?? []);
        const { stdout, stderr } = await execute({ namespace, pod, name }, command);
        return stdout + stderr;
      },
    },
    run: (action) => action(),
    stop: () => void client.close(),
  };
}
