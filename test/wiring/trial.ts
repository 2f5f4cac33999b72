import { Pod, type StoredObject } from '@openstack-operator/kube';
import { conditionOf } from '@openstack-operator/openstack';
import { type Cloud, controlPlane, createCloud } from '../rollout/cloud.ts';
import { clientImage } from './client.ts';
import type { Mutant } from './mutant.ts';
import { lying, noting, type Written } from './wire.ts';

/** What became of a cloud with one mistake in it. */
export interface Outcome {
  /** `killed`: the cloud noticed. `survived`: it is Ready and works. `broken`: the sandbox or the operator failed: a bug. */
  readonly verdict: 'killed' | 'survived' | 'broken';
  /** Who said so: the condition, with a process's last words; a process; the client. Empty for a survivor. */
  readonly words: string;
  /** Virtual seconds until then. */
  readonly seconds: number;
}

const cloudName = 'my-cloud';
const minute = 60_000;

/** Longest rollout, in virtual milliseconds; and how long it may stand still before that counts as its end. */
const patience = { whole: 20 * minute, still: 5 * minute + 10_000 };

/** Brings up a good cloud and gives back what the operator wrote for it. @throws when it does not become Ready */
export async function goodRollout(spec: Record<string, unknown>): Promise<{ written: Written; outcome: Outcome }> {
  const written: Written = new Map();
  const outcome = await rollout(spec, { wire: (transport) => noting(transport, written) });
  return { written, outcome };
}

/** Brings up a cloud with one mistake in it. */
export async function trial(mutant: Mutant, spec: Record<string, unknown>): Promise<Outcome> {
  const told = { hits: 0 };
  const outcome = await rollout(spec, {
    wire: (transport) => lying(transport, mutant, told),
    complaintsCount: mutant.lie.pretend !== undefined,
  });
  if (told.hits > 0) return outcome;
  return {
    ...outcome,
    verdict: 'broken',
    words: 'the mistake was never made: the rollout did not write what it changes',
  };
}

async function rollout(
  spec: Record<string, unknown>,
  { complaintsCount = false, ...options }: Parameters<typeof createCloud>[0] & { complaintsCount?: boolean },
): Promise<Outcome> {
  const cloud = await createCloud({ ...options, images: [clientImage] });
  const begun = cloud.clock.now();
  const seen = watch(cloud);
  const outcome = (verdict: Outcome['verdict'], words = ''): Outcome => ({
    verdict,
    words: words.replaceAll(/\s+/g, ' ').slice(0, 600),
    seconds: Math.round((cloud.clock.now() - begun) / 1000),
  });
  let crash: Error | undefined;
  try {
    const operator = await cloud.startOperator();
    operator.ended.catch((error: Error) => {
      crash = error;
    });
    await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
    const over = () =>
      seen.ready || crash !== undefined || cloud.clock.now() - Math.max(seen.changed, begun) > patience.still;
    await runUntil(cloud, over, patience.whole);
    if (crash === undefined && seen.ready && complaintsCount) await cloud.clock.advance(5 * minute);
    if (crash !== undefined) return outcome('broken', `operator: ${crash.stack}`);
    const bug = seen.complaints.find((words) => /ended with 70\b/.test(words));
    if (bug !== undefined) return outcome('broken', bug);
    if (!seen.ready) return outcome('killed', [seen.words(), ...seen.complaints.slice(-1)].filter(Boolean).join(' | '));
    if (complaintsCount && seen.complaints.length > 0) return outcome('killed', seen.complaints[0]);
    const failed = await asClient(cloud);
    return failed === undefined ? outcome('survived') : outcome('killed', `client: ${failed}`);
  } catch (error) {
    return outcome('broken', error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    cloud.rehearsal.stop();
  }
}

/** Runs until then, or until the time is over, which is no failure here. */
async function runUntil(cloud: Cloud, until: () => boolean, limit: number): Promise<void> {
  const last = cloud.clock.now() + limit;
  const wake = cloud.clock.after(limit, () => {});
  await cloud.clock.run(() => until() || cloud.clock.now() >= last, { limit: limit + minute });
  wake.cancel();
}

/** Follows what our resources say, and what processes say that end with an error. */
function watch(cloud: Cloud) {
  const resources = new Map<string, StoredObject>();
  const complaints: string[] = [];
  const seen = {
    ready: false,
    changed: 0,
    complaints,
    /** What the first one that is not Ready and waits for no other one says. */
    words: () => {
      const unready = [...resources.values()].flatMap((object) => {
        const ready = conditionOf(object, 'Ready');
        return ready?.status === 'True'
          ? []
          : [`${object.kind} ${object.metadata.name}: ${ready?.message ?? 'no status'}`];
      });
      const own = unready.filter((words) => !words.startsWith('OpenStackControlPlane'));
      return own.find((words) => !/: waiting for \w+ my-cloud/.test(words)) ?? own[0] ?? unready[0] ?? '';
    },
  };
  cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ object, old, type }) => {
    if (type === 'DELETED') return;
    if (object.apiVersion.startsWith('openstack.k8s.io/')) {
      resources.set(`${object.kind} ${object.metadata.name}`, object);
      const said = (of: StoredObject | undefined) =>
        JSON.stringify((of?.['status'] as { conditions?: unknown } | undefined)?.conditions);
      if (said(object) !== said(old)) seen.changed = cloud.clock.now();
      if (object.kind === 'OpenStackControlPlane') seen.ready = conditionOf(object, 'Ready')?.status === 'True';
    }
    if (object.kind === 'Pod' && object.metadata.namespace === 'openstack') {
      const before = old === undefined ? [] : failuresOf(old);
      complaints.push(...failuresOf(object).filter((words) => !before.includes(words)));
    }
  });
  return seen;
}

interface ContainerStatus {
  readonly name: string;
  readonly restartCount: number;
  readonly state?: { readonly terminated?: Terminated };
  readonly lastState?: { readonly terminated?: Terminated };
}
interface Terminated {
  readonly exitCode: number;
  readonly message?: string;
}

/** What containers of a pod said that ended with an error by themselves. */
function failuresOf(pod: StoredObject): string[] {
  const { containerStatuses = [], initContainerStatuses = [] } = (pod['status'] ?? {}) as {
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
  };
  const name = pod.metadata.name.replace(/(-[a-z0-9]{6,10})?-[a-z0-9]{5}$/, '');
  return [...initContainerStatuses, ...containerStatuses].flatMap((container) => {
    const terminated = container.state?.terminated ?? container.lastState?.terminated;
    if (terminated === undefined || [0, 137, 143].includes(terminated.exitCode)) return [];
    return [`${name} ${container.name} ended with ${terminated.exitCode}: ${lastLine(terminated.message)}`];
  });
}

function lastLine(message = ''): string {
  return message.trim().split('\n').at(-1) ?? '';
}

/** Uses the cloud as its administrator does. Gives what went wrong. */
async function asClient(cloud: Cloud): Promise<string | undefined> {
  const { sandbox } = cloud.rehearsal;
  const { data } = cloud.get('Secret', `${cloudName}-keystone-admin-password`) ?? { data: {} };
  const password = Buffer.from((data as { password?: string } | undefined)?.password ?? '', 'base64').toString();
  const name = 'client';
  await cloud.settle(
    sandbox.client().create(Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      // As a pod of the cloud: which of its APIs others reach is the gateway's affair.
      metadata: { name, namespace: 'openstack', labels: { 'app.kubernetes.io/part-of': 'openstack' } },
      spec: {
        restartPolicy: 'Never',
        containers: [
          {
            name,
            image: 'client',
            command: ['client'],
            env: [
              { name: 'IDENTITY_URL', value: `http://${cloudName}-keystone-api.openstack.svc:5000/v3` },
              { name: 'PASSWORD', value: password },
            ],
          },
        ],
      },
    }),
  );
  const phase = () => (cloud.get('Pod', name)?.['status'] as { phase?: string } | undefined)?.phase ?? '';
  await runUntil(cloud, () => ['Succeeded', 'Failed'].includes(phase()), 5 * minute);
  if (phase() === 'Succeeded') return undefined;
  return phase() === 'Failed'
    ? sandbox.pods.logs({ namespace: 'openstack', name })
    : `still ${phase()} after 5 minutes`;
}
