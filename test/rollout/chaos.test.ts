import type { RunningOperator } from '@openstack-operator/cli';
import { type Random, seededRandom } from '@openstack-operator/kube';
import type { EventFault, Faults, RequestFault } from '@openstack-operator/sandbox';
import { describe, expect, test } from 'vitest';
import { asOperator, type Cloud, controlPlane, createCloud, identityOnly, readyCloud } from './cloud.ts';
import { differences, finalObjects } from './normalise.ts';

/** `ROLLOUT_SCHEDULES=300` tries more; each seed is a schedule of its own. */
const schedules = Number(process.env['ROLLOUT_SCHEDULES'] ?? 30);

const requestFaults: readonly RequestFault[] = [
  { kind: 'status', code: 429, retryAfterSeconds: 1 },
  { kind: 'status', code: 500 },
  { kind: 'status', code: 503 },
  { kind: 'delay', ms: 3000 },
  { kind: 'drop' },
  { kind: 'dropResponse' },
  { kind: 'hang' },
];
/** What only a write meets. */
const conflict: RequestFault = { kind: 'status', code: 409, reason: 'Conflict' };
const eventFaults: readonly EventFault[] = [
  { kind: 'delay', ms: 5000 },
  { kind: 'close' },
  { kind: 'break' },
  { kind: 'status', code: 410, reason: 'Expired' },
];

const one = <T>(random: Random, choices: readonly T[]): T => choices[Math.floor(random.next() * choices.length)] as T;

/** Faults of one schedule: only the operator meets them, and only while `on`. */
function faultsOf(random: Random, state: { on: boolean }, rate: number): Faults {
  const ours = ({ user }: { user: { name: string } }) => state.on && user.name === 'operator';
  return {
    request: (info) =>
      ours(info) && random.next() < (info.verb === 'watch' ? rate / 10 : rate)
        ? one(random, info.method === 'GET' ? requestFaults : [...requestFaults, conflict])
        : undefined,
    event: (info) => (ours(info) && random.next() < rate / 4 ? one(random, eventFaults) : undefined),
  };
}

/** Jobs that were made twice with the same inputs, although none of them had failed. */
function duplicateJobs(cloud: Cloud): () => string[] {
  const runs = new Map<string, number>();
  cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ type, object }) => {
    if (object.kind !== 'Job' || type !== 'ADDED') return;
    const id = `${object.metadata.name} ${object.metadata.annotations?.['openstack.k8s.io/inputs']}`;
    if (object.metadata.annotations?.['openstack.k8s.io/attempt'] === undefined) runs.set(id, (runs.get(id) ?? 0) + 1);
  });
  return () => [...runs].filter(([, count]) => count > 1).map(([id, count]) => `${id}: ${count} times`);
}

const end = async (cloud: Cloud) => {
  await cloud.ready(60);
  // What waits for its back-off is done as well.
  await cloud.clock.advance(60_000);
  await cloud.ready(60);
};

describe('whatever goes wrong, the same objects, and each Job once', () => {
  test(`${schedules} schedules of faults, deaths and two operators at once`, async () => {
    const { cloud: whole } = await readyCloud({ spec: identityOnly });
    await whole.clock.advance(60_000);
    const expected = finalObjects(whole.rehearsal.objects());
    for (let seed = 1; seed <= schedules; seed++) {
      const random = seededRandom(seed);
      const state = { on: true };
      const cloud = await createCloud({ seed, server: { faults: faultsOf(random, state, 0.02 + random.next() / 10) } });
      const duplicates = duplicateJobs(cloud);
      const operators: RunningOperator[] = [await cloud.startOperator(asOperator)];
      await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
      for (let turn = 0; turn < 3; turn++) {
        await cloud.clock.advance(random.next() * 12_000);
        const kind = one(random, ['second', 'kill', 'stop', 'nothing'] as const);
        if (kind === 'second' && operators.length < 2) operators.push(await cloud.startOperator(asOperator));
        if (kind === 'kill') operators.shift()?.kill();
        if (kind === 'stop') await cloud.settle(operators.shift()?.stop() ?? Promise.resolve());
        if (operators.length === 0) operators.push(await cloud.startOperator(asOperator));
      }
      await cloud.clock.advance(random.next() * 60_000);
      state.on = false;
      await end(cloud);
      const found = differences(expected, finalObjects(cloud.rehearsal.objects()));
      expect(found, `seed ${seed}`).toEqual([]);
      expect(duplicates(), `seed ${seed}`).toEqual([]);
      for (const operator of operators) operator.kill();
      cloud.rehearsal.stop();
    }
  }, 600_000);
});

describe('two operators', () => {
  test('of one lease: the second waits, and goes on where the first was killed', async () => {
    const cloud = await createCloud();
    const duplicates = duplicateJobs(cloud);
    const first = await cloud.startOperator({ identity: 'first' });
    const second = cloud.rehearsal.startOperator({ identity: 'second' });
    const agents = new Set<string>();
    await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
    await cloud.clock.advance(6000);
    first.kill();
    await cloud.settle(second);
    await cloud.ready();
    agents.add(
      (
        (cloud.get('Lease', 'openstack-operator', 'openstack-operator-system')?.['spec'] ?? {}) as {
          holderIdentity: string;
        }
      ).holderIdentity,
    );
    expect([...agents]).toEqual(['second']);
    expect(duplicates()).toEqual([]);
  });
});
