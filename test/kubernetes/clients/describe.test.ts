import { expect } from 'vitest';
import { test } from './cluster.ts';
import { web } from './web.ts';

test('describe tells of pods, their owners, and what happened to them', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  await kubectl`rollout status deployment/web --timeout=20s`;
  const deployment = await kubectl`describe deployment web`;
  expect(deployment).toMatch(/^Replicas: +2 desired \| 2 updated \| 2 total \| 2 available \| 0 unavailable$/m);
  expect(deployment).toMatch(/^ {2}Available +True +MinimumReplicasAvailable$/m);
  expect(deployment).toMatch(/^NewReplicaSet: +web-\w+ \(2\/2 replicas created\)$/m);
  expect(deployment).toMatch(
    /ScalingReplicaSet +\S+ +deployment-controller +Scaled up replica set web-\w+ from 0 to 2/,
  );
  const pod = await kubectl`describe pods -l app=web --show-events`;
  expect(pod).toMatch(/^Node: +node-[12]\/10\.89\.0\.\d+$/m);
  expect(pod).toMatch(/^Controlled By: +ReplicaSet\/web-\w+$/m);
  expect(pod).toMatch(/^ {4}State: +Running$/m);
  expect(pod).toMatch(/^QoS Class: +BestEffort$/m);
  for (const reason of ['Scheduled', 'Pulled', 'Created', 'Started']) expect(pod).toContain(reason);
  expect(await kubectl`describe service web`).toMatch(/^Endpoints: +10\.244\.\d\.\d+:8080,10\.244\.\d\.\d+:8080$/m);
});

test('describe tells why a pod does not run', async ({ kubectl }) => {
  await kubectl`run lost --image=example.net/missing:1`;
  await kubectl`run big --image=example.com/app:1 --overrides=${JSON.stringify({
    spec: { containers: [{ name: 'big', image: 'example.com/app:1', resources: { requests: { cpu: '999' } } }] },
  })}`;
  await kubectl`wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff pod/lost --timeout=30s`;
  expect(await kubectl`describe pod lost`).toMatch(/Warning +Failed .*example\.net\/missing:1/);
  await kubectl`wait --for=condition=PodScheduled=false pod/big --timeout=20s`;
  expect(await kubectl`describe pod big`).toMatch(/FailedScheduling .*0\/2 nodes are available: 2 Insufficient cpu/);
});

test('describe hides what is in a Secret', async ({ kubectl }) => {
  await kubectl`create secret generic pw --from-literal=password=s3cret`;
  const text = await kubectl`describe secret pw`;
  expect(text).toMatch(/^password: +6 bytes$/m);
  expect(text).not.toContain(btoa('s3cret'));
});

test('events, of all and of one object', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  await kubectl`rollout status deployment/web --timeout=20s`;
  expect(await kubectl`get events`).toMatch(/Normal +Scheduled +pod\/web-\S+ +Successfully assigned/);
  expect(await kubectl`get events --field-selector=reason=ScalingReplicaSet,involvedObject.kind=Deployment`).toContain(
    'deployment/web',
  );
  expect((await kubectl`events --for=deployment/web`).trim().split('\n')).toHaveLength(2);
});

test('a node tells what runs on it', async ({ kubectl }) => {
  await kubectl`run here --image=example.com/app:1 --overrides=${'{"spec":{"nodeName":"node-1"}}'}`;
  await kubectl`wait --for=condition=Ready pod/here --timeout=20s`;
  const node = await kubectl`describe node node-1`;
  expect(node).toMatch(/^ {2}Ready +True .*KubeletReady/m);
  expect(node).toMatch(new RegExp(`^ {2}${kubectl.namespace} +here `, 'm'));
});
