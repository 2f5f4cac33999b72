import { readFileSync } from 'node:fs';
import { realClock, sleep } from '@openstack-operator/kube';
import { beforeAll, describe, expect, test } from 'vitest';
import { controlPlane, program } from '../kubernetes.ts';
import { inNode } from '../node.ts';
import { administrator } from '../running-cloud.ts';
import { until } from '../until.ts';

/** Seconds without an acknowledged write that the loss of one member may cost: Galera takes 5 s to be sure of it. */
const bound = 10;

interface Status {
  readonly phase?: string;
  readonly message?: string;
  readonly members?: { readonly size?: number; readonly primary?: string };
}

const script = readFileSync(new URL('writer.sh', import.meta.url), 'utf8');
let namespace = '';
let name = '';

const kubectl = (...words: readonly string[]) => program('kubectl', '-n', namespace, ...words);
const pods = () => [0, 1, 2].map((ordinal) => `${name}-${ordinal}`);
const inPod = (pod: string, ...command: readonly string[]) => kubectl('exec', pod, '-c', 'server', '--', ...command);

async function status(): Promise<Status> {
  return (JSON.parse(await kubectl('get', 'mariadb', name, '-o', 'json')) as { status: Status }).status;
}

/** Waits until all members are there. @returns seconds that it took */
async function whole(seconds: number): Promise<number> {
  const begun = realClock.now();
  await until({
    what: `${name} to be Ready with three members`,
    seconds,
    probe: async () => {
      const { phase, members } = await status();
      if (phase !== 'Ready' || members?.size !== 3) return undefined;
      const ready = await kubectl('get', 'statefulset', name, '-o', 'jsonpath={.status.readyReplicas}');
      return ready === '3' || undefined;
    },
    explain: async () =>
      `${(await status()).message}\n${await kubectl('get', 'pods', '-l', `app.kubernetes.io/instance=${name}`)}`,
  });
  return Math.round((realClock.now() - begun) / 1000);
}

/** SIGKILL, from outside of their pods. */
async function kill(...members: readonly string[]): Promise<void> {
  for (const member of members) await inNode('pkill', '-KILL', '-f', `mariadbd.*--wsrep-node-name=${member} `);
}

/** Rows that a member has. */
async function rows(pod: string): Promise<number> {
  const sql = 'SELECT COUNT(*) FROM quorum.written';
  return Number(await inPod(pod, 'mariadb', '--defaults-extra-file=/run/mysqld/probe.cnf', '-BNe', sql));
}

/** Writes through what happens, from a member that it does not happen to. @returns rows acknowledged; seconds without any, at most */
async function writing(seconds: number, from: string, happens: () => Promise<void>): Promise<[number, number]> {
  const writes = inPod(from, 'bash', '-c', script, 'writer', String(seconds), name);
  await sleep(realClock, 5000);
  await happens();
  const [acknowledged = 0, longest = 0] = (await writes).split(' ').map(Number);
  expect(acknowledged).toBeGreaterThan(0);
  return [acknowledged, longest / 1000];
}

beforeAll(async () => {
  const cloud = await controlPlane();
  ({ namespace } = cloud.metadata);
  name = `${cloud.metadata.name}-mariadb`;
});

describe('the database of a cloud in use', () => {
  test('becomes a cluster of three with its data', async () => {
    const patch = JSON.stringify({ spec: { mariadb: { replicas: 3 } } });
    await kubectl(
      'patch',
      'openstackcontrolplane',
      (await controlPlane()).metadata.name,
      '--type',
      'merge',
      '-p',
      patch,
    );
    console.log(`one server became three members in ${await whole(600)} s`);
    expect(await administrator().call('identity.projects')).not.toEqual([]);
  });

  test('goes on when the member that is written to is killed, and loses nothing', async () => {
    const { members: { primary = '' } = {} } = await status();
    const other = pods().find((pod) => pod !== primary) ?? '';
    const [acknowledged, longest] = await writing(40, other, () => kill(primary));
    console.log(`the primary was killed: ${longest} s without a write`);
    expect(longest).toBeLessThan(bound);
    await whole(300);
    expect((await status()).members?.primary).not.toBe(primary);
    for (const pod of pods()) expect(await rows(pod)).toBeGreaterThanOrEqual(acknowledged);
  });

  test('comes back by itself when all members are killed at once', async () => {
    const before = await rows(pods()[0] ?? '');
    await kill(...pods());
    await until({
      what: 'the database to be away',
      seconds: 60,
      probe: async () => (await status()).phase !== 'Ready' || undefined,
    });
    console.log(`all members were killed: whole again after ${await whole(600)} s`);
    for (const pod of pods()) expect(await rows(pod)).toBe(before);
    expect(await administrator().call('identity.projects')).not.toEqual([]);
  });

  test('gives all data to a member whose volume is lost', async () => {
    const { members: { primary = '' } = {} } = await status();
    const lost = pods().find((pod) => pod !== primary) ?? '';
    const kept = pods().find((pod) => pod !== primary && pod !== lost) ?? '';
    const [acknowledged, longest] = await writing(40, kept, async () => {
      await inPod(lost, 'rm', '-rf', '/var/lib/mysql/data');
      await kill(lost);
    });
    console.log(`a member lost its volume: ${longest} s without a write`);
    expect(longest).toBeLessThan(bound);
    await whole(300);
    expect(await rows(lost)).toBeGreaterThanOrEqual(acknowledged);
  });
});
