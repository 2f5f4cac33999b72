import { seededRandom } from '@openstack-operator/kube';
import { kindOf } from '@openstack-operator/openstack';
import { watchWorld } from '../crash-points/world.ts';
import { controlPlane } from '../rollout/cloud.ts';
import { duplicateJobs } from '../rollout/duplicate-jobs.ts';
import { differences, finalObjects } from '../rollout/normalise.ts';
import { type CloudName, type CloudOption, clouds } from './clouds.ts';
import { faults } from './faults.ts';
import { described, type Incident, longest, type Schedule, shrink, troubled } from './schedule.ts';
import { createStage, type Stage } from './stage.ts';

/** Milliseconds after which the resource is changed. */
const changed = 30_000;
/** What waits for a back-off or for a silent watch to be noticed is done by then, in minutes. */
const patience = 90;

/** The label of a pod that says which member of its StatefulSet it is. */
const member = 'statefulset.kubernetes.io/pod-name';

/** What is left when all has gone wrong that should: final objects, and how Secrets and Jobs came about. */
type End = Record<string, unknown>;
const ends = new Map<CloudName, Promise<End>>();

/** Plays a schedule. Gives what is wrong in the end: nothing, as it should be. */
export async function play(schedule: Schedule): Promise<string[]> {
  const expected = await undisturbedEnd(schedule.cloud);
  const { end, violations } = await lead(schedule);
  return [...violations, ...(typeof end === 'string' ? [end] : differences(expected, end))];
}

function undisturbedEnd(cloud: CloudName): Promise<End> {
  const known =
    ends.get(cloud) ??
    lead({ seed: 1, cloud, incidents: [] }).then(({ end }) => {
      if (typeof end === 'string') throw new Error(`undisturbed, cloud "${cloud}": ${end}`);
      return end;
    });
  ends.set(cloud, known);
  return known;
}

async function lead({ seed, cloud: size, incidents }: Schedule): Promise<{ end: End | string; violations: string[] }> {
  const { spec, bring, change }: CloudOption = clouds[size];
  const stage = await createStage(seed, seededRandom(seed));
  const { cloud, violations } = stage;
  const world = watchWorld(cloud);
  const duplicates = duplicateJobs(cloud);
  const arrived = async () => {
    await cloud.until(() => change.arrived(cloud), patience);
    await cloud.ready(patience);
  };
  try {
    stage.start();
    const resource = controlPlane(spec);
    await bring?.(cloud);
    await cloud.settle(cloud.rehearsal.create(resource));
    const begun = cloud.clock.now();
    const endings = incidents.map((incident) => arrange(stage, incident));
    await cloud.clock.advance(changed);
    // Jobs tell what was stated when they ran: all of a rollout's are to run before the change.
    await cloud.ready(patience);
    const ref = { namespace: 'openstack', name: 'my-cloud' };
    await cloud.settle(cloud.rehearsal.sandbox.client().patch(kindOf(resource), ref, 'merge', change.patch));
    const end = begun + troubled + longest;
    await cloud.clock.advance(Math.max(0, end - cloud.clock.now()));
    for (const over of endings) over();
    stage.calm();
    if (![...stage.lives].some(({ elected }) => elected)) stage.start();
    await arrived();
    await cloud.clock.advance(90_000);
    await arrived();
    return {
      end: { ...objectsOf(stage), secrets: secretsOf(world.history()) },
      violations: [...violations, ...duplicates()],
    };
  } catch (error) {
    return { end: (error as Error).message, violations };
  } finally {
    stage.close();
  }
}

/** Begins an incident at its time, and ends it at its end, or when told to. */
function arrange(stage: Stage, { fault, at, lasts, seed }: Incident): () => void {
  const { clock } = stage.cloud;
  let end: (() => void) | undefined;
  const over = () => {
    end?.();
    end = undefined;
  };
  const begin = faults[fault];
  if (begin === undefined)
    throw new Error(`there is no fault "${fault}": faults.ts has ${Object.keys(faults).join(', ')}`);
  clock.after(at, () => {
    end = begin(stage, seededRandom(seed)) ?? undefined;
  });
  clock.after(at + lasts, over);
  return over;
}

/** Which attempt of a Job succeeded, and which member of a database clients are led to, depend on what went wrong. */
function objectsOf({ cloud }: Stage): End {
  const objects = cloud.rehearsal.objects().map((object) => {
    const { 'openstack.k8s.io/attempt': _attempt, ...annotations } = object.metadata.annotations ?? {};
    if (object.kind === 'Job') return { ...object, metadata: { ...object.metadata, annotations } };
    const { selector = {} } = (object['spec'] ?? {}) as { selector?: Record<string, string> };
    // The Service of each member leads to that one.
    const leads = selector[member] !== undefined && selector[member] !== object.metadata.name;
    if (object.kind !== 'Service' || !leads) return object;
    return { ...object, spec: { ...(object['spec'] as object), selector: { ...selector, [member]: '*' } } };
  });
  return finalObjects(objects);
}

/**
 * No Secret is generated twice. What a Job reads is composed: while passwords are rotated, how often it is depends on the order in
 * which they are.
 */
function secretsOf(history: Record<string, number>): Record<string, number> {
  const isOfJob = (name: string) => history[name.replace(/^Secret (\S+?)(: .*)?$/, 'Job $1$2')] !== undefined;
  return Object.fromEntries(Object.entries(history).filter(([name]) => name.startsWith('Secret ') && !isOfJob(name)));
}

/** What to say of a failing schedule: the least that fails, and how to play it again. */
export async function explain(schedule: Schedule, found: readonly string[]): Promise<string> {
  const least = await shrink(schedule, async (smaller) => (await play(smaller)).length > 0);
  const kept = least.incidents.map(({ seed, lasts }) => `${seed - schedule.seed * 100}:${lasts}`).join(',');
  return [
    found.slice(0, 10).join('\n'),
    `the least of it that fails is ${described(least)}`,
    `again: node test/sandbox/faults/main.ts --seed ${schedule.seed} --keep ${kept}`,
  ].join('\n');
}
