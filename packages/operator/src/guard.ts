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
  type HeldBy,
  type Hold,
  hasRun,
  kindReferredBy,
  resourceCount,
  resourceCountJob,
  rootNamed,
  rootOf,
  type Service,
  services,
  takenOverVolume,
  terminationMessageOf,
} from '@openstack-operator/openstack';
import type { OperatorContext } from './context.ts';
import { gather, resolve } from './gather.ts';
import { ensureDigestKey } from './secrets/digest-key.ts';
import { policyOf } from './secrets/retention.ts';

/** Milliseconds after which a Job that has not ended is no answer: its deadline, and a minute for its end to be seen. */
const mostForJob = 240_000;

/** Milliseconds between two looks at a Job that counts. */
const whileCounting = 5000;

/** Milliseconds after which all is counted again: their Job is gone by then. */
const untilRecount = 65_000;

/**
 * What of users keeps a resource from being deleted, as the services that have it count it: servers, of any service that
 * depends on the resource or may do so; and what else is kept in a service that is disabled, or goes with its data. Where a
 * service does not answer that is not known, which holds as well. What nobody can have kept anything in is not asked. The
 * annotation on the resource, or on the control plane above it, ends the question.
 */
export async function holdOf(context: OperatorContext, object: StoredObject): Promise<Hold | undefined> {
  if (
    [object, rootAbove(context, object)].some(
      (one) => one?.metadata.annotations?.[annotations.deleteWithResources] === 'true',
    )
  )
    return undefined;
  const found: (Count & { readonly host: Host })[] = [];
  for (const host of hostsOn(context, object)) {
    const count = await countOf(context, host);
    if (count.state !== 'none') found.push({ ...count, host });
  }
  return found.length > 0 ? holdBy(object, found) : unaskedHold(context, object);
}

/** The control plane of a child; undefined for others, and when it is gone. */
function rootAbove(context: OperatorContext, object: StoredObject): StoredObject | undefined {
  const owner = rootOf(object);
  const root = owner && rootNamed(owner);
  return root && context.cache.get(root.kind, { namespace: object.metadata.namespace ?? '', name: owner.name });
}

/** In words: what there is, what is not known, and while there is neither what is being counted. */
function holdBy(object: StoredObject, found: readonly (Count & { readonly host: Host })[]): Hold {
  const say = (state: Count['state'], words: (one: (typeof found)[number], title: string) => string) =>
    found
      .filter((one) => one.state === state)
      .map((one) => words(one, `${one.host.resource.kind} ${one.host.resource.metadata.name}`));
  const some = say('some', ({ words }, title) => `${title} has ${words}`);
  const unknown = say(
    'unknown',
    ({ words, host }, title) =>
      `how many ${namesOf(host.service)} ${title} has is not known: ${words.replace(/\.$/, '')}`,
  );
  const counting = say(
    'counting',
    ({ words, host }, title) => `Job ${words} counts the ${namesOf(host.service)} of ${title}`,
  );
  const doubts = found.flatMap(({ host: { resource, unresolved } }) =>
    unresolved === undefined
      ? []
      : [
          `. ${resource.kind} ${resource.metadata.name} may depend on it, as a reference does not resolve: ${unresolved}`,
        ],
  );
  const ways = waysOut(object, found);
  const requeueAfter = counting.length > 0 ? whileCounting : untilRecount;
  if (some.length > 0) {
    const message = `${[...unknown, ...some].join('; ')}: ${either(['delete them', ...ways])}${doubts.join('')}`;
    return { reason: 'ResourcesExist', message, requeueAfter };
  }
  if (unknown.length > 0) {
    const message = `${unknown.join('; ')}. It is asked again every minute; ${either(['let it answer', ...ways])}${doubts.join('')}`;
    return { reason: 'ResourcesUnknown', message, requeueAfter };
  }
  const message = `${counting.join('; ')}; ${either(ways)}${doubts.join('')}`;
  return { reason: 'CountingResources', message, requeueAfter };
}

const either = (ways: readonly string[]): string =>
  [...ways.slice(0, -1), `or ${ways.at(-1)}`].join(', ').replace(/^or /, '');

const namesOf = ({ heldBy }: Held): string => heldBy.counts.map(({ of }) => of).join(' and ');

/** What else than an end of what is kept lets a resource go, or stay, and what comes of that. */
function waysOut(object: StoredObject, found: readonly { readonly host: Host }[]): string[] {
  const forced = `annotate ${object.kind} ${object.metadata.name} with ${annotations.deleteWithResources}=true`;
  if (object.metadata.deletionTimestamp === undefined) {
    const loss = lossOf(found, 'they stay then, and nothing manages them');
    return ['enable it again', `${forced} to disable it all the same: ${loss}`];
  }
  const loss = lossOf(found, 'what is known of them is lost then');
  const retain = found.some(({ host }) => isGuests(host)) ? [] : ['set deletionPolicy to Retain'];
  return [...retain, `${forced} to delete it all the same: ${loss}`];
}

function lossOf(found: readonly { readonly host: Host }[], otherwise: string): string {
  return found.some(({ host }) => isGuests(host))
    ? 'what runs of them is then without network and management'
    : otherwise;
}

type Held = Service & { readonly heldBy: HeldBy };

/** The services that users keep something in. */
const held = services.filter((service): service is Held => service.heldBy !== undefined);

/** A resource that something may be kept in, which another one may carry. */
interface Host {
  readonly service: Held;
  readonly resource: StoredObject;
  /** The reference that leaves open whether it is carried, and why. */
  readonly unresolved?: string | undefined;
  /** Whether it is the database that goes: what runs goes on, and what is known of it is lost. */
  readonly isStored?: true | undefined;
}

/** Whether what holds a service runs beside its pods, on what goes. */
const isGuests = ({ service, isStored }: Host): boolean => service.carriedBy !== undefined && isStored !== true;

/**
 * Whether the database is on a volume that an earlier cloud has left: what users kept is in there, whether the service has
 * been up since or not.
 */
function hasFormerData(context: OperatorContext, { service, resource }: Host): boolean {
  const field = fieldFor(service, 'database');
  const database = field && resolve(context, field, resource);
  return database !== undefined && 'found' in database && takenOverVolume(context, database.found) !== undefined;
}

/** That a volume, with the data of an earlier cloud, would go with a control plane whose child is not there yet to be asked. */
function unaskedHold(context: OperatorContext, object: StoredObject): Hold | undefined {
  for (const service of policyOf(object) === 'Delete' ? held : []) {
    const volume = unaskedVolume(context, object, service);
    if (volume === undefined) continue;
    const { kind } = service.kind;
    const message = `PersistentVolumeClaim ${volume.metadata.name} is of an earlier cloud, and no ${kind} is there yet to tell how many ${namesOf(service)} are in its database: wait for ${kind}, set deletionPolicy to Retain, or annotate ${object.kind} ${object.metadata.name} with ${annotations.deleteWithResources}=true to delete it all the same: what is known of them is lost then`;
    return { reason: 'ResourcesUnknown', message, requeueAfter: untilRecount };
  }
  return undefined;
}

function unaskedVolume(context: OperatorContext, object: StoredObject, service: Held): StoredObject | undefined {
  const field = fieldFor(service, 'database');
  const spec = (object['spec'] ?? {}) as Readonly<Record<string, unknown>>;
  const isWanted = rootNamed(object)?.isEnabled(spec, service.child?.field ?? '') === true;
  if (field === undefined || !isWanted || context.cache.controlledBy(service.kind, object).length > 0) return undefined;
  const databases = context.cache.controlledBy(kindReferredBy(field), object);
  return databases.flatMap((one) => takenOverVolume(context, one) ?? [])[0];
}

/** What is asked before a resource goes: what has something of users that is carried by it, or may be, and may be lost. */
function hostsOn(context: OperatorContext, object: StoredObject): Host[] {
  const { namespace = '', deletionTimestamp } = object.metadata;
  const takesData = policyOf(object) === 'Delete';
  const isLost = deletionTimestamp === undefined || takesData;
  return held.flatMap((service) =>
    context.cache.list(service.kind, { namespace }).flatMap((resource): Host[] => {
      const carried =
        carriedBy(context, object, service, resource) ??
        (takesData ? storedIn(context, object, service, resource) : undefined);
      if (carried === undefined || !isCounted(service, resource)) return [];
      const host: Host = { service, resource, ...carried };
      const isAsked = mayKeep(context, host) || (takesData && hasFormerData(context, host));
      return isAsked && (isLost || isGuests(host)) ? [host] : [];
    }),
  );
}

/** Whether what is known of what a resource keeps is in a database, or may be. */
function storedIn(
  context: OperatorContext,
  object: StoredObject,
  service: Service,
  one: StoredObject,
): Pick<Host, 'isStored' | 'unresolved'> | undefined {
  const field = fieldFor(service, 'database');
  const database = field && resolve(context, field, one);
  if (field === undefined || database === undefined) return undefined;
  if ('found' in database) return database.found.metadata.uid === object.metadata.uid ? { isStored: true } : undefined;
  return kindReferredBy(field).kind === object.kind
    ? { isStored: true, unresolved: `${one.kind} ${one.metadata.name}, ${database.missing}` }
    : undefined;
}

/** Whether anybody may count what a service keeps. */
function isCounted({ heldBy: { unlessRule } }: Held, { spec }: StoredObject): boolean {
  const { policy = {} } = (spec ?? {}) as { policy?: Readonly<Record<string, string>> };
  return unlessRule === undefined || Object.hasOwn(policy, unlessRule);
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

/** Whether anybody can ever have kept something: the API has been there, or what `since` names has run. */
function mayKeep(context: OperatorContext, { service, resource }: Host): boolean {
  const { name, namespace = '' } = resource.metadata;
  const { since } = service.heldBy;
  const { jobs = {}, readyGeneration } = (resource['status'] ?? {}) as {
    jobs?: Readonly<Record<string, string>>;
    readyGeneration?: number;
  };
  if (since === undefined ? readyGeneration !== undefined : jobs[`${name}-${since.job}`] !== undefined) return true;
  const labelSelector = { matchLabels: { 'app.kubernetes.io/name': service.name, 'app.kubernetes.io/instance': name } };
  const isOf = (pod: StoredObject) => pod.metadata.labels?.['app.kubernetes.io/component'];
  return context.cache
    .list(Pod, { namespace, labelSelector })
    .some((pod) =>
      since === undefined
        ? isOf(pod) === service.identity?.catalogue[0]?.component && conditionOf(pod, 'Ready')?.status === 'True'
        : isOf(pod)?.startsWith(since.component) === true && hasRun(pod),
    );
}

/** What is known of what is kept in a resource, in words: how much; why nobody knows; which Job counts it. */
interface Count {
  readonly state: 'none' | 'some' | 'unknown' | 'counting';
  readonly words: string;
}

/**
 * Asks the service by a Job that belongs to the resource, so that everybody who waits shares one answer. It is gone a
 * minute after its end; whoever still waits then runs it again.
 */
async function countOf(context: OperatorContext, host: Host): Promise<Count> {
  const { name, namespace = '', uid } = host.resource.metadata;
  const ref = { namespace, name: `${name}-${resourceCount}` };
  const live = context.cache.get(Job, ref);
  if (live === undefined) {
    const refused = await ask(context, host);
    return refused === undefined ? { state: 'counting', words: ref.name } : { state: 'unknown', words: refused };
  }
  if (controllerOf(live)?.uid !== uid) {
    return { state: 'unknown', words: `Job ${ref.name}, which would ask it, belongs to somebody else` };
  }
  const complete = conditionOf(live, 'Complete');
  if (live.metadata.deletionTimestamp === undefined && complete?.status === 'True') {
    // One that is kept, or outlives the controller that takes it away, says nothing of now.
    const took = parseTimestamp(complete.lastTransitionTime) - parseTimestamp(live.metadata.creationTimestamp ?? '');
    if (Math.abs(ageOf(context, live) - took) <= untilRecount) return { state: 'none', words: '' };
    await context.remove(live);
    return { state: 'counting', words: ref.name };
  }
  const failed = conditionOf(live, 'Failed');
  const words = terminationMessageOfJob(context, live);
  const said = words === '' ? '' : ` (${words})`;
  if (failed?.status !== 'True' && ageOf(context, live) > mostForJob) {
    return { state: 'unknown', words: `Job ${ref.name} does not end${said}` };
  }
  if (failed?.status !== 'True') return { state: 'counting', words: `${ref.name}${said}` };
  const some = amountsIn(words);
  if (some !== undefined) return { state: 'some', words: some };
  return { state: 'unknown', words: `Job ${ref.name}: ${words === '' ? failed.message : words}` };
}

/** What `openstack-operator count` has found, such as `volumes: 3, backups: 1`, as a sentence has it; undefined for other words. */
function amountsIn(words: string): string | undefined {
  const amounts = words.split(', ').map((one) => {
    const [, of = '', number] = /^([a-z ]+): ((?:at least )?\d+)$/.exec(one) ?? [];
    return number && `${number} ${number === '1' ? of.replace(/s$/, '') : of}`;
  });
  return amounts.every((one) => one !== undefined) ? amounts.join(' and ') : undefined;
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
    const job = resourceCountJob(service, resource, surroundings);
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
