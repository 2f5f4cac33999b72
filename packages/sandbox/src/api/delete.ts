import {
  type KubeObject,
  parseTimestamp,
  realClock,
  type Status,
  type StoredObject,
  timestamp,
} from '@openstack-operator/kube';
import { notSupported } from '../resources/field-error.ts';
import { type Core, inVersion, requestKey, type WriteRequest } from './core.ts';
import { badRequest, conflict, forbidden, invalid, notFound } from './status.ts';
import { liveObject, review } from './write.ts';

/** `metav1.DeleteOptions`. */
export interface DeleteRequest {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
}

/** What a delete answers: the object while it is still there (and for some kinds after), else a Status. */
export type Deleted =
  | { readonly object: StoredObject; readonly gone: boolean }
  | { readonly status: Status; readonly gone: true };

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** Kinds whose DELETE answers with the object (ReturnDeletedObject), beside what is only marked. */
const RETURNED = new Set([
  'pods',
  'services',
  'namespaces',
  'serviceaccounts',
  'resourcequotas',
  'persistentvolumes',
  'persistentvolumeclaims',
  'podtemplates',
  'storageclasses.storage.k8s.io',
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'volumeattachments.storage.k8s.io',
]);

const CRDS = 'customresourcedefinitions.apiextensions.k8s.io';
/** Lifted by custom-resources.ts when no instance is left. */
export const CRD_CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);

/** Reads DeleteOptions out of a body or the query. @throws StatusError 400, 422 */
export function deleteRequest(
  body: KubeObject | undefined,
  query: URLSearchParams,
): DeleteRequest & { dryRun: boolean } {
  const from = (body ?? {}) as unknown as DeleteRequest & { dryRun?: string[] };
  const grace = query.get('gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  const orphan = query.get('orphanDependents');
  const options: DeleteRequest = body
    ? from
    : {
        ...(grace !== null && { gracePeriodSeconds: Number(grace) }),
        ...(policy !== null && { propagationPolicy: policy }),
        ...(orphan !== null && { orphanDependents: orphan === 'true' }),
      };
  const { propagationPolicy, orphanDependents } = options;
  const kind = { group: 'meta.k8s.io', kind: 'DeleteOptions' };
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    throw invalid(kind, '', [{ type: 'Invalid', field: 'propagationPolicy', value: propagationPolicy, detail }]);
  }
  if (propagationPolicy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(propagationPolicy)) {
    const error = notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']);
    throw invalid(kind, '', [error]);
  }
  if (options.gracePeriodSeconds !== undefined && !Number.isInteger(options.gracePeriodSeconds)) {
    throw badRequest(`gracePeriodSeconds: ${options.gracePeriodSeconds} is no integer`);
  }
  const dryRun = (body && from.dryRun) ?? query.getAll('dryRun');
  return { ...options, dryRun: dryRun.length > 0 };
}

/** DELETE of one object. */
export function deleteObject(core: Core, write: WriteRequest, options: DeleteRequest): Deleted {
  const { served, dryRun } = write;
  const live = liveObject(core, write);
  if (!live) throw notFound(served.groupResource, write.name);
  if (served.id === 'namespaces' && IMMORTAL.has(write.name)) {
    throw forbidden(served.groupResource, write.name, 'this namespace may not be deleted');
  }
  checkPreconditions(write, live, options);
  if (served.id === 'namespaces') {
    const left = deleteNamespace(core, write, live, options);
    if (left) return left;
  }
  const now = core.clock.now();
  const finalizers = finalizersFor(live, served.id, options);
  if (served.id === CRDS && !live.metadata.deletionTimestamp) return terminateDefinition(core, write, live, finalizers);
  const grace = served.id === 'pods' ? gracePeriod(live, options) : 0;
  review(core, write, 'DELETE', undefined, live);

  if (grace > 0 || (served.id === 'pods' && live.metadata.deletionGracePeriodSeconds)) {
    const marked = markGraceful(live, grace, options, now, finalizers);
    if (marked === 'pending') return { object: live, gone: false };
    if (marked) return { object: dryRun ? (marked as StoredObject) : put(core, write, marked), gone: false };
  }
  if (finalizers.length > 0) {
    const marked = markDeleting(live, now, finalizers);
    const same = JSON.stringify(marked) === JSON.stringify(live);
    return { object: same || dryRun ? (marked as StoredObject) : put(core, write, marked), gone: false };
  }
  if (served.id === 'jobs.batch' && options.propagationPolicy === undefined && options.orphanDependents === undefined) {
    write.warn(
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    );
  }
  const last = dryRun ? live : (core.store.remove(served.id, requestKey(write)) ?? live);
  if (RETURNED.has(served.id)) return { object: inVersion(last, served.apiVersion), gone: true };
  const { group, resource } = served.groupResource;
  const details = { name: write.name, ...(group && { group }), kind: resource, uid: live.metadata.uid };
  return { status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }, gone: true };
}

/** The grace that a pod gets: none when it never reached a node or is through. */
function gracePeriod(pod: KubeObject, options: DeleteRequest): number {
  const spec = (pod['spec'] ?? {}) as { nodeName?: string; terminationGracePeriodSeconds?: number };
  const phase = (pod['status'] as { phase?: string } | undefined)?.phase;
  const asked = options.gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 30;
  if (!spec.nodeName || phase === 'Failed' || phase === 'Succeeded') return 0;
  return asked < 0 ? 1 : asked;
}

/** Marks a pod for its kubelet; `pending` when an earlier delete already gave it less time. */
function markGraceful(
  live: StoredObject,
  grace: number,
  options: DeleteRequest,
  now: number,
  finalizers: string[],
): KubeObject | 'pending' | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds: granted } = live.metadata;
  const object = structuredClone(live) as KubeObject;
  if (finalizers.length > 0) object.metadata.finalizers = finalizers;
  if (deletionTimestamp) {
    if (!granted) return undefined;
    if (options.gracePeriodSeconds === undefined || options.gracePeriodSeconds >= granted) return 'pending';
    let period = Math.max(0, options.gracePeriodSeconds);
    let end = parseTimestamp(deletionTimestamp) - granted * 1000 + period * 1000;
    if (end < now) {
      end = now;
      if (period !== 0) period = 1;
    }
    if (period === 0 && finalizers.length === 0) return undefined;
    object.metadata.deletionTimestamp = rfc3339(end);
    object.metadata.deletionGracePeriodSeconds = period;
    return object;
  }
  object.metadata.deletionTimestamp = rfc3339(now + grace * 1000);
  object.metadata.deletionGracePeriodSeconds = grace;
  if (object.metadata.generation) object.metadata.generation += 1;
  return object;
}

/** Marks an object that stays for its finalizers. */
function markDeleting(live: StoredObject, now: number, finalizers: string[]): KubeObject {
  const object = structuredClone(live) as KubeObject;
  const { metadata } = object;
  metadata.finalizers = finalizers;
  if (!metadata.deletionTimestamp && metadata.generation) metadata.generation += 1;
  if (!metadata.deletionTimestamp || parseTimestamp(metadata.deletionTimestamp) > now) {
    metadata.deletionTimestamp = rfc3339(now);
  }
  metadata.deletionGracePeriodSeconds = 0;
  return object;
}

/** The finalizers after a delete: the garbage collector's own are set or lifted as the propagation asks. */
function finalizersFor(live: StoredObject, id: string, options: DeleteRequest): string[] {
  const before = live.metadata.finalizers ?? [];
  const others = before.filter((name) => name !== ORPHAN && name !== FOREGROUND);
  if (id === 'events' || id === 'events.events.k8s.io') return others;
  const { orphanDependents: orphan, propagationPolicy: policy } = options;
  let wanted: string | undefined;
  if (orphan !== undefined) wanted = orphan ? ORPHAN : undefined;
  else if (policy !== undefined) wanted = { Orphan: ORPHAN, Foreground: FOREGROUND }[policy];
  else wanted = before.find((name) => name === ORPHAN || name === FOREGROUND) ?? defaultPolicy(id);
  const finalizers = wanted ? [...others, wanted] : others;
  return before.length === finalizers.length && finalizers.every((name) => before.includes(name)) ? before : finalizers;
}

/** Jobs and ReplicationControllers keep their pods unless asked otherwise (DefaultGarbageCollectionPolicy). */
function defaultPolicy(id: string): string | undefined {
  return id === 'jobs.batch' || id === 'replicationcontrollers' ? ORPHAN : undefined;
}

function deleteNamespace(
  core: Core,
  write: WriteRequest,
  live: StoredObject,
  options: DeleteRequest,
): Deleted | undefined {
  const spec = live['spec'] as { finalizers?: string[] } | undefined;
  if (live.metadata.deletionTimestamp) {
    return spec?.finalizers?.length ? { object: live, gone: false } : undefined;
  }
  review(core, write, 'DELETE', undefined, live);
  const object = structuredClone(live) as KubeObject;
  object.metadata.deletionTimestamp = rfc3339(core.clock.now());
  object['status'] = { ...(object['status'] as object), phase: 'Terminating' };
  const finalizers = finalizersFor(live, '', options);
  if (finalizers.length > 0) object.metadata.finalizers = finalizers;
  else delete object.metadata.finalizers;
  return { object: write.dryRun ? (object as StoredObject) : put(core, write, object), gone: false };
}

/** Instances go first: the definition waits for them by a finalizer that DELETE itself sets. */
function terminateDefinition(core: Core, write: WriteRequest, live: StoredObject, others: string[]): Deleted {
  review(core, write, 'DELETE', undefined, live);
  const object = structuredClone(live) as KubeObject;
  const now = rfc3339(core.clock.now());
  object.metadata.deletionTimestamp = now;
  object.metadata.finalizers = [...new Set([...others, CRD_CLEANUP])];
  const status = (object['status'] ?? {}) as { conditions?: unknown[] };
  const terminating = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: now,
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  object['status'] = { ...status, conditions: [...(status.conditions ?? []), terminating] };
  return { object: write.dryRun ? (object as StoredObject) : put(core, write, object), gone: false };
}

function checkPreconditions(write: WriteRequest, live: StoredObject, options: DeleteRequest): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { groupResource, type } = write.served;
  // Upstream names the Kind here, not the plural.
  const kind = { group: groupResource.group, resource: type.kind.kind };
  if (write.served.id === 'namespaces') {
    const say = (what: string, asked: string, found: string) =>
      conflict(
        groupResource,
        write.name,
        `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${found}`,
      );
    if (uid && uid !== live.metadata.uid) throw say('UID', uid, live.metadata.uid);
    if (resourceVersion && resourceVersion !== live.metadata.resourceVersion) {
      throw say('ResourceVersion', resourceVersion, live.metadata.resourceVersion);
    }
    return;
  }
  if (uid && uid !== live.metadata.uid) {
    const because = `the UID in the precondition (${uid}) does not match the UID in record (${live.metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(kind, write.name, because);
  }
  if (resourceVersion && resourceVersion !== live.metadata.resourceVersion) {
    const because = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${live.metadata.resourceVersion}). The object might have been modified`;
    throw conflict(kind, write.name, because);
  }
}

function put(core: Core, write: WriteRequest, object: KubeObject): StoredObject {
  const stored = core.store.get(write.served.id, requestKey(write));
  const apiVersion = stored?.apiVersion ?? object.apiVersion;
  return inVersion(core.store.put(write.served.id, { ...object, apiVersion }), write.served.apiVersion);
}

function rfc3339(milliseconds: number): string {
  return timestamp({ ...realClock, now: () => milliseconds });
}
