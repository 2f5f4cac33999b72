import {
  controllerOf,
  controllerReference,
  isApiError,
  Job,
  type KubeObject,
  Pod,
  parseTimestamp,
  type StoredObject,
  timestamp,
} from '@openstack-operator/kube';
import {
  annotations,
  conditionOf,
  containersOf,
  fieldFor,
  fieldManager,
  type Guests,
  guestCountJob,
  type Hold,
  hasRun,
  kindReferredBy,
  rootNamed,
  rootOf,
  type Service,
  serverCount,
  services,
  takenOverVolume,
  terminationMessageOf,
} from '@openstack-operator/openstack';
import type { OperatorContext } from './context.ts';
import { gather, resolve } from './gather.ts';
import { ensureDigestKey } from './secrets/digest-key.ts';

/** Milliseconds after which a Job that has not ended is no answer: its deadline, and a minute for its end to be seen. */
const mostForJob = 240_000;

/** Milliseconds between two looks at a Job that counts. */
const whileCounting = 5000;

/** Milliseconds after which servers are counted again: their Job is gone by then. */
const untilRecount = 65_000;

/**
 * What keeps a resource that carries guests from being deleted: servers of any service that depends on it or may do so,
 * as that service counts them. Where it does not answer, they are not known, which holds as well. What never had a host
 * never had a guest, and is not asked. The annotation on the resource, or on the control plane above it, ends the
 * question.
 */
export async function holdOf(context: OperatorContext, object: StoredObject): Promise<Hold | undefined> {
  const { namespace = '' } = object.metadata;
  const owner = rootOf(object);
  const root = owner && rootNamed(owner);
  const above = root && context.cache.get(root.kind, { namespace, name: owner.name });
  if ([object, above].some((one) => one?.metadata.annotations?.[annotations.deleteWithServers] === 'true'))
    return undefined;
  const wayOut = `annotate ${object.kind} ${object.metadata.name} with ${annotations.deleteWithServers}=true to delete it all the same: what runs of them is then without network and management`;
  const takesData = ((object['spec'] ?? {}) as { deletionPolicy?: string }).deletionPolicy === 'Delete';
  for (const host of hostsOn(context, object)) {
    if (!mayHaveServers(context, host) && !(takesData && hasFormerData(context, host))) continue;
    const title = `${host.resource.kind} ${host.resource.metadata.name}`;
    const doubt = `. ${title} may depend on it, as a reference does not resolve: ${host.unresolved}`;
    const hint = `${wayOut}${host.unresolved === undefined ? '' : doubt}`;
    const found = await countOf(context, host);
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
  for (const service of takesData ? hosting : []) {
    const volume = unaskedVolume(context, object, service);
    if (volume === undefined) continue;
    const { kind } = service.kind;
    const message = `PersistentVolumeClaim ${volume.metadata.name} is of an earlier cloud, and no ${kind} is there yet to tell how many servers are in its database: wait for ${kind}, set deletionPolicy to Retain, or ${wayOut}`;
    return { reason: 'ServersUnknown', message, requeueAfter: untilRecount };
  }
  return undefined;
}

type Hosting = Service & { readonly guests: Guests };

/** The services that run guests. */
const hosting = services.filter((service): service is Hosting => service.guests !== undefined);

/** A resource that may have guests, which another one may carry. */
interface Host {
  readonly service: Hosting;
  readonly resource: StoredObject;
  /** The reference that leaves open whether they are carried, and why. */
  readonly unresolved?: string | undefined;
}

/**
 * Whether the database is on a volume that an earlier cloud has left: its servers are in there, whether there has been a
 * host since or not.
 */
function hasFormerData(context: OperatorContext, { service, resource }: Host): boolean {
  const field = fieldFor(service, 'database');
  const database = field && resolve(context, field, resource);
  return database !== undefined && 'found' in database && takenOverVolume(context, database.found) !== undefined;
}

/**
 * The volume, with the data of an earlier cloud, that would go with a control plane whose child is not there yet to be
 * asked for its servers.
 */
function unaskedVolume(context: OperatorContext, object: StoredObject, service: Hosting): StoredObject | undefined {
  const field = fieldFor(service, 'database');
  const spec = (object['spec'] ?? {}) as Readonly<Record<string, unknown>>;
  const isWanted = rootNamed(object)?.isEnabled(spec, service.child?.field ?? '') === true;
  if (field === undefined || !isWanted || context.cache.controlledBy(service.kind, object).length > 0) return undefined;
  const databases = context.cache.controlledBy(kindReferredBy(field), object);
  return databases.flatMap((one) => takenOverVolume(context, one) ?? [])[0];
}

/** What has guests that cannot be without a resource, or may be such. */
function hostsOn(context: OperatorContext, object: StoredObject): Host[] {
  const { namespace = '' } = object.metadata;
  return hosting.flatMap((service) =>
    context.cache.list(service.kind, { namespace }).flatMap((resource): Host[] => {
      const carried = carriedBy(context, object, service, resource);
      return carried === undefined ? [] : [{ service, resource, ...carried }];
    }),
  );
}

/**
 * Whether a resource is what another one is, owns, or refers to for its guests' sake. A reference that does not resolve,
 * such as one that became ambiguous, may have been to that: guests run on what it was to.
 */
function carriedBy(
  context: OperatorContext,
  object: StoredObject,
  service: Service,
  one: StoredObject,
): { unresolved?: string } | undefined {
  const { uid } = object.metadata;
  if (one.metadata.uid === uid || controllerOf(one)?.uid === uid) return {};
  for (const field of service.carriedBy ?? []) {
    const provider = service.providers?.get(field);
    const carrier = resolve(context, field, one);
    if (provider === undefined || carrier === undefined) continue;
    if ('found' in carrier) {
      const carried = carriedBy(context, object, provider, carrier.found);
      if (carried !== undefined) return carried;
    } else if (mayBeOf(context, object, provider))
      return { unresolved: `${one.kind} ${one.metadata.name}, ${carrier.missing}` };
  }
  return undefined;
}

/** Whether a resource is, or owns, one of a service or of what carries that. */
function mayBeOf(
  context: OperatorContext,
  object: StoredObject,
  { kind, carriedBy = [], providers }: Service,
): boolean {
  if (object.kind === kind.kind || context.cache.controlledBy(kind, object).length > 0) return true;
  return carriedBy.flatMap((field) => providers?.get(field) ?? []).some((carrier) => mayBeOf(context, object, carrier));
}

/** Whether there ever was a host: some have been discovered, or an agent has run. */
function mayHaveServers(context: OperatorContext, { service, resource }: Host): boolean {
  const { name, namespace = '' } = resource.metadata;
  const { discovery, component } = service.guests;
  const { jobs = {} } = (resource['status'] ?? {}) as { jobs?: Readonly<Record<string, string>> };
  if (jobs[`${name}-${discovery}`] !== undefined) return true;
  const labelSelector = { matchLabels: { 'app.kubernetes.io/name': service.name, 'app.kubernetes.io/instance': name } };
  return context.cache
    .list(Pod, { namespace, labelSelector })
    .some((pod) => pod.metadata.labels?.['app.kubernetes.io/component']?.startsWith(component) === true && hasRun(pod));
}

/** What is known of the servers of a resource. */
type Count =
  | { readonly state: 'none' }
  | { readonly state: 'some'; readonly servers: string }
  | { readonly state: 'unknown'; readonly why: string }
  | { readonly state: 'counting'; readonly job: string; readonly words: string };

/**
 * Asks the service by a Job that belongs to the resource, so that everybody who waits shares one answer. It is gone a
 * minute after its end; whoever still waits then runs it again.
 */
async function countOf(context: OperatorContext, host: Host): Promise<Count> {
  const { name, namespace = '', uid } = host.resource.metadata;
  const ref = { namespace, name: `${name}-${serverCount}` };
  const live = context.cache.get(Job, ref);
  if (live === undefined) {
    const refused = await ask(context, host);
    return refused === undefined
      ? { state: 'counting', job: ref.name, words: '' }
      : { state: 'unknown', why: refused.replace(/\.$/, '') };
  }
  if (controllerOf(live)?.uid !== uid) {
    return { state: 'unknown', why: `Job ${ref.name}, which would ask it, belongs to somebody else` };
  }
  const complete = conditionOf(live, 'Complete');
  if (live.metadata.deletionTimestamp === undefined && complete?.status === 'True') {
    // One that is kept, or outlives the controller that takes it away, says nothing of now.
    const took = parseTimestamp(complete.lastTransitionTime) - parseTimestamp(live.metadata.creationTimestamp ?? '');
    if (Math.abs(ageOf(context, live) - took) <= untilRecount) return { state: 'none' };
    await context.remove(live);
    return { state: 'counting', job: ref.name, words: '' };
  }
  const failed = conditionOf(live, 'Failed');
  const words = terminationMessageOfJob(context, live);
  if (failed?.status !== 'True' && ageOf(context, live) > mostForJob) {
    return { state: 'unknown', why: `Job ${ref.name} does not end${words === '' ? '' : ` (${words})`}` };
  }
  if (failed?.status !== 'True') return { state: 'counting', job: ref.name, words: words === '' ? '' : ` (${words})` };
  const [, servers] = /^servers: ((?:at least )?\d+)$/.exec(words) ?? [];
  if (servers !== undefined) return { state: 'some', servers: `${servers} ${servers === '1' ? 'server' : 'servers'}` };
  return { state: 'unknown', why: `Job ${ref.name}: ${words === '' ? failed.message : words}` };
}

/** Milliseconds since a Job was created, by the operator's own clock: that of the cluster may show another time. */
function ageOf({ clock }: OperatorContext, { metadata }: StoredObject): number {
  return clock.now() - parseTimestamp(metadata.annotations?.[annotations.askedAt] ?? metadata.creationTimestamp ?? '');
}

/** Creates the Job. @returns why that is not possible, such as in a namespace that is being deleted */
async function ask(context: OperatorContext, { service, resource }: Host): Promise<string | undefined> {
  try {
    const digestKey = await ensureDigestKey(context);
    if (digestKey === undefined)
      return `namespace ${resource.metadata.namespace} is being deleted, and no Job runs in it`;
    const surroundings = gather({ ...context, object: resource, digestKey }, service);
    const job = guestCountJob(service, resource, surroundings);
    const metadata = {
      ...job.metadata,
      annotations: { ...job.metadata.annotations, [annotations.askedAt]: timestamp(context.clock) },
      ownerReferences: [controllerReference(resource)],
    };
    await context.client.create<KubeObject>(Job, { ...job, metadata }, { fieldManager, signal: context.signal });
    return undefined;
  } catch (error) {
    if (context.signal.aborted) throw error;
    // Somebody else who waits has asked.
    if (isApiError(error, 409)) return undefined;
    return error instanceof Error ? error.message : String(error);
  }
}

function terminationMessageOfJob(context: OperatorContext, job: StoredObject): string {
  const messages = context.cache
    .controlledBy(Pod, job)
    .flatMap((pod) => containersOf(pod).map(({ state }) => state?.terminated?.message ?? ''));
  return terminationMessageOf(messages.find((message) => message !== '') ?? '');
}
