import { realClock, sleep } from '@openstack-operator/kube';
import { beforeAll, describe, expect, test } from 'vitest';
import { controlPlane, program } from '../kubernetes.ts';
import { administrator } from '../running-cloud.ts';
import { until } from '../until.ts';

/** Seconds without an acknowledged write that the loss of one member may cost: an election takes one or two. */
const bound = 10;

interface Status {
  readonly phase?: string;
  readonly message?: string;
  readonly northboundDBEndpoint?: string;
}

/** Counts in a row until the time is over; prints how far it was acknowledged, and the longest time in ms between two that were. */
const writer = `end=$(($(date +%s) + $1)) count=0 longest=0 last=$(date +%s%3N)
while [ "$(date +%s)" -lt "$end" ]; do
  if ovn-nbctl --timeout=5 --db="$2" set address_set quorum "external_ids:count=$((count + 1))" 2> /dev/null; then
    count=$((count + 1)) now=$(date +%s%3N)
    if [ $((now - last)) -gt "$longest" ]; then longest=$((now - last)); fi
    last=$now
  fi
done
echo "$count $longest"`;

let namespace = '';
let name = '';

const kubectl = (...words: readonly string[]) => program('kubectl', '-n', namespace, ...words);
const podsOf = (side: 'nb' | 'sb') => [0, 1, 2].map((ordinal) => `${name}-${side}-db-${ordinal}`);
const inPod = (pod: string, ...command: readonly string[]) => kubectl('exec', pod, '--', ...command);

/** Where the members of the northbound database answer: its client would not find three names in time. */
async function remotes(): Promise<string> {
  const addresses = podsOf('nb').map((pod) => kubectl('get', 'service', pod, '-o', 'jsonpath={.spec.clusterIP}'));
  return (await Promise.all(addresses)).map((address) => `tcp:${address}:6641`).join(',');
}

async function status(): Promise<Status> {
  return (JSON.parse(await kubectl('get', 'ovnnetwork', name, '-o', 'json')) as { status: Status }).status;
}

/** Waits until all members of both databases are there. @returns seconds that it took */
async function whole(seconds: number): Promise<number> {
  const begun = realClock.now();
  await until({
    what: `${name} to be Ready with three members of each database`,
    seconds,
    probe: async () => {
      if ((await status()).phase !== 'Ready') return undefined;
      for (const side of ['nb', 'sb']) {
        const set = `${name}-${side}-db`;
        const ready = await kubectl(
          'get',
          'statefulset',
          set,
          '-o',
          'jsonpath={.status.readyReplicas} {.status.updatedReplicas}',
        );
        if (ready !== '3 3') return undefined;
      }
      return true;
    },
    explain: async () =>
      `${(await status()).message}\n${await kubectl('get', 'pods', '-l', `app.kubernetes.io/instance=${name}`)}`,
  });
  return Math.round((realClock.now() - begun) / 1000);
}

/** SIGKILL of servers of the northbound database. */
async function kill(...members: readonly string[]): Promise<void> {
  await Promise.all(members.map((member) => inPod(member, 'bash', '-c', 'kill -KILL "$(cat /run/ovn/ovnnb_db.pid)"')));
}

const cluster = (pod: string) =>
  inPod(pod, 'ovn-appctl', '-t', '/run/ovn/ovnnb_db.ctl', 'cluster/status', 'OVN_Northbound');

async function leader(): Promise<string> {
  for (const pod of podsOf('nb')) if ((await cluster(pod)).includes('Role: leader')) return pod;
  throw new Error(`no member of the northbound database of ${name} leads`);
}

/** How many servers count. */
const servers = async (pod: string) => (await cluster(pod)).match(/ at tcp:/g)?.length ?? 0;

/** How far a writer came, as one member has it. */
async function written(pod: string): Promise<number> {
  const words = ['--timeout=10', '--no-leader-only', '--db=unix:/run/ovn/ovnnb_db.sock'];
  return Number(
    (await inPod(pod, 'ovn-nbctl', ...words, 'get', 'address_set', 'quorum', 'external_ids:count')).replaceAll('"', ''),
  );
}

/** Writes through what happens, from a member that it does not happen to. @returns writes acknowledged; seconds without any, at most */
async function writing(seconds: number, from: string, happens: () => Promise<void>): Promise<[number, number]> {
  const writes = inPod(from, 'bash', '-c', writer, 'writer', String(seconds), await remotes());
  await sleep(realClock, 5000);
  await happens();
  const [acknowledged = 0, longest = 0] = (await writes).split(' ').map(Number);
  expect(acknowledged).toBeGreaterThan(0);
  return [acknowledged, longest / 1000];
}

beforeAll(async () => {
  const cloud = await controlPlane();
  ({ namespace } = cloud.metadata);
  name = `${cloud.metadata.name}-ovn`;
});

describe("OVN's databases of a cloud in use", () => {
  test('become clusters of three with their data', async () => {
    const networks = await administrator().call('network.networks');
    const patch = JSON.stringify({ spec: { ovnNetwork: { northboundDBReplicas: 3, southboundDBReplicas: 3 } } });
    const { metadata } = await controlPlane();
    await kubectl('patch', 'openstackcontrolplane', metadata.name, '--type', 'merge', '-p', patch);
    await until({
      what: `${name} to say where its members are`,
      seconds: 120,
      probe: async () => (await status()).northboundDBEndpoint?.includes(',') || undefined,
    });
    console.log(`one server of each database became three members in ${await whole(600)} s`);
    for (const pod of podsOf('nb')) expect(await servers(pod)).toBe(3);
    await kubectl('wait', 'openstackcontrolplane', metadata.name, '--for=condition=Ready', '--timeout=600s');
    expect(await administrator().call('network.networks')).toEqual(networks);
    await inPod(podsOf('nb')[0] ?? '', 'ovn-nbctl', `--db=${await remotes()}`, 'create', 'address_set', 'name=quorum');
  });

  test('go on when the leader is killed, and lose nothing', async () => {
    const killed = await leader();
    const other = podsOf('nb').find((pod) => pod !== killed) ?? '';
    const [acknowledged, longest] = await writing(40, other, () => kill(killed));
    console.log(`the leader was killed: ${longest} s without a write`);
    expect(longest).toBeLessThan(bound);
    await whole(300);
    for (const pod of podsOf('nb')) expect(await written(pod)).toBeGreaterThanOrEqual(acknowledged);
  });

  test('come back by themselves when all members are killed at once', async () => {
    const before = await written(podsOf('nb')[0] ?? '');
    await kill(...podsOf('nb'));
    await sleep(realClock, 10_000);
    console.log(`all members were killed: whole again after ${10 + (await whole(600))} s`);
    for (const pod of podsOf('nb')) expect(await written(pod)).toBe(before);
  });

  test.each([0, 2])('take member %i, whose volume is lost, under a new identity', async (ordinal) => {
    const lost = podsOf('nb')[ordinal] ?? '';
    const kept = podsOf('nb')[1] ?? '';
    const identity = (await cluster(lost)).slice(0, 4);
    const [acknowledged, longest] = await writing(40, kept, async () => {
      await inPod(lost, 'rm', '-rf', '/var/lib/ovn/data');
      await kill(lost);
    });
    console.log(`a member lost its volume: ${longest} s without a write`);
    expect(longest).toBeLessThan(bound);
    await whole(300);
    await until({
      what: `${lost} to have its old identity removed`,
      seconds: 60,
      probe: async () => (await servers(kept)) === 3 || undefined,
      explain: () => cluster(kept),
    });
    expect((await cluster(lost)).slice(0, 4)).not.toBe(identity);
    expect(await written(lost)).toBeGreaterThanOrEqual(acknowledged);
  });

  test('carry networks that are made afterwards', async () => {
    const cloud = administrator();
    const made = await cloud.call<{ id: string }>('network.create_network', { name: 'after-quorum' });
    await cloud.call('network.delete_network', { network: made.id });
  });
});
