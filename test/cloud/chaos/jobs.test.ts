import { realClock, sleep, timestamp } from '@openstack-operator/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program } from '../kubernetes.ts';
import { ours } from '../pods.ts';
import { until } from '../until.ts';
import { chaos } from './cloud.ts';
import { type Chaos, printRecoveries, recovers } from './recovery.ts';

let cloud: Chaos;
beforeAll(async () => {
  cloud = await chaos();
}, 900_000);
afterAll(printRecoveries);

interface Job {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

async function jobs(): Promise<Job[]> {
  const text = await program('kubectl', 'get', 'jobs', '--all-namespaces', '-l', ours, '-o', 'json');
  return (JSON.parse(text) as { items: Job[] }).items;
}

const kinds = ['keystones', 'glances', 'placements', 'neutrons', 'novas'].map((kind) => `${kind}.openstack.k8s.io`);

/** Asks for another run of every Job, as the documentation says. */
async function askAgain(): Promise<void> {
  const annotation = `openstack.k8s.io/reconcile-at=${timestamp(realClock)}`;
  await program('kubectl', 'annotate', kinds.join(','), '--all-namespaces', '--all', '--overwrite', annotation);
}

/** Those of them that have not run anew, to their end. */
async function notRun(before: readonly Job[]): Promise<Job[]> {
  const now = await jobs();
  return before.filter(({ metadata: { name, uid } }) => {
    const other = now.find(({ metadata }) => metadata.name === name && metadata.uid !== uid);
    return other === undefined || !isComplete(other);
  });
}

function isComplete({ status }: Job): boolean {
  return (status.conditions ?? []).some(({ type, status }) => type === 'Complete' && status === 'True');
}

test('finished Jobs that are deleted are not missed', async () => {
  await recovers('all Jobs deleted', {
    ...cloud,
    happen: async () => {
      await program('kubectl', 'delete', 'jobs', '--all-namespaces', '-l', ours);
      await sleep(realClock, 10_000); // what would run them again is an event; nothing tells that there is none
      expect(await jobs(), 'the status knows that they have run').toEqual([]);
    },
  });
});

test('Jobs that run a second time end in the same rows', async () => {
  await recovers('all Jobs run again', {
    ...cloud,
    happen: async () => {
      await askAgain();
      await until({ what: 'Jobs', seconds: 300, probe: async () => ((await jobs()).length > 0 ? true : undefined) });
      await settled();
    },
    within: 300,
  });
});

test('Jobs that are killed anywhere end in the same rows', async () => {
  const before = await jobs();
  await recovers('all Jobs run again, each killed', {
    ...cloud,
    happen: async () => {
      const killed = new Set<string>();
      await askAgain();
      await until({
        what: 'all Jobs to have run again',
        seconds: 1800,
        probe: async () => {
          for (const job of (await running()).filter((one) => !killed.has(one))) {
            killed.add(job);
            const pods = ['pods', '--all-namespaces', '-l', `job-name=${job}`];
            await program('kubectl', 'delete', ...pods, '--force', '--grace-period=0');
          }
          return (await notRun(before)).length === 0 ? true : undefined;
        },
        explain: async () => (await notRun(before)).map(({ metadata }) => metadata.name).join(', '),
      });
      process.stdout.write(`killed while they ran: ${[...killed].sort().join(', ')}\n`);
      expect(killed.size).toBeGreaterThan(0);
    },
    within: 600,
  });
});

/** Names of the Jobs of which a container runs now. */
async function running(): Promise<string[]> {
  const path = 'jsonpath={range .items[*]}{.metadata.labels.job-name}{"\\n"}{end}';
  const selection = ['-l', `${ours},job-name`, '--field-selector=status.phase=Running'];
  const names = await program('kubectl', 'get', 'pods', '--all-namespaces', ...selection, '-o', path);
  return names.split('\n').filter((name) => name !== '');
}

/** Waits until no Job is on its way, nor about to be: they come one after the other. */
async function settled(): Promise<void> {
  let quiet = 0;
  await until({
    what: 'all Jobs to have ended',
    seconds: 1200,
    probe: async () => {
      const open = (await jobs()).filter((job) => !isComplete(job));
      quiet = open.length === 0 ? quiet + 1 : 0;
      return quiet >= 30 ? true : undefined;
    },
  });
}
