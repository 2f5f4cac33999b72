import { OpenStackControlPlane, RabbitMQ } from '@openstack-operator/openstack';
import { StatusError } from '@openstack-operator/sandbox';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, only, readyCloud } from './cloud.ts';

const namespace = 'openstack';
const broker = 'my-cloud-rabbitmq';
const pods = [0, 1, 2].map((ordinal) => `${broker}-${ordinal}`);
const { rabbitmq: _none, ...brokerOnly } = identityOnly;
const three = { ...brokerOnly, rabbitmq: { replicas: 3 } };

const members = (cloud: Cloud) =>
  (cloud.get('RabbitMQ', broker)?.['status'] as { members?: object } | undefined)?.members;
const isWhole = (cloud: Cloud) => () =>
  pods.every((name) => cloud.isReady('Pod', name)) && cloud.isReady('RabbitMQ', broker);

function run(cloud: Cloud, pod: string, ...argv: string[]) {
  return cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace, name: pod }, argv));
}

async function ask(cloud: Cloud, pod: string, ...words: string[]): Promise<string> {
  const { stdout, stderr } = await run(cloud, pod, 'rabbitmqctl', '-q', ...words);
  return stdout || stderr;
}

function kill(cloud: Cloud, names: readonly string[]): void {
  for (const name of names) cloud.rehearsal.sandbox.pods.kill({ namespace, name });
}

function log(cloud: Cloud, pod: string): string {
  try {
    return cloud.rehearsal.sandbox.pods.logs({ namespace, name: pod });
  } catch (error) {
    if (error instanceof StatusError) return '';
    throw error;
  }
}

/** Waits until the members are there again, which have this virtual host and each other. */
async function expectOneCluster(cloud: Cloud, vhost = '/'): Promise<void> {
  await cloud.until(isWhole(cloud));
  for (const pod of pods) {
    const status = await ask(cloud, pod, 'cluster_status');
    for (const other of pods) expect(status).toContain(`rabbit@${other}.`);
    expect((await ask(cloud, pod, 'list_vhosts')).split('\n')).toContain(vhost);
  }
}

/** Whether the pod's AMQP port is open. */
async function serves(cloud: Cloud, pod: string): Promise<boolean> {
  return (await run(cloud, pod, 'bash', '-c', ': < /dev/tcp/127.0.0.1/5672')).code === 0;
}

test('three new brokers form one cluster, which outlives a member and two', async () => {
  const { cloud } = await readyCloud({ spec: three });
  expect(members(cloud)).toEqual({ size: 3 });
  await expectOneCluster(cloud);
  const [first = '', second = '', third = ''] = pods;
  kill(cloud, [first]);
  await ask(cloud, second, 'add_vhost', 'later');
  await cloud.clock.advance(10_000);
  await expectOneCluster(cloud, 'later');
  kill(cloud, [second, third]);
  await cloud.clock.advance(100);
  expect(await serves(cloud, first)).toBe(false);
  await expectOneCluster(cloud, 'later');
  expect(await serves(cloud, first)).toBe(true);
});

test('after a power cut the members come back by themselves, with all that they had', async () => {
  const { cloud } = await readyCloud({ spec: three });
  await ask(cloud, pods[2] ?? '', 'add_vhost', 'later');
  kill(cloud, pods);
  await cloud.clock.advance(10_000);
  await expectOneCluster(cloud, 'later');
});

test.each([0, 2])('member %i joins again when its volume is lost', async (ordinal) => {
  const { cloud } = await readyCloud({ spec: three });
  await ask(cloud, pods[1] ?? '', 'add_vhost', 'later');
  const gone = pods[ordinal] ?? '';
  expect(await run(cloud, gone, 'rm', '-rf', '/var/lib/rabbitmq/mnesia')).toMatchObject({ code: 0 });
  kill(cloud, [gone]);
  await cloud.clock.advance(10_000);
  await expectOneCluster(cloud, 'later');
});

test('members that are cut off while they join the first one begin anew, and the first one goes on', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(three)));
  const [first = '', ...others] = pods;
  await cloud.until(() => others.every((pod) => log(cloud, pod).includes('Starting RabbitMQ')));
  await cloud.clock.advance(500);
  kill(cloud, others);
  await cloud.clock.advance(5000);
  expect(log(cloud, first)).toContain('minority');
  await expectOneCluster(cloud);
});

test('one broker of a cloud in use becomes three with its queues, and never fewer again', async () => {
  const { cloud } = await readyCloud();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { rabbitmq: { replicas: 3 } } });
  await cloud.ready();
  await expectOneCluster(cloud, 'nova');
  const queues = (await ask(cloud, pods[0] ?? '', 'list_queues')).trim().split('\n').slice(1);
  expect(queues.length).toBeGreaterThan(3);
  for (const queue of queues) for (const pod of pods) expect(queue).toContain(`rabbit@${pod}.`);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { rabbitmq: { replicas: 1 } } });
  await cloud.clock.advance(60_000);
  expect(cloud.condition(RabbitMQ, broker)?.message).toContain('1 is fewer than the 3 members that hold the queues');
  expect(members(cloud)).toEqual({ size: 3 });
  expect(pods.every((name) => cloud.isReady('Pod', name))).toBe(true);
});

test('while a member is away no other one is replaced; with all there they go one after the other', async () => {
  const { cloud } = await readyCloud({
    nodes: ['node-1', 'node-2', 'node-3'],
    spec: { ...only('rabbitmq'), rabbitmq: three.rabbitmq },
  });
  const uid = (name: string) => cloud.get('Pod', name)?.metadata.uid;
  const before = pods.map(uid);
  const [first = '', ...others] = pods;
  const { nodeName = '' } = (cloud.get('Pod', first)?.['spec'] ?? {}) as { nodeName?: string };
  cloud.rehearsal.sandbox.nodes.stop(nodeName);
  await cloud.until(() => !cloud.isReady('Pod', first), 5);
  const env = [{ name: 'NOTHING', value: 'in particular' }];
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { rabbitmq: { components: { server: { env } } } } });
  await cloud.clock.advance(120_000);
  expect(others.map(uid)).toEqual(before.slice(1));
  cloud.rehearsal.sandbox.nodes.start(nodeName);
  let fewest = pods.length;
  await cloud.until(() => {
    fewest = Math.min(fewest, pods.filter((name) => cloud.isReady('Pod', name)).length);
    return pods.every((name, index) => uid(name) !== before[index]) && isWhole(cloud)();
  }, 10);
  expect(fewest).toBe(2);
});
