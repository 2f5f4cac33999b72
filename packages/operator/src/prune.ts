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
import {
  type Composition,
  children,
  cloudOf,
  conditionOf,
  isNodeAgent,
  isSelected,
  kindOf,
  kindReferredBy,
  nodeGroupLabel,
  type Progress,
  referencesOf,
  serverCount,
  services,
} from '@openstack-operator/openstack';
import { nodesByCloud } from './cluster-nodes.ts';
import { referringTo } from './concerned.ts';
import { carriesGuests } from './guest-carriers.ts';
import type { Pass } from './pass.ts';
import { isCleaner } from './released-nodes.ts';
import { holdOf } from './server-guard.ts';

/**
 * Kinds that we have ever composed: what of them is ours and no longer wanted goes. The list only grows, so that an
 * upgrade cleans up after every version before it. Volumes and generated Secrets are never pruned: not in the list, or
 * without an owner reference.
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
  { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute' },
  ...services.map(({ kind }) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind })),
  { apiVersion: 'batch/v1', kind: 'CronJob' },
];

/** Something that is switched off and not deleted yet, as the condition that mirrors it. */
export interface Kept extends Progress {
  /** Milliseconds after which that is to be looked at again by itself. */
  readonly requeueAfter?: number;
}

/**
 * Deletes what the resource owns and no step wants any more, dependents first, and what carries guests when none is left.
 * Only for complete compositions. Agents of nodes stay until it is clear which nodes there are, as those that take their
 * place wait for that, too; and as long as there are nodes of a group that is no more.
 * @param met conditions that are met
 * @param retaining children that have not let go yet of data that are to stay
 * @returns what is kept for now
 */
export async function prune(
  pass: Pass,
  composition: Composition,
  met: ReadonlySet<string>,
  retaining: readonly StoredObject[],
): Promise<readonly Kept[]> {
  if (!composition.complete) return [];
  const nodesOpen = composition.steps.some(({ condition }) => condition === 'NodesReady') && !met.has('NodesReady');
  const wanted = new Set(
    composition.steps.flatMap(({ objects }) =>
      objects.flatMap((desired) => ('object' in desired ? [idOf(desired.object)] : [])),
    ),
  );
  const owned = prunedKinds.flatMap((type) => ownedOf(pass, kindOf(type)));
  const kept: Kept[] = [];
  const isMounted = mountsIn(pass);
  for (const object of owned) {
    if (wanted.has(idOf(object)) || object.metadata.deletionTimestamp !== undefined) continue;
    if (object.kind === 'ConfigMap' && isMounted(object)) continue;
    if (isNodeAgent(object) && (nodesOpen || isForStrayNodes(pass, object, composition))) continue;
    // They go by themselves.
    if (isCleaner(object)) continue;
    if (object.metadata.labels?.['app.kubernetes.io/component'] === serverCount) continue;
    const isRetaining = retaining.some(({ metadata: { uid } }) => uid === object.metadata.uid);
    const why = isRetaining ? untilItLetsGo(object) : await whyKept(pass, object, owned);
    if (why === undefined) await pass.remove(object);
    else kept.push({ condition: `${object.kind}Ready`, status: 'False', ...why });
  }
  return kept;
}

/** Whether agents are for nodes of a group that no other agents are for: one that is not named any more. */
function isForStrayNodes(pass: Pass, daemonSet: StoredObject, composition: Composition): boolean {
  const group = groupOf(daemonSet);
  if (group === undefined || !pass.cache.has(Node)) return false;
  const isServed = composition.steps.some(({ objects }) =>
    objects.some((desired) => 'object' in desired && groupOf(desired.object) === group),
  );
  return (
    !isServed &&
    pass.cache.byIndex(Node, nodesByCloud, cloudOf(pass.object)).some((node) => isSelected(node, daemonSet))
  );
}

/** The node group that a DaemonSet is for. */
function groupOf(object: KubeObject): string | undefined {
  if (object.kind !== 'DaemonSet') return undefined;
  const { template } = (object['spec'] ?? {}) as { template?: { spec?: { nodeSelector?: Record<string, string> } } };
  return template?.spec?.nodeSelector?.[nodeGroupLabel];
}

function ownedOf(pass: Pass, kind: Kind): readonly StoredObject[] {
  if (!pass.cache.has(kind) || !pass.cache.synced(kind) || !pass.cache.served(kind)) return [];
  return pass.cache.controlledBy(kind, pass.object);
}

/** Milliseconds after which what stands beside the control plane is looked at again: its end does not wake that. */
const untilAskedAgain = 60_000;

/** It wakes the control plane when it has. */
function untilItLetsGo({ kind, metadata: { name } }: StoredObject): Omit<Kept, 'condition' | 'status'> {
  return { reason: 'Waiting', message: `${kind} ${name} is deleted when it has let go of its volumes and Secrets` };
}

/** A child goes when what needs it has gone, and when no guest is left on it. The end of siblings wakes the control plane. */
async function whyKept(
  pass: Pass,
  object: StoredObject,
  owned: readonly StoredObject[],
): Promise<Omit<Kept, 'condition' | 'status'> | undefined> {
  const title = `${object.kind} ${object.metadata.name}`;
  const users = usersOf(pass, object, owned);
  const isSibling = (user: StoredObject) => controllerOf(user)?.uid === pass.object.metadata.uid;
  const user = users.find((one) => !isSibling(one)) ?? users[0];
  if (user !== undefined) {
    const name = `${user.kind} ${user.metadata.name}`;
    if (isSibling(user)) {
      return { reason: 'Waiting', message: `${title} is deleted when ${name}, which needs it, is gone` };
    }
    const message = `${title} is switched off, and kept: ${name} refers to it, by name or by default; enable it, delete ${name}, or let that refer to another one`;
    return { reason: 'InUse', message, requeueAfter: untilAskedAgain };
  }
  const hold = carriesGuests(object) ? await holdOf(pass, object) : undefined;
  return hold && { ...hold, message: `${title} is switched off, and kept: ${hold.message}` };
}

/**
 * What cannot be without a child: siblings that find it by themselves, and whatever of the namespace refers to it. What
 * only mentions it, and comes before it, is not among them (Neutron and its Nova).
 */
function usersOf(pass: Pass, object: StoredObject, owned: readonly StoredObject[]): StoredObject[] {
  const field = children.find(({ kind }) => kind === object.kind)?.field;
  if (field === undefined) return [];
  const finding = children.filter(({ finds }) => finds.includes(field));
  const referring = services.flatMap((service) =>
    referencesOf(service)
      .filter((reference) => kindReferredBy(reference).kind === object.kind)
      .flatMap((reference) => referringTo(service.kind, reference, [object], pass.cache)),
  );
  return [...owned.filter((one) => finding.some(({ kind }) => kind === one.kind)), ...referring];
}

/**
 * Tells whether anything that may still start a container mounts a ConfigMap: an old revision can be rolled back to. What
 * is mounted is looked up once for all ConfigMaps, when the first is asked for.
 */
function mountsIn({ cache, object }: Pass): (configMap: StoredObject) => boolean {
  const { namespace = '' } = object.metadata;
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
