import {
  type KubeObject,
  type OwnerReference,
  PersistentVolumeClaim,
  Pod,
  parseTimestamp,
  StatefulSet,
  type StoredObject,
} from '@openstack-operator/kube';
import type { Composition } from '../engine/compose/compose.ts';
import { digest } from '../engine/names/digest.ts';
import { annotations } from '../engine/names/names.ts';
import type { Step } from '../engine/vocabulary/step.ts';
import { type Action, nothing, type Plan, statedObjects } from './action.ts';
import type { Live } from './live.ts';
import { isQuorum } from './members.ts';
import { isReady } from './stuck-pods.ts';

/** Claim name -> uid, as it stands in `status.volumes`. */
export type Volumes = Readonly<Record<string, string>>;

type Seen = Pick<Live, 'cache' | 'resource'>;

/** The volumes of a composition: what is known of them, and the steps with a problem where one was lost. */
export interface VolumeCheck {
  readonly volumes: Volumes;
  /** `status.data`: another one when the data of a server have begun anew. */
  readonly data?: string;
  readonly steps: readonly Step[];
}

/**
 * Compares the claims of a composition with those that the status remembers. A claim with another uid is another,
 * empty volume: the step that uses it stops with a condition that names it, instead of a service that begins anew. While
 * most members of a quorum have theirs, the others get the data from them.
 */
export function checkVolumes(
  { cache, resource }: Seen,
  composition: Pick<Composition, 'steps' | 'tellsData'>,
): VolumeCheck {
  const status = (resource['status'] ?? {}) as { volumes?: Volumes; data?: string };
  const { volumes: before = {} } = status;
  // What was there before this was told of is not told of either: its Jobs would all run again.
  const isNew = Object.keys(before).length === 0;
  let { data } = status;
  const accepted = resource.metadata.annotations?.[annotations.acceptDataLoss];
  const volumes: Record<string, string> = { ...before };
  const isIntact = ({ namespace, name }: Claim) => {
    const live = cache.get(PersistentVolumeClaim, { namespace, name });
    return live !== undefined && live.metadata.uid === before[name] && live.metadata.deletionTimestamp === undefined;
  };
  const isReadyPod = (namespace: string, name: string) => {
    const found = cache.get(Pod, { namespace, name });
    return found !== undefined && isReady(found);
  };
  const claimsIn = (object: KubeObject) => {
    const claims = claimsOf(object);
    const covered = isQuorum(object) && 2 * claims.filter(isIntact).length > claims.length;
    // One of a member counts as soon as that has the data: an empty one is none of most of them.
    return claims.map(({ pod, ...claim }) => ({ ...claim, covered, pod: isQuorum(object) ? pod : undefined }));
  };
  const steps = composition.steps.map((step): Step => {
    const lost: string[] = [];
    for (const { namespace, name, pod, covered } of step.objects.flatMap((desired) =>
      'object' in desired ? claimsIn(desired.object) : [],
    )) {
      const live = cache.get(PersistentVolumeClaim, { namespace, name });
      const known = before[name];
      if (live === undefined) {
        if (known !== undefined && !covered) lost.push(`PersistentVolumeClaim ${name} was deleted`);
      } else if (known === live.metadata.uid) {
        if (live.metadata.deletionTimestamp !== undefined && !covered)
          lost.push(`PersistentVolumeClaim ${name} is being deleted, and goes when no pod uses it`);
      } else if (known !== undefined && !covered && accepted !== live.metadata.uid) {
        lost.push(`PersistentVolumeClaim ${name} was replaced by an empty one (uid ${live.metadata.uid})`);
      } else if (pod === undefined || isReadyPod(namespace, pod)) {
        volumes[name] = live.metadata.uid;
        if (known === undefined && isNew) data ??= live.metadata.uid;
        if (known !== undefined && !covered) data = live.metadata.uid;
      }
    }
    if (lost.length === 0 || step.problem !== undefined) return step;
    const way = `restore its data from a backup; then, or to begin without them, annotate this resource ${annotations.acceptDataLoss}=<uid of the claim>`;
    return { ...step, problem: { reason: 'VolumeLost', message: `${lost.join('; ')}: ${way}` } };
  });
  const isServer =
    composition.tellsData === true && statedObjects(composition.steps).some(({ kind }) => kind === StatefulSet.kind);
  return { volumes, ...(isServer && data !== undefined ? { data } : {}), steps };
}

/**
 * Whose end takes the claims of StatefulSets along: with `deletionPolicy: Delete` that of the resource, with Retain
 * nobody's. Never that of a StatefulSet, which may be deleted by hand; earlier operators had it so. Those of replicas
 * that are no more are treated alike.
 */
export function planVolumeOwners(live: Seen): Plan {
  const { cache, resource } = live;
  if (!cache.has(StatefulSet)) return nothing;
  const { deletionPolicy } = (resource['spec'] ?? {}) as { deletionPolicy?: string };
  const { name, uid } = resource.metadata;
  // Not the controller: there can be one only, and of a claim of an earlier operator's that is the StatefulSet.
  const owner = { apiVersion: resource.apiVersion, kind: resource.kind, name, uid };
  const wanted = deletionPolicy === 'Delete' ? [owner] : [];
  const sets = cache.controlledBy(StatefulSet, resource);
  if (sets.length === 0) return nothing;
  const claims = claimsByTemplate(live);
  const actions = sets.flatMap((set) =>
    volumesOf(set, claims).flatMap((claim): Action[] => {
      const { ownerReferences = [], name, uid, resourceVersion } = claim.metadata;
      // Those of a resource of this name that is no more: the garbage collector comes for them.
      if (ownerReferences.some((one) => isOf(one, resource) && one.uid !== owner.uid)) return [];
      const others = ownerReferences.filter((one) => !isOf(one, set) && one.uid !== owner.uid);
      const owners = [...others, ...wanted];
      if (digest(owners.map(uidOf)) === digest(ownerReferences.map(uidOf))) return [];
      const patch = { metadata: { uid, resourceVersion, ownerReferences: owners } };
      const act = `whose end PersistentVolumeClaim ${name} goes with`;
      return [{ verb: 'patch', reason: 'DeletionPolicy', live: claim, patch, act }];
    }),
  );
  return { actions };
}

/** A volume of a database server that is older than its resource: it holds what an earlier cloud has written. */
export function takenOverVolume(
  { cache }: Pick<Live, 'cache'>,
  { kind, metadata }: StoredObject,
): StoredObject | undefined {
  const { namespace = '', name, creationTimestamp = '' } = metadata;
  const labels = { 'app.kubernetes.io/name': kind.toLowerCase(), 'app.kubernetes.io/instance': name };
  const born = parseTimestamp(creationTimestamp);
  return cache
    .list(PersistentVolumeClaim, { namespace, labelSelector: { matchLabels: labels } })
    .find((claim) => parseTimestamp(claim.metadata.creationTimestamp ?? '') < born);
}

/** Whether a reference is to an object of that kind and name, be it an earlier one. */
function isOf({ kind, name }: OwnerReference, object: StoredObject): boolean {
  return kind === object.kind && name === object.metadata.name;
}

function uidOf({ uid }: { readonly uid: string }): string {
  return uid;
}

/** The resource's claims that are not being deleted, by their names without the ordinal. */
function claimsByTemplate({ cache, resource }: Seen): ReadonlyMap<string, readonly StoredObject[]> {
  const { name, namespace = '' } = resource.metadata;
  const matchLabels = { 'app.kubernetes.io/instance': name };
  const live = cache
    .list(PersistentVolumeClaim, { namespace, labelSelector: { matchLabels } })
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return Map.groupBy(live, ({ metadata }) => /^(.*)-\d+$/u.exec(metadata.name)?.[1] ?? '');
}

/** The claims that there are of a StatefulSet's templates, whatever its number of replicas is now. */
function volumesOf(
  { metadata, spec }: StoredObject,
  claims: ReadonlyMap<string, readonly StoredObject[]>,
): StoredObject[] {
  const { selector, volumeClaimTemplates = [] } = spec as StatefulSetSpec;
  return volumeClaimTemplates
    .flatMap((template) => claims.get(`${template.metadata.name}-${metadata.name}`) ?? [])
    .filter(({ metadata: { labels } }) =>
      selecting.every((name) => labels?.[name] !== undefined && labels[name] === selector?.matchLabels?.[name]),
    );
}

/** What our selectors hold; that of another StatefulSet may be anything, of any length. */
const selecting = ['name', 'instance', 'component'].map((name) => `app.kubernetes.io/${name}`);

interface StatefulSetSpec {
  readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  readonly replicas?: number;
}

interface Claim {
  readonly namespace: string;
  readonly name: string;
  /** Of a StatefulSet. */
  readonly pod?: string;
}

/** The claims that an object means: its own name, or those that a StatefulSet makes of its templates. */
function claimsOf({ kind, metadata: { name = '', namespace = '' }, spec }: KubeObject): Claim[] {
  if (kind === 'PersistentVolumeClaim') return [{ namespace, name }];
  if (kind !== 'StatefulSet') return [];
  const { volumeClaimTemplates: claims = [], replicas = 1 } = spec as StatefulSetSpec;
  return claims.flatMap((claim) =>
    Array.from({ length: replicas }, (_, ordinal) => ({
      namespace,
      name: `${claim.metadata.name}-${name}-${ordinal}`,
      pod: `${name}-${ordinal}`,
    })),
  );
}
