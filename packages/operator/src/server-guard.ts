import {
  controllerOf,
  controllerReference,
  isApiError,
  Job,
  type Kind,
  type KubeObject,
  Pod,
  parseTimestamp,
  type StoredObject,
  timestamp,
} from '@openstack-operator/kube';
import {
  annotations,
  conditionOf,
  fieldManager,
  lastWordsOf,
  MariaDB,
  Neutron,
  Nova,
  OVNNetwork,
  type Progress,
  rootNamed,
  rootOf,
  serverCount,
  serverCountJob,
  services,
} from '@openstack-operator/openstack';
import { containersOf, hasRun } from './container-states.ts';
import { ensureDigestKey } from './digest-key.ts';
import { gather, resolve } from './gather.ts';
import type { Begun } from './pass.ts';
import { takenOverVolume } from './volumes.ts';

/** Why something may not be deleted yet, and after how many milliseconds that is to be looked at again. */
export interface Hold extends Pick<Progress, 'reason' | 'message'> {
  readonly requeueAfter: number;
}

/** Milliseconds after which a Job that has not ended is no answer: its deadline, and a minute for its end to be seen. */
const mostForJob = 240_000;

/** Milliseconds between two looks at a Job that counts. */
const whileCounting = 5000;

/** Milliseconds after which servers are counted again: their Job is gone by then. */
const untilRecount = 65_000;

/**
 * What keeps a resource that carries guests from being deleted: servers of any Nova that depends on it or may do so, as
 * Nova counts them. Where Nova does not answer, they are not known, which holds as well. A Nova that never had a host
 * never had a guest, and is not asked. The annotation on the resource, or on the control plane above it, ends the
 * question.
 */
export async function holdOf(pass: Begun, object: StoredObject): Promise<Hold | undefined> {
  const { namespace = '' } = object.metadata;
  const owner = rootOf(object);
  const root = owner && rootNamed(owner);
  const above = root && pass.cache.get(root.kind, { namespace, name: owner.name });
  if ([object, above].some((one) => one?.metadata.annotations?.[annotations.deleteWithServers] === 'true'))
    return undefined;
  const wayOut = `annotate ${object.kind} ${object.metadata.name} with ${annotations.deleteWithServers}=true to delete it all the same: what runs of them is then without network and management`;
  const spec = (object['spec'] ?? {}) as { deletionPolicy?: string } & Record<string, unknown>;
  const takesData = spec.deletionPolicy === 'Delete';
  for (const { nova, unresolved } of novasOf(pass, object)) {
    if (!mayHaveServers(pass, nova) && !(takesData && hasFormerData(pass, nova))) continue;
    const title = `Nova ${nova.metadata.name}`;
    const doubt = `. ${title} may depend on it, as a reference does not resolve: ${unresolved}`;
    const hint = `${wayOut}${unresolved === undefined ? '' : doubt}`;
    const found = await countOf(pass, nova);
    if (found.state === 'none') continue;
    if (found.state === 'counting') {
      const message = `Job ${found.job} counts the servers of ${title}${found.words}; ${hint}`;
      return { reason: 'CountingServers', message, requeueAfter: whileCounting };
    }
    const known = found.state === 'some';
    const message = known
      ? `${title} has ${found.servers}: delete them, or ${hint}`
      : `how many servers ${title} has is not known: ${found.why}. It is asked again every minute; let it answer, or ${hint}`;
    return { reason: known ? 'ServersExist' : 'ServersUnknown', message, requeueAfter: untilRecount };
  }
  const volume =
    takesData && rootNamed(object)?.isEnabled(spec, 'nova') === true ? unaskedVolume(pass, object) : undefined;
  if (volume === undefined) return undefined;
  const message = `PersistentVolumeClaim ${volume.metadata.name} is of an earlier cloud, and no Nova is there yet to tell how many servers are in its database: wait for Nova, set deletionPolicy to Retain, or ${wayOut}`;
  return { reason: 'ServersUnknown', message, requeueAfter: untilRecount };
}

/**
 * Whether a Nova's database is on a volume that an earlier cloud has left: its servers are in there, whether it has had a
 * host since or not.
 */
function hasFormerData(pass: Begun, nova: StoredObject): boolean {
  const database = resolve(pass, 'databaseRef', nova);
  return database !== undefined && 'found' in database && takenOverVolume(pass, database.found) !== undefined;
}

/**
 * The volume, with the data of an earlier cloud, that would go with a control plane whose Nova is not there yet to be
 * asked for its servers.
 */
function unaskedVolume(pass: Begun, object: StoredObject): StoredObject | undefined {
  if (pass.cache.controlledBy(Nova, object).length > 0) return undefined;
  const [found] = pass.cache.controlledBy(MariaDB, object).flatMap((one) => takenOverVolume(pass, one) ?? []);
  return found;
}

/** A Nova whose guests a resource may carry. */
interface Concerned {
  readonly nova: StoredObject;
  /** The reference that leaves open whether it does, and why. */
  readonly unresolved?: string;
}

/**
 * The Novas that cannot be without a resource: itself, the child of a control plane, and what refers to a network. A
 * reference that does not resolve, such as one that became ambiguous, may have been to the resource: guests run on what
 * it was to.
 */
function novasOf(pass: Begun, object: StoredObject): Concerned[] {
  const { uid, namespace = '' } = object.metadata;
  const isMeant = (one: StoredObject) => one.metadata.uid === uid || controllerOf(one)?.uid === uid;
  const mayBeMeant = (kind: Kind) => object.kind === kind.kind || pass.cache.controlledBy(kind, object).length > 0;
  return pass.cache.list(Nova, { namespace }).flatMap((nova): Concerned[] => {
    if (isMeant(nova)) return [{ nova }];
    const neutron = resolve(pass, 'neutronRef', nova);
    if (neutron === undefined) return [];
    if ('missing' in neutron) {
      const unresolved = `Nova ${nova.metadata.name}, ${neutron.missing}`;
      return mayBeMeant(Neutron) || mayBeMeant(OVNNetwork) ? [{ nova, unresolved }] : [];
    }
    if (isMeant(neutron.found)) return [{ nova }];
    const ovn = resolve(pass, 'ovnRef', neutron.found);
    if (ovn === undefined) return [];
    if ('missing' in ovn) {
      const unresolved = `Neutron ${neutron.found.metadata.name}, ${ovn.missing}`;
      return mayBeMeant(OVNNetwork) ? [{ nova, unresolved }] : [];
    }
    return isMeant(ovn.found) ? [{ nova }] : [];
  });
}

/** Whether a Nova ever had a host: it has discovered some, or an agent of it has run. */
function mayHaveServers(pass: Begun, { status, metadata: { name, namespace = '' } }: StoredObject): boolean {
  const { jobs = {} } = (status ?? {}) as { jobs?: Readonly<Record<string, string>> };
  if (jobs[`${name}-host-discovery`] !== undefined) return true;
  const labelSelector = { matchLabels: { 'app.kubernetes.io/name': 'nova', 'app.kubernetes.io/instance': name } };
  return pass.cache
    .list(Pod, { namespace, labelSelector })
    .some((pod) => pod.metadata.labels?.['app.kubernetes.io/component']?.startsWith('compute') === true && hasRun(pod));
}

/** What is known of a Nova's servers. */
type Count =
  | { readonly state: 'none' }
  | { readonly state: 'some'; readonly servers: string }
  | { readonly state: 'unknown'; readonly why: string }
  | { readonly state: 'counting'; readonly job: string; readonly words: string };

/**
 * Asks Nova by a Job that belongs to it, so that everybody who waits shares one answer. It is gone a minute after its
 * end; whoever still waits then runs it again.
 */
async function countOf(pass: Begun, nova: StoredObject): Promise<Count> {
  const { name, namespace = '' } = nova.metadata;
  const ref = { namespace, name: `${name}-${serverCount}` };
  const live = pass.cache.get(Job, ref);
  if (live === undefined) {
    const refused = await askNova(pass, nova);
    return refused === undefined
      ? { state: 'counting', job: ref.name, words: '' }
      : { state: 'unknown', why: refused.replace(/\.$/, '') };
  }
  if (controllerOf(live)?.uid !== nova.metadata.uid) {
    return { state: 'unknown', why: `Job ${ref.name}, which would ask it, belongs to somebody else` };
  }
  const complete = conditionOf(live, 'Complete');
  if (live.metadata.deletionTimestamp === undefined && complete?.status === 'True') {
    // One that is kept, or outlives the controller that takes it away, says nothing of now.
    const took = parseTimestamp(complete.lastTransitionTime) - parseTimestamp(live.metadata.creationTimestamp ?? '');
    if (Math.abs(ageOf(pass, live) - took) <= untilRecount) return { state: 'none' };
    await pass.remove(live);
    return { state: 'counting', job: ref.name, words: '' };
  }
  const failed = conditionOf(live, 'Failed');
  const words = lastWordsOfJob(pass, live);
  if (failed?.status !== 'True' && ageOf(pass, live) > mostForJob) {
    return { state: 'unknown', why: `Job ${ref.name} does not end${words === '' ? '' : ` (${words})`}` };
  }
  if (failed?.status !== 'True') return { state: 'counting', job: ref.name, words: words === '' ? '' : ` (${words})` };
  const [, servers] = /^servers: ((?:at least )?\d+)$/.exec(words) ?? [];
  if (servers !== undefined) return { state: 'some', servers: `${servers} ${servers === '1' ? 'server' : 'servers'}` };
  return { state: 'unknown', why: `Job ${ref.name}: ${words === '' ? failed.message : words}` };
}

/** Milliseconds since a Job was created, by the operator's own clock: that of the cluster may show another time. */
function ageOf({ clock }: Begun, { metadata }: StoredObject): number {
  return clock.now() - parseTimestamp(metadata.annotations?.[annotations.askedAt] ?? metadata.creationTimestamp ?? '');
}

/** Creates the Job. @returns why that is not possible, such as in a namespace that is being deleted */
async function askNova(pass: Begun, nova: StoredObject): Promise<string | undefined> {
  try {
    const digestKey = await ensureDigestKey(pass);
    if (digestKey === undefined) return `namespace ${nova.metadata.namespace} is being deleted, and no Job runs in it`;
    const service = services.find(({ kind }) => kind.kind === Nova.kind);
    const job = serverCountJob(nova, gather({ ...pass, object: nova, digestKey }, service));
    const metadata = {
      ...job.metadata,
      annotations: { ...job.metadata.annotations, [annotations.askedAt]: timestamp(pass.clock) },
      ownerReferences: [controllerReference(nova)],
    };
    await pass.client.create<KubeObject>(Job, { ...job, metadata }, { fieldManager, signal: pass.signal });
    return undefined;
  } catch (error) {
    if (pass.signal.aborted) throw error;
    // Somebody else who waits has asked.
    if (isApiError(error, 409)) return undefined;
    return error instanceof Error ? error.message : String(error);
  }
}

function lastWordsOfJob(pass: Begun, job: StoredObject): string {
  const messages = pass.cache
    .controlledBy(Pod, job)
    .flatMap((pod) => containersOf(pod).map(({ state }) => state?.terminated?.message ?? ''));
  return lastWordsOf(messages.find((message) => message !== '') ?? '');
}
