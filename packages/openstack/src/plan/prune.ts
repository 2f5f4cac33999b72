import {
  apiVersionOf,
  ControllerRevision,
  CronJob,
  controllerOf,
  Job,
  type Kind,
  type KubeObject,
  keyOf,
  Node,
  Pod,
  ReplicaSet,
  type StoredObject,
} from '@openstack-operator/kube';
import { routeKinds } from '../api/built-in-kinds.ts';
import { children } from '../control-plane/children.ts';
import type { Composition } from '../engine/compose/compose.ts';
import { cloudOf, nodeGroupLabel, resourceCount } from '../engine/names/names.ts';
import { isNodeAgent, isSelected } from '../engine/status/agents.ts';
import { conditionOf } from '../engine/status/conditions.ts';
import { referencesOf, statedOnly } from '../engine/vocabulary/dependencies.ts';
import type { Progress } from '../engine/vocabulary/step.ts';
import { dataKinds, furtherKinds, kindOf, kindReferredBy } from '../registry/kinds.ts';
import { services } from '../services/index.ts';
import { type Action, type Plan, soonest, statedObjects } from './action.ts';
import { isCleaner } from './claims.ts';
import { nodesByCloud } from './cluster-nodes.ts';
import { isHeldByUsers } from './held-kinds.ts';
import type { Hold, Live } from './live.ts';

/**
 * Kinds that we have ever composed: what of them is ours and no longer wanted goes. The list only grows, so that an
 * upgrade cleans up after every version before it. Volumes, what else holds data, and generated Secrets are never pruned: not
 * in the list, or without an owner reference.
 */
export const prunedKinds: readonly Pick<KubeObject, 'apiVersion' | 'kind'>[] = [
  { apiVersion: 'v1', kind: 'ConfigMap' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet' },
  { apiVersion: 'apps/v1', kind: 'DaemonSet' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
  ...routeKinds.map((kind) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind })),
  ...services.map(({ kind }) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind })),
  { apiVersion: 'batch/v1', kind: 'CronJob' },
  ...new Set(services.flatMap(furtherKinds))
    .values()
    .filter((kind) => !dataKinds.includes(kind))
    .map((kind) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind })),
];

/** What is not wanted any more, and of it what is not deleted yet, as the conditions that mirror it. */
export interface Prune extends Plan {
  readonly kept: readonly Progress[];
}

/**
 * Deletes what the resource owns and no step wants any more, dependents first, and what users keep something in when none is left.
 * Only for complete compositions. Agents of nodes stay until it is clear which nodes there are, as those that take their
 * place wait for that, too; and as long as there are nodes of a group that is no more.
 */
export function planPrune(live: Live, composition: Composition): Prune {
  if (!composition.complete) return { actions: [], kept: [] };
  const owned = prunedKinds.flatMap((type) => ownedOf(live, kindOf(type)));
  const actions: Action[] = [];
  const kept: Progress[] = [];
  const waits: (number | undefined)[] = [];
  for (const object of unwanted(live, composition, owned)) {
    const isRetaining = live.retaining.some(({ metadata: { uid } }) => uid === object.metadata.uid);
    const why = isRetaining ? untilItLetsGo(object) : whyKept(live, object, owned);
    if (why === undefined) actions.push({ verb: 'delete', reason: 'NotWanted', live: object });
    else {
      const { requeueAfter, ...words } = why;
      kept.push({ condition: `${object.kind}Ready`, status: 'False', ...words });
      waits.push(requeueAfter);
    }
  }
  const requeueAfter = soonest(waits);
  return { actions, kept, ...(requeueAfter === undefined ? {} : { requeueAfter }) };
}

/** What would be pruned next and users may keep something in: whether there is any is to be asked before. */
export function unwantedHeld(live: Omit<Live, 'hold'>, composition: Composition): readonly StoredObject[] {
  if (!composition.complete) return [];
  const kinds = prunedKinds.filter(isHeldByUsers);
  const owned = kinds.flatMap((type) => ownedOf(live, kindOf(type)));
  if (owned.length === 0) return [];
  const all = prunedKinds.flatMap((type) => ownedOf(live, kindOf(type)));
  const isRetaining = ({ metadata: { uid } }: StoredObject) =>
    live.retaining.some((child) => child.metadata.uid === uid);
  return [...unwanted(live, composition, owned)].filter(
    (object) => !isRetaining(object) && userOf(live, object, all) === undefined,
  );
}

type Seen = Pick<Live, 'cache' | 'resource' | 'done'>;

function* unwanted(live: Seen, composition: Composition, owned: readonly StoredObject[]): Generator<StoredObject> {
  const { done } = live;
  const nodesOpen = composition.steps.some(({ condition }) => condition === 'NodesReady') && !done.has('NodesReady');
  const wanted = new Set(statedObjects(composition.steps).map(idOf));
  const isMounted = mountsIn(live);
  const { step = '', components = [] } = composition.staying ?? {};
  const staying = new Set(done.has(step) ? [] : components);
  const early = Object.entries(composition.prunedAfter ?? {}).flatMap(([one, after]) => (done.has(after) ? [] : one));
  for (const object of owned) {
    if (wanted.has(idOf(object)) || object.metadata.deletionTimestamp !== undefined) continue;
    if (object.kind === 'ConfigMap' && isMounted(object)) continue;
    if (isNodeAgent(object) && (nodesOpen || isForStrayNodes(live, object, composition))) continue;
    const component = object.metadata.labels?.['app.kubernetes.io/component'] ?? '';
    if (staying.has(component) || early.some((one) => `${component}-`.startsWith(`${one}-`))) continue;
    // They go by themselves.
    if (isCleaner(object)) continue;
    if (component === resourceCount) continue;
    yield object;
  }
}

/** Whether agents are for nodes of a group that no other agents are for: one that is not named any more. */
function isForStrayNodes({ cache, resource }: Seen, daemonSet: StoredObject, composition: Composition): boolean {
  const group = groupOf(daemonSet);
  if (group === undefined || !cache.has(Node)) return false;
  const isServed = statedObjects(composition.steps).some((object) => groupOf(object) === group);
  return !isServed && cache.byIndex(Node, nodesByCloud, cloudOf(resource)).some((node) => isSelected(node, daemonSet));
}

/** The node group that a DaemonSet is for. */
function groupOf(object: KubeObject): string | undefined {
  if (object.kind !== 'DaemonSet') return undefined;
  const { template } = (object['spec'] ?? {}) as { template?: { spec?: { nodeSelector?: Record<string, string> } } };
  return template?.spec?.nodeSelector?.[nodeGroupLabel];
}

function ownedOf({ cache, resource }: Pick<Live, 'cache' | 'resource'>, kind: Kind): readonly StoredObject[] {
  if (!cache.has(kind) || !cache.synced(kind) || !cache.served(kind)) return [];
  return cache.controlledBy(kind, resource);
}

/** Milliseconds after which what stands beside the control plane is looked at again: its end does not wake that. */
const untilAskedAgain = 60_000;

/** Why something is not deleted yet. */
type Why = Pick<Progress, 'reason' | 'message'> & { readonly requeueAfter?: number };

/** The control plane is enqueued when it has. */
function untilItLetsGo({ kind, metadata: { name } }: StoredObject): Why {
  return { reason: 'Waiting', message: `${kind} ${name} is deleted when it has let go of its volumes and Secrets` };
}

/** A child goes when what needs it has gone, and when nothing of users is left in it. The end of siblings enqueues the control plane. */
function whyKept(live: Live, object: StoredObject, owned: readonly StoredObject[]): Why | undefined {
  const title = `${object.kind} ${object.metadata.name}`;
  const user = userOf(live, object, owned);
  if (user !== undefined) {
    const name = `${user.kind} ${user.metadata.name}`;
    if (isSibling(live, user)) {
      return { reason: 'Waiting', message: `${title} is deleted when ${name}, which needs it, is gone` };
    }
    const message = `${title} is disabled, and kept: ${name} refers to it, by name or by default; enable it, delete ${name}, or let that refer to another one`;
    return { reason: 'InUse', message, requeueAfter: untilAskedAgain };
  }
  const hold: Hold | undefined = isHeldByUsers(object) ? live.hold(object) : undefined;
  return hold && { ...hold, message: `spec.${fieldOf(object)}: ${title} is disabled, and kept: ${hold.message}` };
}

function isSibling({ resource }: Pick<Live, 'resource'>, user: StoredObject): boolean {
  return controllerOf(user)?.uid === resource.metadata.uid;
}

/** What cannot be without an object, such as is no child of the same control plane first. */
function userOf(
  live: Pick<Live, 'resource' | 'referring'>,
  object: StoredObject,
  owned: readonly StoredObject[],
): StoredObject | undefined {
  const users = usersOf(live, object, owned);
  return users.find((one) => !isSibling(live, one)) ?? users[0];
}

/**
 * What cannot be without a child: siblings that find it by themselves, and whatever of the namespace refers to it. What
 * only mentions it, and comes before it, is not among them (Neutron and its Nova).
 */
function usersOf(
  { referring }: Pick<Live, 'referring'>,
  object: StoredObject,
  owned: readonly StoredObject[],
): StoredObject[] {
  const field = fieldOf(object);
  if (field === undefined) return [];
  const finding = children.filter(({ finds }) => finds.includes(field));
  const dependent = services.flatMap((service) =>
    referencesOf(service)
      .filter((reference) => kindReferredBy(reference).kind === object.kind)
      .flatMap((reference) => {
        const all = referring(service.kind, reference, object);
        // What does without it where it states nothing does not mean the only one of the namespace.
        return statedOnly(service).includes(reference) ? all.filter((one) => isNamedBy(one, reference, object)) : all;
      }),
  );
  return [...owned.filter((one) => finding.some(({ kind }) => kind === one.kind)), ...dependent];
}

/** The field of a control plane that is about a child. */
const fieldOf = ({ kind: of }: StoredObject): string | undefined => children.find(({ kind }) => kind === of)?.field;

function isNamedBy({ spec }: StoredObject, reference: string, { metadata }: StoredObject): boolean {
  return (spec as Readonly<Record<string, { name?: string } | undefined>>)[reference]?.name === metadata.name;
}

/**
 * Tells whether anything that may still start a container mounts a ConfigMap: an old revision can be rolled back to. What
 * is mounted is looked up once for all ConfigMaps, when the first is asked for.
 */
function mountsIn({ cache, resource }: Seen): (configMap: StoredObject) => boolean {
  const { namespace = '' } = resource.metadata;
  const kinds: readonly Kind[] = [Pod, ReplicaSet, ControllerRevision, Job, CronJob];
  let mounted: ReadonlySet<string> | undefined;
  return ({ metadata: { name } }) => {
    mounted ??= new Set(
      kinds.flatMap((kind) =>
        cache.list(kind, { namespace }).flatMap((user) => (hasEnded(user) ? [] : mountedConfigMaps(user))),
      ),
    );
    return mounted.has(name);
  };
}

/** A Job or pod that has run to its end starts no container any more. */
function hasEnded(user: KubeObject): boolean {
  const { phase } = (user['status'] ?? {}) as { phase?: string };
  return ['Succeeded', 'Failed'].includes(phase ?? '') || conditionOf(user, 'Complete')?.status === 'True';
}

/** Names of the ConfigMaps that an object's pod template mounts. */
function mountedConfigMaps(object: KubeObject): string[] {
  const carrier = carrierOf(object);
  const { spec } = (carrier ?? {}) as { spec?: PodTemplate & { template?: { spec?: PodTemplate } } };
  const volumes = (object.kind === 'Pod' ? spec?.volumes : spec?.template?.spec?.volumes) ?? [];
  return volumes.flatMap(({ configMap }) => configMap?.name ?? []);
}

/** What has the pod template in its `spec`. */
function carrierOf(object: KubeObject): unknown {
  if (object.kind === 'ControllerRevision') return object['data'];
  return object.kind === 'CronJob' ? (object['spec'] as { jobTemplate?: unknown } | undefined)?.jobTemplate : object;
}

interface PodTemplate {
  readonly volumes?: readonly { readonly configMap?: { readonly name?: string } }[];
}

function idOf(object: KubeObject): string {
  return `${object.apiVersion} ${object.kind} ${keyOf(object)}`;
}
