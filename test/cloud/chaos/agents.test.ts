import { realClock } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { inNode } from '../node.ts';
import { isReady, type PodState, podOf } from '../pods.ts';
import { chaos } from './cloud.ts';
import { printRecoveries, recovers } from './recovery.ts';

/** Longer than an API waits for an agent (`rpc_response_timeout`). */
const seconds = 65;

async function signal(pod: PodState, name: 'STOP' | 'CONT'): Promise<void> {
  const id = pod.status.containerStatuses?.[0]?.containerID?.split('//')[1] ?? '';
  await inNode('ctr', '--namespace', 'k8s.io', 'tasks', 'kill', '--all', '--signal', `SIG${name}`, id);
}

test('an API whose workers all wait for a hypervisor that stands still stays in its Service', async () => {
  const cloud = await chaos();
  const { server } = cloud.witness;
  const compute = await podOf('app.kubernetes.io/component=compute');
  const api = () => podOf('app.kubernetes.io/name=nova,app.kubernetes.io/component=api');
  const seen: boolean[] = [];
  await recovers('a hypervisor stood still', {
    ...cloud,
    happen: async () => {
      await signal(compute, 'STOP');
      const until = realClock.now() + seconds * 1000;
      // More than it has workers.
      const asked = Promise.allSettled(Array.from({ length: 8 }, () => server.console()));
      while (realClock.now() < until) {
        seen.push(isReady(await api()));
        await new Promise((resolve) => realClock.after(2000, () => resolve(undefined)));
      }
      await signal(compute, 'CONT');
      await asked;
    },
  });
  expect(seen.length).toBeGreaterThan(10);
  expect(seen).not.toContain(false);
  printRecoveries();
});
