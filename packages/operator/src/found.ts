import { Job, Pod, type StoredObject } from '@openstack-operator/kube';
import { type Composition, conditionOf, type Found, linesLeftBy } from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';

/** What Jobs have found, as the status remembers it: with what those say that have run to their end as they are stated now. */
export function foundBy(
  context: ComposeContext,
  { finds = new Map() }: Pick<Composition, 'finds'>,
  finishedJobs: Readonly<Record<string, string>>,
): { readonly found?: Found } {
  const { cache, object: resource } = context;
  const { found: before = {} } = (resource['status'] ?? {}) as { readonly found?: Found };
  let found = before;
  for (const [name, { finds: find, ofFailed }] of finds) {
    const job = cache.get(Job, { namespace: resource.metadata.namespace ?? '', name });
    if (job === undefined) continue;
    const isComplete = conditionOf(job, 'Complete')?.status === 'True';
    if (isComplete ? finishedJobs[name] === undefined : !ofFailed) continue;
    const pods = cache.controlledBy(Pod, job).sort((one, other) => (ageOf(one) < ageOf(other) ? -1 : 1));
    found = find(pods.flatMap(linesLeftBy), found);
  }
  return Object.keys(found).length === 0 ? {} : { found };
}

/** To sort by: the oldest first. */
function ageOf({ metadata: { creationTimestamp = '', name } }: StoredObject): string {
  return `${creationTimestamp} ${name}`;
}
