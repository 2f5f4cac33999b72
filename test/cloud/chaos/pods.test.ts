import { afterAll, beforeAll, describe, test } from 'vitest';
import { program } from '../kubernetes.ts';
import { inNode } from '../node.ts';
import { deletePod, isReady, ours, type PodState, podOf, pods, replaced } from '../pods.ts';
import { until } from '../until.ts';
import { chaos } from './cloud.ts';
import { type Chaos, printRecoveries, recovers } from './recovery.ts';

/** Labels by which a pod is known, and its successor. */
const identity = ['name', 'instance', 'component'].map((label) => `app.kubernetes.io/${label}`);
/** Seconds after which a pod that does not come back is given up: far beyond any that did. */
const patience = 600;

let cloud: Chaos;
beforeAll(async () => {
  cloud = await chaos();
}, 900_000);
afterAll(printRecoveries);

const operator = 'app.kubernetes.io/name=openstack-operator';
const victims = [...(await pods(`${ours},!batch.kubernetes.io/job-name`)), ...(await pods(operator))].map((pod) => ({
  name: pod.metadata.labels['app.kubernetes.io/instance'] === undefined ? 'operator' : workloadOf(pod),
  selector: identity
    .filter((label) => pod.metadata.labels[label] !== undefined)
    .map((label) => `${label}=${pod.metadata.labels[label]}`)
    .join(','),
}));

/** A pod's name without what makes it different from its predecessor. */
function workloadOf({ metadata }: PodState): string {
  const { 'app.kubernetes.io/instance': instance = '', 'app.kubernetes.io/component': component = '' } =
    metadata.labels;
  return `${instance} ${component}`;
}

/** Ends the main process of a pod's container, as the kernel does when memory is short. */
async function kill(selector: string): Promise<void> {
  const old = await podOf(selector);
  const [container] = old.status.containerStatuses ?? [];
  const id = container?.containerID?.split('//')[1] ?? '';
  await inNode('ctr', '--namespace', 'k8s.io', 'tasks', 'kill', '--signal', 'SIGKILL', id);
  await until({
    what: `the container of ${old.metadata.name} to be started again`,
    seconds: patience,
    probe: async () => {
      const now = await podOf(selector);
      return (now.status.containerStatuses?.[0]?.restartCount ?? 0) > (container?.restartCount ?? 0) && isReady(now)
        ? true
        : undefined;
    },
    explain: () => program('kubectl', 'describe', 'pods', '--all-namespaces', '-l', selector),
  });
}

describe('APIs answer again after SIGKILL of the main process of', () => {
  test.each(victims)('$name', ({ name, selector }) =>
    recovers(`${name}: killed`, { ...cloud, happen: () => kill(selector) }),
  );
});

describe('APIs answer again after the forced deletion of', () => {
  test.each(victims)('$name', ({ name, selector }) =>
    recovers(`${name}: deleted by force`, {
      ...cloud,
      happen: async () => {
        const old = await podOf(selector);
        await deletePod(old, { force: true });
        await replaced(selector, old, patience);
      },
    }),
  );
});
