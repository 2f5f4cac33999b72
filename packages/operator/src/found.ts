import { CronJob, Job, Pod, type StoredObject } from '@openstack-operator/kube';
import { type Composition, conditionOf, type Found, linesLeftBy, type Told } from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';
import { redactor } from './secrets/redact.ts';

/**
 * What Jobs and CronJobs have found, as the status remembers it: with what those say that have run to their end, Jobs as
 * they are stated now.
 */
export function foundBy(
  context: ComposeContext,
  { finds = new Map() }: Pick<Composition, 'finds'>,
  finishedJobs: Readonly<Record<string, string>>,
): { readonly found?: Found } {
  const { cache, object: resource } = context;
  const { found: before = {} } = (resource['status'] ?? {}) as { readonly found?: Found };
  const runs = [...finds].flatMap(([name, { finds: find, ofFailed }]) => {
    const ref = { namespace: resource.metadata.namespace ?? '', name };
    const [job, cronJob] = [cache.get(Job, ref), cache.get(CronJob, ref)];
    const isComplete = (one: StoredObject) => conditionOf(one, 'Complete')?.status === 'True';
    const own = job && (isComplete(job) ? finishedJobs[name] !== undefined : ofFailed) ? [job] : [];
    const scheduled = cronJob ? cache.controlledBy(Job, cronJob).filter((one) => ofFailed || isComplete(one)) : [];
    return [...own, ...scheduled].map((one) => {
      const pods = cache.controlledBy(Pod, one).sort((pod, other) => (ageOf(pod) < ageOf(other) ? -1 : 1));
      return { find, age: pods.map(ageOf).at(-1) ?? '', words: pods.flatMap(linesLeftBy) };
    });
  });
  // What several say of the same, the last one knows.
  const inOrder = runs.sort((one, other) => (one.age < other.age ? -1 : 1));
  const found = inOrder.reduce((known, { find, words }) => find(words, known), before);
  return Object.keys(found).length === 0 ? {} : { found };
}

/** What Jobs and CronJobs have seen last, as fields of the status: what the newest of their pods says that has left any words. */
export function toldBy(context: ComposeContext, { tells = new Map() }: Pick<Composition, 'tells'>): Told {
  const { cache, object: resource } = context;
  const redact = redactor(context);
  const left = [...tells].flatMap(([name, tell]) => {
    const ref = { namespace: resource.metadata.namespace ?? '', name };
    const [job, cronJob] = [cache.get(Job, ref), cache.get(CronJob, ref)];
    const jobs = [...(job ? [job] : []), ...(cronJob ? cache.controlledBy(Job, cronJob) : [])];
    const pods = jobs.flatMap((one) => cache.controlledBy(Pod, one));
    const said = pods.map((pod) => ({ tell, age: ageOf(pod), words: linesLeftBy(pod).map(redact) }));
    return [{ tell, age: '', words: [] }, ...said.filter(({ words }) => words.length > 0)];
  });
  const newest = left.sort((one, other) => (one.age < other.age ? 1 : -1))[0];
  return newest === undefined ? {} : newest.tell(newest.words, (resource['status'] ?? {}) as Told);
}

/** To sort by: the oldest first. */
function ageOf({ metadata: { creationTimestamp = '', name } }: StoredObject): string {
  return `${creationTimestamp} ${name}`;
}
