import { expect } from 'vitest';
import { type Kubectl, test } from './cluster.ts';

const pod = (containers: Record<string, readonly string[]>, restartPolicy = 'Always') =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'talker', labels: { app: 'talker' } },
    spec: {
      restartPolicy,
      containers: Object.entries(containers).map(([name, command]) => ({ name, image: 'example.com/app:1', command })),
    },
  });

async function create(kubectl: Kubectl, manifest: string): Promise<void> {
  await kubectl.with({ stdin: manifest })`create -f -`;
}

test('logs, their last lines, and their times', async ({ kubectl }) => {
  await create(kubectl, pod({ app: ['once', 'one', 'two', 'three'] }, 'Never'));
  await kubectl`wait --for=jsonpath={.status.phase}=Succeeded pod/talker --timeout=20s`;
  expect(await kubectl`logs talker`).toBe('one\ntwo\nthree\n');
  expect(await kubectl`logs talker --tail=1`).toBe('three\n');
  expect(await kubectl`logs talker --timestamps --tail=1`).toMatch(/^\d{4}-\d\d-\d\dT\S+Z three\n$/);
  expect(await kubectl`logs talker --since=1h`).toBe('one\ntwo\nthree\n');
  expect(await kubectl`logs talker --limit-bytes=4`).toBe('one\n');
});

test('-c chooses the container, and must when there are two', async ({ kubectl }) => {
  await create(kubectl, pod({ first: ['once', 'from first'], second: ['once', 'from second'] }, 'Never'));
  await kubectl`wait --for=jsonpath={.status.phase}=Succeeded pod/talker --timeout=20s`;
  expect(await kubectl`logs talker -c second`).toBe('from second\n');
  const { stdout, stderr } = await kubectl.run`logs talker`;
  expect([stdout, stderr]).toEqual(['from first\n', 'Defaulted container "first" out of: first, second\n']);
  // kubectl asks for the containers in the order of a Go map.
  const both = await kubectl`logs -l app=talker --all-containers --prefix`;
  expect(both.trim().split('\n').sort()).toEqual(['[pod/talker/first] from first', '[pod/talker/second] from second']);
  expect(await kubectl.fails`logs talker -c third`).toContain('container third is not valid for pod talker');
});

test('-f goes on until the container ends', async ({ kubectl }) => {
  await create(kubectl, pod({ app: ['serve', '8080'] }));
  await kubectl`wait --for=condition=Ready pod/talker --timeout=20s`;
  const begun = Promise.withResolvers<void>();
  const until = () => {
    begun.resolve();
    return false;
  };
  const following = kubectl.with({ until })`logs -f talker`;
  await begun.promise;
  await kubectl`delete pod talker --wait=false`;
  expect(await following).toBe('listening on 8080\nterminated\n');
});

test('--previous shows the run before', async ({ kubectl }) => {
  await create(kubectl, pod({ app: ['crash'] }));
  await kubectl`wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/talker --timeout=40s`;
  expect(await kubectl`logs talker --previous`).toBe('starting\nfatal: no such database\n');
  expect(await kubectl`get pod talker`).toMatch(/0\/1 +(Error|CrashLoopBackOff) +\d/);
  expect(await kubectl`get pod talker -o jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode}`).toBe(
    '3',
  );
});

test('a log that is not there is refused with the reason', async ({ kubectl }) => {
  await kubectl`run fresh --image=example.com/app:1`;
  await kubectl`wait --for=condition=Ready pod/fresh --timeout=20s`;
  expect(await kubectl.fails`logs fresh --previous`).toBe(
    'Error from server (BadRequest): previous terminated container "fresh" in pod "fresh" not found',
  );
  await kubectl`run lost --image=example.net/missing:1`;
  await kubectl`wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason} pod/lost --timeout=20s`;
  expect(await kubectl.fails`logs lost`).toContain(
    'container "lost" in pod "lost" is waiting to start: trying and failing to pull image',
  );
});
