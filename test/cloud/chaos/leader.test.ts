import { realClock } from '@openstack-operator/kube';
import { afterAll, expect, test } from 'vitest';
import { admin } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { inNode } from '../node.ts';
import { isReady, pods } from '../pods.ts';
import { until } from '../until.ts';
import { chaos } from './cloud.ts';
import { printRecoveries, recovers } from './recovery.ts';

/** What Glance rotates: its password in the database, that of its user in Keystone, and the key of what that one caches. */
const secrets = 3;

const selector = 'app.kubernetes.io/name=openstack-operator';
const system = (...words: readonly string[]) => program('kubectl', '-n', 'openstack-operator-system', ...words);
const described = () => system('describe', 'pods,leases');

/** Runs so many pods of the operator, and waits until they are Ready. */
async function scale(replicas: number): Promise<void> {
  await system('scale', 'deployment', 'openstack-operator', `--replicas=${replicas}`);
  await until({
    what: `${replicas} pods of the operator`,
    seconds: 120,
    probe: async () => {
      const found = await pods(selector);
      return (found.length === replicas && found.every(isReady)) || undefined;
    },
    explain: described,
  });
}

/** Who leads: the name of a pod, and what makes one of its processes another one than the next. */
const holder = () => system('get', 'lease', 'openstack-operator', '-o', 'jsonpath={.spec.holderIdentity}');

/** Ends the leader's process without a warning: it does not give its lease back. Gives the seconds until another one leads. */
async function killLeader(): Promise<number> {
  const before = await holder();
  const leader = (await pods(selector)).find(({ metadata }) => before.startsWith(`${metadata.name}_`));
  const id = leader?.status.containerStatuses?.[0]?.containerID?.split('//')[1] ?? '';
  const began = realClock.now();
  await inNode('ctr', '--namespace', 'k8s.io', 'tasks', 'kill', '--signal', 'SIGKILL', id);
  await until({
    what: `another leader than ${before}`,
    seconds: 120,
    probe: async () => {
      const now = await holder();
      return (now !== '' && now !== before) || undefined;
    },
    explain: described,
  });
  return (realClock.now() - began) / 1000;
}

afterAll(async () => {
  printRecoveries();
  await scale(1);
}, 300_000);

test('of two operators the one that leads is killed again and again while a password is rotated, and the other one goes on', async () => {
  const cloud = await chaos();
  const { name, namespace } = (await controlPlane()).metadata;
  const glance = (...words: readonly string[]) =>
    program('kubectl', '-n', namespace, words[0] ?? '', 'glance', `${name}-glance`, ...words.slice(1));
  const request = `${process.hrtime.bigint()}`;
  const rotated = () => glance('get', '-o', 'jsonpath={.status.rotated}');
  const requests = async () => (await rotated()).split(request).length - 1;
  const users = async () =>
    (await admin.call<{ is_enabled: boolean }[]>('identity.users')).filter(({ is_enabled: may }) => may).length;
  const before = await users();
  await scale(2);

  const times: number[] = [];
  await recovers('the leader of two operators: killed three times within a rotation', {
    ...cloud,
    within: 600,
    // Its user in Keystone is another one; the one before stays, disabled.
    changes: ['users', 'assignments'],
    happen: async () => {
      await glance('annotate', '--overwrite', `openstack.k8s.io/rotate-at=${request}`);
      for (let turn = 0; turn < 3; turn += 1) times.push(await killLeader());
      await until({
        what: 'each password of Glance to be rotated',
        seconds: 600,
        probe: async () => (await requests()) === secrets || undefined,
        explain: rotated,
      });
    },
  });
  expect(await users()).toBe(before);
  console.log(`another one led after ${times.map((time) => time.toFixed(1)).join(', ')} s`);
}, 1_800_000);
