import { controllerReference, keyOf, type OwnerReference } from '@openstack-operator/kube';
import { refusedWith } from '../cluster/cluster.ts';
import {
  type ControllerRevision,
  PersistentVolumeClaim,
  Pod,
  type StatefulSet,
  type Stored,
} from '../cluster/kinds.ts';
import { cloneJson } from '../resources/json.ts';
import type { ControllerContext } from './controller.ts';
import { podFromTemplate } from './pods.ts';
import { REVISION_LABEL, templateOf } from './revisions.ts';

type ClaimTemplate = NonNullable<StatefulSet['spec']['volumeClaimTemplates']>[number];

/** The number at the end of a member's name; -1 when it is none. */
export function ordinalOf({ metadata }: Stored<Pod>): number {
  const match = /-(\d+)$/.exec(metadata.name);
  return match ? Number(match[1]) : -1;
}

/** Creates a member with its claims. @throws StatusError when the API server refuses */
export function createMember(
  set: Stored<StatefulSet>,
  ordinal: number,
  revision: Stored<ControllerRevision>,
  context: ControllerContext,
): void {
  const { cluster, recorder } = context;
  const name = `${set.metadata.name}-${ordinal}`;
  const say = `Create Pod ${name} in StatefulSet ${set.metadata.name}`;
  try {
    createMissingClaims(set, ordinal, context);
    const pod = podFromTemplate(templateOf(revision), set, { name });
    pod.metadata.generateName = `${set.metadata.name}-`;
    pod.metadata.labels = {
      ...pod.metadata.labels,
      'statefulset.kubernetes.io/pod-name': name,
      'apps.kubernetes.io/pod-index': String(ordinal),
      [REVISION_LABEL]: revision.metadata.name,
    };
    pod.spec.hostname = name;
    if (set.spec.serviceName) pod.spec.subdomain = set.spec.serviceName;
    const claims = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? '');
    const others = (pod.spec.volumes ?? []).filter((volume) => !claims.includes(volume.name));
    if (claims.length + others.length > 0) {
      const own = claims.map((claim) => ({
        name: claim,
        persistentVolumeClaim: { claimName: claimName(set, claim, ordinal) },
      }));
      pod.spec.volumes = [...own, ...others];
    }
    cluster.create(Pod, pod);
    recorder.record(set, 'SuccessfulCreate', `${say} successful`);
  } catch (error) {
    // The name is taken by a pod that is not ours, or not gone yet: its change wakes us.
    if (refusedWith(error, 409)) return;
    const message = error instanceof Error ? error.message : String(error);
    recorder.record(set, 'FailedCreate', `${say} failed error: ${message}`, { type: 'Warning' });
    throw error;
  }
}

/** Deletes a member. */
export function deleteMember(
  set: Stored<StatefulSet>,
  pod: Stored<Pod>,
  { cluster, recorder }: ControllerContext,
): void {
  cluster.delete(Pod, pod);
  const message = `Delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
  recorder.record(set, 'SuccessfulDelete', message);
}

/** Makes the claims of a member that are not there. A claim that is being deleted is waited for. */
export function createMissingClaims(
  set: Stored<StatefulSet>,
  ordinal: number,
  { cluster, recorder }: ControllerContext,
): void {
  const pod = `${set.metadata.name}-${ordinal}`;
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const name = claimName(set, template.metadata?.name ?? '', ordinal);
    const key = `${set.metadata.namespace}/${name}`;
    if (cluster.get(PersistentVolumeClaim, key)) continue;
    cluster.create(PersistentVolumeClaim, claimFor(set, template, name));
    const say = `Create Claim ${name} Pod ${pod} in StatefulSet ${set.metadata.name} success`;
    recorder.record(set, 'SuccessfulCreate', say);
  }
}

function claimFor(set: Stored<StatefulSet>, template: ClaimTemplate, name: string): PersistentVolumeClaim {
  const { labels, annotations } = template.metadata ?? {};
  const owners = claimOwners(set, undefined);
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      ...(set.metadata.namespace && { namespace: set.metadata.namespace }),
      labels: { ...labels, ...set.spec.selector.matchLabels },
      ...(annotations && { annotations: { ...annotations } }),
      ...(owners.length > 0 && { ownerReferences: owners }),
    },
    spec: cloneJson(template.spec ?? {}),
  };
}

/** Sets owners of a member's claims as `persistentVolumeClaimRetentionPolicy` asks. */
export function retainClaims(
  set: Stored<StatefulSet>,
  pod: Stored<Pod>,
  condemned: boolean,
  { cluster }: ControllerContext,
): void {
  const owners = claimOwners(set, condemned ? pod : undefined);
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const key = `${set.metadata.namespace}/${claimName(set, template.metadata?.name ?? '', ordinalOf(pod))}`;
    const claim = cluster.get(PersistentVolumeClaim, key);
    if (!claim || claim.metadata.deletionTimestamp) continue;
    const foreign = (claim.metadata.ownerReferences ?? []).filter(
      ({ kind, name }) =>
        !(kind === 'StatefulSet' && name === set.metadata.name) && !(kind === 'Pod' && name === pod.metadata.name),
    );
    const wanted = [...foreign, ...owners];
    const ids = (references: readonly OwnerReference[]) =>
      references
        .map(({ uid }) => uid)
        .sort()
        .join();
    if (ids(wanted) === ids(claim.metadata.ownerReferences ?? [])) continue;
    cluster.update(PersistentVolumeClaim, keyOf(claim), ({ metadata }) => {
      metadata.ownerReferences = wanted;
    });
  }
}

function claimOwners(set: Stored<StatefulSet>, condemned: Stored<Pod> | undefined): OwnerReference[] {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  if (condemned && whenScaled === 'Delete') {
    const { name, uid } = condemned.metadata;
    return [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true, blockOwnerDeletion: true }];
  }
  return whenDeleted === 'Delete' ? [controllerReference(set)] : [];
}

function claimName(set: Stored<StatefulSet>, template: string, ordinal: number): string {
  return `${template}-${set.metadata.name}-${ordinal}`;
}
