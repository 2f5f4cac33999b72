import { readFileSync } from 'node:fs';
import { realClock, sleep } from '@openstack-operator/kube';
import { beforeAll, describe, expect, test } from 'vitest';
import { controlPlane, program } from '../kubernetes.ts';
import { administrator } from '../running-cloud.ts';
import { until } from '../until.ts';

/** Seconds without a confirmed message that the loss of one member may cost. */
const bound = 15;

interface Status {
  readonly phase?: string;
  readonly message?: string;
  readonly members?: { readonly size?: number };
}

const script = readFileSync(new URL('publisher.py', import.meta.url), 'utf8');
let namespace = '';
let cloud = '';
let name = '';

const kubectl = (...words: readonly string[]) => program('kubectl', '-n', namespace, ...words);
const pods = () => [0, 1, 2].map((ordinal) => `${name}-${ordinal}`);
const inPod = (pod: string, ...command: readonly string[]) => kubectl('exec', pod, '-c', 'server', '--', ...command);
const publisher = (...words: readonly string[]) =>
  kubectl('exec', `deploy/${cloud}-nova-conductor`, '--', 'python3', '-c', script, ...words);

async function status(): Promise<Status> {
  return (JSON.parse(await kubectl('get', 'rabbitmq', name, '-o', 'json')) as { status: Status }).status;
}

async function isWhole(): Promise<boolean> {
  const { phase, members } = await status();
  if (phase !== 'Ready' || members?.size !== 3) return false;
  const path = 'jsonpath={.status.readyReplicas} {.status.updatedReplicas}';
  return (await kubectl('get', 'statefulset', name, '-o', path)) === '3 3';
}

/** Waits until all members are there. @returns seconds that it took */
async function whole(seconds: number): Promise<number> {
  const begun = realClock.now();
  await until({
    what: `${name} to be Ready with three members`,
    seconds,
    probe: async () => (await isWhole()) || undefined,
    explain: async () =>
      `${(await status()).message}\n${await kubectl('get', 'pods', '-l', `app.kubernetes.io/instance=${name}`)}`,
  });
  return Math.round((realClock.now() - begun) / 1000);
}

/** SIGKILL, with what else happens to it. */
async function kill(members: readonly string[], before = 'true'): Promise<void> {
  const script = `pkill -STOP beam.smp; ${before}; pkill -KILL beam.smp`;
  // The container ends, and the command with it.
  await Promise.allSettled(members.map((member) => inPod(member, 'bash', '-c', script)));
}

/** Waits until somebody misses a member. */
async function missed(): Promise<void> {
  await until({
    what: 'the broker to miss a member',
    seconds: 60,
    probe: async () => {
      const ready = await kubectl('get', 'statefulset', name, '-o', 'jsonpath={.status.readyReplicas}');
      return ready !== '3' || undefined;
    },
  });
}

/** Publishes through what happens. @returns messages confirmed; seconds without any, at most */
async function publishing(seconds: number, happens?: () => Promise<void>): Promise<[number, number]> {
  const publishes = publisher('publish', String(seconds));
  await sleep(realClock, 5000);
  await happens?.();
  const [confirmed = 0, longest = 0] = (await publishes).split(' ').map(Number);
  expect(confirmed).toBeGreaterThan(0);
  return [confirmed, longest / 1000];
}

/** Names of members on which some queue has no replica. */
async function lacking(): Promise<string[]> {
  const vhosts = (await inPod(pods()[0] ?? '', 'rabbitmqctl', '-q', '--no-table-headers', 'list_vhosts')).split('\n');
  const found = new Set<string>();
  for (const vhost of vhosts) {
    const words = ['list_queues', '-p', vhost, 'type', 'members'];
    const listed = await inPod(pods()[0] ?? '', 'rabbitmqctl', '-q', '--no-table-headers', ...words);
    for (const line of listed.split('\n').filter((one) => one.startsWith('quorum')))
      for (const pod of pods()) if (!line.includes(`rabbit@${pod}.`)) found.add(`${pod}: ${line}`);
  }
  return [...found];
}

/** Nova's API asks the compute service of a server's host, by the broker. */
async function servicesCall(): Promise<void> {
  const [server] = await administrator().call<{ id: string }[]>('compute.servers');
  if (server === undefined) throw new Error('the cloud has no server');
  await administrator().call('compute.get_server_console_output', server.id);
}

beforeAll(async () => {
  ({ namespace, name: cloud } = (await controlPlane()).metadata);
  name = `${cloud}-rabbitmq`;
});

describe('the broker of a cloud in use', () => {
  test('becomes a cluster of three with its queues, and serves meanwhile', async () => {
    const patch = JSON.stringify({ spec: { rabbitmq: { replicas: 3 } } });
    await kubectl('patch', 'openstackcontrolplane', cloud, '--type', 'merge', '-p', patch);
    const grown = whole(600);
    let confirmed = 0;
    let longest = 0;
    do {
      const [more, gap] = await publishing(20);
      confirmed += more;
      longest = Math.max(longest, gap);
    } while (!(await isWhole()));
    console.log(`one broker became three members in ${await grown} s: ${longest} s without a message at most`);
    expect(longest).toBeLessThan(bound);
    expect(await lacking()).toEqual([]);
    expect(Number(await publisher('count'))).toBeGreaterThanOrEqual(confirmed);
    await servicesCall();
  });

  test('goes on when a member is killed, and loses nothing', async () => {
    const [confirmed, longest] = await publishing(40, () => kill(pods().slice(0, 1)));
    console.log(`a member was killed: ${longest} s without a message`);
    expect(longest).toBeLessThan(bound);
    await whole(300);
    expect(Number(await publisher('count'))).toBeGreaterThanOrEqual(confirmed);
    await servicesCall();
  });

  test('comes back by itself when all members are killed at once', async () => {
    const [confirmed] = await publishing(10);
    await kill(pods());
    await missed();
    console.log(`all members were killed: whole again after ${await whole(600)} s`);
    expect(Number(await publisher('count'))).toBeGreaterThanOrEqual(confirmed);
    await servicesCall();
  });

  test.each([0, 2])('takes member %i back when its volume is lost', async (ordinal) => {
    const lost = pods()[ordinal] ?? '';
    const [confirmed, longest] = await publishing(40, () => kill([lost], 'rm -rf /var/lib/rabbitmq/mnesia'));
    console.log(`member ${ordinal} lost its volume: ${longest} s without a message`);
    expect(longest).toBeLessThan(bound);
    await whole(300);
    expect(await lacking()).toEqual([]);
    expect(Number(await publisher('count'))).toBeGreaterThanOrEqual(confirmed);
    await servicesCall();
  });
});
