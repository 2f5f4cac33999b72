import { type KubeObject, type StoredObject, timestamp, uuid } from '@openstack-operator/kube';
import { invalid as invalidField } from '../resources/field-error.ts';
import { cloneJson, deepEqual } from '../resources/json.ts';
import type { FieldError } from '../resources/resource-type.ts';
import { type AdmissionRequest, type Core, inVersion, requestKey, type WriteRequest } from './core.ts';
import { type Applied, applyConfig, type FieldWrite, RESET, recordUpdate } from './field-manager.ts';
import type { FieldSet } from './field-set.ts';
import type { ServedType } from './registry.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  generateNameConflict,
  invalid,
  notFound,
  OPTIMISTIC_LOCK,
  StatusError,
} from './status.ts';

/** What a write came to. */
export interface Written {
  readonly object: StoredObject;
  readonly created: boolean;
}

/** Kinds that a PUT may create (AllowCreateOnUpdate). */
const CREATED_BY_UPDATE = new Set([
  'events',
  'limitranges',
  'services',
  'endpoints',
  'leases.coordination.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'runtimeclasses.node.k8s.io',
]);

/** Built-in kinds whose PUT must carry a resourceVersion (AllowUnconditionalUpdate false), beside all custom ones. */
const GUARDED_UPDATE =
  /^(leases\.coordination|poddisruptionbudgets\.policy|runtimeclasses\.node|csi\w+\.storage|volumeattachments\.storage|\w+\.admissionregistration|customresourcedefinitions\.apiextensions)\b/;

/** POST: stores a new object. `body` is decoded and owned by the caller; it is changed in place. */
export function createObject(core: Core, write: WriteRequest, body: KubeObject): StoredObject {
  const { metadata } = body;
  for (const field of ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    delete metadata[field];
  }
  if ('selfLink' in metadata) delete metadata['selfLink'];
  alignNamespace(write, body);
  const object = admit(core, write, 'CREATE', body);
  return insert(core, write, object, (prepared) => recordUpdate(undefined, prepared, fieldWrite(core, write)));
}

/** PUT: replaces what is stored. */
export function replaceObject(core: Core, write: WriteRequest, body: KubeObject): Written {
  alignNamespace(write, body);
  checkName(write, body);
  const live = liveObject(core, write);
  const mayCreate = write.subresource === '' && CREATED_BY_UPDATE.has(write.served.id);
  const { uid } = body.metadata;
  if (uid && (live || mayCreate) && uid !== live?.metadata.uid) {
    throw uidPrecondition(write, uid, live?.metadata.uid ?? '');
  }
  if (!live && mayCreate) return { object: createObject(core, write, body), created: true };
  if (!live) throw notFound(write.served.groupResource, write.name);
  return { object: update(core, write, live, body), created: false };
}

/** PATCH (merge, json, strategic): `patch` makes the new object of a copy of the live one. */
export function patchObject(core: Core, write: WriteRequest, patch: (live: KubeObject) => KubeObject): Written {
  const live = liveObject(core, write);
  if (!live) throw notFound(write.served.groupResource, write.name);
  const body = patch(cloneJson(live) as KubeObject);
  alignNamespace(write, body);
  checkName(write, body);
  return { object: update(core, write, live, body), created: false };
}

/** Server-side apply: creates or merges. */
export function applyObject(core: Core, write: WriteRequest, config: KubeObject, force: boolean): Written {
  const live = liveObject(core, write);
  const { type, apiVersion, groupResource } = write.served;
  const kind = `${config.apiVersion?.includes('/') ? '' : '/'}${config.apiVersion ?? ''}, Kind=${config.kind ?? ''}`;
  if (config.kind !== type.kind.kind || config.apiVersion !== apiVersion)
    throw badRequest(`invalid object type: ${kind}`);
  if (!live && write.subresource !== '') throw notFound(groupResource, write.name);
  const applied: Applied = applyConfig(live, config, fieldWrite(core, write), force);
  const body = applied.object;
  if (!live && body.metadata.uid) {
    const because = `uid mismatch: the provided object specified uid ${body.metadata.uid}, and no existing object was found`;
    throw conflict(groupResource, write.name, because);
  }
  alignNamespace(write, body);
  checkName(write, body);
  const complaint = type.decode(body);
  if (complaint) throw new StatusError(500, 'InternalError', complaint);
  if (live) return { object: update(core, write, live, body, true), created: false };
  // What is not there has none that could differ.
  delete body.metadata.resourceVersion;
  return { object: insert(core, write, admit(core, write, 'CREATE', body), undefined), created: true };
}

/** The stored object of a request in the request's version. */
export function liveObject(
  core: Core,
  write: Pick<WriteRequest, 'served' | 'namespace' | 'name'>,
): StoredObject | undefined {
  const stored = core.store.get(write.served.id, requestKey(write));
  return stored && inVersion(stored, write.served.apiVersion);
}

/** Tells the mutating plugins of a write; gives the object, maybe changed. */
export function admit(
  core: Core,
  write: WriteRequest,
  operation: AdmissionRequest['operation'],
  object: KubeObject,
  old?: StoredObject,
): KubeObject {
  const request = admissionRequest(write, operation, object, old);
  for (const plugin of core.admission) plugin.mutate?.(request);
  return object;
}

/** Asks the validating plugins. */
export function review(
  core: Core,
  write: WriteRequest,
  operation: AdmissionRequest['operation'],
  object?: KubeObject,
  old?: StoredObject,
): void {
  const request = admissionRequest(write, operation, object, old);
  for (const plugin of core.admission) plugin.validate?.(request);
}

function admissionRequest(
  write: WriteRequest,
  operation: AdmissionRequest['operation'],
  object?: KubeObject,
  old?: StoredObject,
): AdmissionRequest {
  const { served, namespace, subresource, user, dryRun, warn } = write;
  const name = write.name || object?.metadata.name || '';
  return {
    operation,
    served,
    namespace,
    name,
    subresource,
    user,
    dryRun,
    warn,
    ...(object && { object }),
    ...(old && { old }),
  };
}

function insert(
  core: Core,
  write: WriteRequest,
  object: KubeObject,
  record: ((object: KubeObject) => void) | undefined,
): StoredObject {
  const { type, id, groupResource } = write.served;
  const { metadata } = object;
  const generated = Boolean(metadata.generateName) && !metadata.name;
  if (generated) metadata.name = generateName(core, metadata.generateName ?? '');
  metadata.creationTimestamp = timestamp(core.clock);
  metadata.uid = uuid(core.random);
  if (type.hasGeneration) metadata.generation = 1;
  else delete metadata.generation;
  if (hasStatus(write.served)) delete object['status'];
  type.prepareForCreate(object);
  record?.(object);
  fail(write, object, type.validateCreate(object));
  review(core, write, 'CREATE', object);
  if (metadata.resourceVersion) {
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
  }
  const key = requestKey({ namespace: write.namespace, name: metadata.name ?? '' });
  const there = core.store.get(id, key);
  if (there) {
    const error = generated
      ? generateNameConflict(groupResource, metadata.name ?? '')
      : alreadyExists(groupResource, metadata.name ?? '');
    if (there.metadata.deletionTimestamp) {
      error.status.message = `object is being deleted: ${error.status.message}`;
      error.message = error.status.message;
    }
    throw error;
  }
  if (write.dryRun) return object as StoredObject;
  return inVersion(core.store.put(id, inStorageVersion(core, write.served, object)), write.served.apiVersion);
}

function update(core: Core, write: WriteRequest, live: StoredObject, body: KubeObject, applied = false): StoredObject {
  const { type, id, groupResource } = write.served;
  const object = write.subresource === 'status' ? statusOf(write.served, body, live) : body;
  admit(core, write, 'UPDATE', object, live);
  const { metadata } = object;
  if (!metadata.resourceVersion && (write.served.custom || GUARDED_UPDATE.test(id))) {
    const error = invalidField('metadata.resourceVersion', 0, 'must be specified for an update');
    // The plural stands where the kind should be: upstream's own slip, and what users see.
    throw invalid({ group: groupResource.group, kind: groupResource.resource }, write.name, [error]);
  }
  metadata.resourceVersion ||= live.metadata.resourceVersion;
  if (metadata.resourceVersion !== live.metadata.resourceVersion) {
    throw conflict(groupResource, write.name, OPTIMISTIC_LOCK);
  }
  prepareUpdate(write, object, live);
  if (!applied) recordUpdate(live, object, fieldWrite(core, write));
  if (isOrdinary(write)) fail(write, object, type.validateUpdate(object, live, write.subresource || undefined));
  keepUnchangedTimes(object, live);
  review(core, write, 'UPDATE', object, live);
  if (emptied(object, live)) {
    if (!write.dryRun) core.store.remove(id, requestKey(write));
    return object as StoredObject;
  }
  if (deepEqual(object, live)) return live;
  if (write.dryRun) return object as StoredObject;
  return inVersion(core.store.put(id, inStorageVersion(core, write.served, object)), write.served.apiVersion);
}

function prepareUpdate(write: WriteRequest, object: KubeObject, live: StoredObject): void {
  const { type } = write.served;
  const { metadata } = object;
  if (live.metadata.generation === undefined) delete metadata.generation;
  else metadata.generation = live.metadata.generation;
  if (!['status', 'binding'].includes(write.subresource) && hasStatus(write.served)) {
    if (live['status'] === undefined) delete object['status'];
    else object['status'] = cloneJson(live['status']);
  }
  if (isOrdinary(write)) type.prepareForUpdate(object, live);
  metadata.uid ||= live.metadata.uid;
  if (live.metadata.creationTimestamp) metadata.creationTimestamp = live.metadata.creationTimestamp;
  if (live.metadata.deletionTimestamp) metadata.deletionTimestamp = live.metadata.deletionTimestamp;
  if (live.metadata.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= live.metadata.deletionGracePeriodSeconds;
  }
  if (type.hasGeneration && write.subresource !== 'status' && raisesGeneration(write.served, object, live)) {
    metadata.generation = (live.metadata.generation ?? 0) + 1;
  }
}

/** Other subresources (binding, finalize) change what users may not, by rules of their own. */
function isOrdinary({ subresource }: WriteRequest): boolean {
  return subresource === '' || subresource === 'status' || subresource === 'scale';
}

/** Everything but metadata and status counts; a Deployment's annotations do too (deployment/strategy.go). */
function raisesGeneration(served: ServedType, object: KubeObject, live: KubeObject): boolean {
  const ignored = new Set(['metadata', 'apiVersion', 'kind', ...(hasStatus(served) ? ['status'] : [])]);
  for (const field of new Set([...Object.keys(object), ...Object.keys(live)])) {
    if (!ignored.has(field) && !deepEqual(object[field], live[field])) return true;
  }
  return (
    served.id === 'deployments.apps' && !deepEqual(object.metadata.annotations ?? {}, live.metadata.annotations ?? {})
  );
}

/** A write to `status` changes status; of a built-in kind also its metadata, but not what the endpoint resets. */
function statusOf(served: ServedType, body: KubeObject, live: StoredObject): KubeObject {
  const { status: _, ...rest }: KubeObject = live;
  const { managedFields: _managers, ...copied } = served.custom ? live.metadata : body.metadata;
  const metadata: KubeObject['metadata'] = cloneJson(copied);
  const { resourceVersion, managedFields } = body.metadata;
  if (resourceVersion) metadata.resourceVersion = resourceVersion;
  else delete metadata.resourceVersion;
  if (managedFields) metadata.managedFields = managedFields;
  if (!served.custom) {
    const keep = served.id === 'pods' ? 'ownerReferences' : 'labels';
    delete metadata[keep];
    if (live.metadata[keep]) Object.assign(metadata, { [keep]: cloneJson(live.metadata[keep]) });
  }
  return {
    ...cloneJson<KubeObject>(rest),
    metadata,
    ...(body['status'] !== undefined && { status: body['status'] }),
  };
}

/** With the last finalizer of a deleted object gone, so is the object. */
function emptied(object: KubeObject, live: StoredObject): boolean {
  if (!live.metadata.deletionTimestamp || object.metadata.finalizers?.length) return false;
  if (live.metadata.deletionGracePeriodSeconds) return false;
  const spec = object['spec'] as { finalizers?: unknown[] } | undefined;
  return !(object.kind === 'Namespace' && object.apiVersion === 'v1' && spec?.finalizers?.length);
}

/** When nothing changed but times in managedFields, those stay: a no-op must not write. */
function keepUnchangedTimes(object: KubeObject, live: StoredObject): void {
  const mine = object.metadata.managedFields;
  const theirs = live.metadata.managedFields;
  if (!mine || !theirs || deepEqual(mine, theirs)) return;
  const { managedFields: _, ...metadata } = object.metadata;
  const { managedFields: __, ...liveMetadata } = live.metadata;
  if (!deepEqual({ ...object, metadata }, { ...live, metadata: liveMetadata })) return;
  const timeless = (entries: typeof mine) =>
    entries.map((entry) => JSON.stringify({ ...entry, time: undefined })).sort();
  if (deepEqual(timeless(mine), timeless(theirs))) object.metadata.managedFields = theirs;
}

/** Whether `status` is written through an endpoint of its own. */
export function hasStatus(served: ServedType): boolean {
  return served.type.subresources.includes('status');
}

/** What the field manager must know of a write. */
export function fieldWrite(core: Core, write: WriteRequest): FieldWrite {
  const { served, subresource, manager } = write;
  return {
    manager,
    apiVersion: served.apiVersion,
    subresource,
    resets: resetsOf(served, subresource),
    schemaOf: (apiVersion) => core.registry.findKind(apiVersion, served.type.kind.kind)?.schema,
    now: timestamp(core.clock),
  };
}

function resetsOf(served: ServedType, subresource: string): FieldSet {
  if (subresource === '') return hasStatus(served) ? RESET.status : RESET.nothing;
  if (subresource !== 'status') return RESET.nothing;
  return served.custom ? RESET.specAndMetadata : RESET.specAndLabels;
}

/** Custom resources are stored in the version that their CRD names; built-in kinds in the version they are written. */
function inStorageVersion(core: Core, served: ServedType, object: KubeObject): KubeObject {
  if (served.id === 'events') return inVersion(object, 'v1');
  const storage = core.registry.versionsOf(served.id).find(({ custom }) => custom?.storage);
  return inVersion(object, storage?.apiVersion ?? served.apiVersion);
}

function fail(write: WriteRequest, object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(write.served.type.kind, object.metadata.name ?? '', errors);
}

function alignNamespace(write: WriteRequest, body: KubeObject): void {
  const { metadata } = body;
  if (!write.served.type.kind.namespaced) {
    // A namespace given for a cluster-scoped kind is the validation's to refuse; the Namespace itself may be asked for.
    return;
  }
  if (!metadata.namespace) metadata.namespace = write.namespace;
  else if (metadata.namespace !== write.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

function checkName(write: WriteRequest, body: KubeObject): void {
  if (!body.metadata.name && write.name) body.metadata.name = write.name;
  if (body.metadata.name === write.name) return;
  throw badRequest(
    `the name of the object (${body.metadata.name ?? ''}) does not match the name on the URL (${write.name})`,
  );
}

function uidPrecondition(write: WriteRequest, asked: string, found: string): StatusError {
  const { group, resource } = write.served.groupResource;
  const because = `StorageError: invalid object, Code: 4, Key: /registry/${group ? `${group}/` : ''}${resource}/${requestKey(write)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${asked}, UID in object meta: ${found}`;
  return conflict(write.served.groupResource, write.name, because);
}

/** At most 58 characters of the prefix, then five of the alphabet that avoids vowels (apiserver/storage/names). */
function generateName(core: Core, prefix: string): string {
  const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
  let suffix = '';
  for (const byte of core.random.bytes(5)) suffix += alphabet[byte % alphabet.length];
  return prefix.slice(0, 58) + suffix;
}
