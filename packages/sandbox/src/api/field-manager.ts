import type { KubeObject } from '@openstack-operator/kube';
import { goJson } from '../resources/field-error.ts';
import { cloneJson, deepEqual } from '../resources/json.ts';
import type { Schema } from '../resources/schema.ts';
import {
  difference,
  type FieldPath,
  type FieldSet,
  fieldSet,
  formatPath,
  has,
  intersection,
  isEmpty,
  paths,
  recursiveDifference,
  union,
} from './field-set.ts';
import {
  decodeManagers,
  encodeManagers,
  type Manager,
  type Managers,
  managerKey,
  printManager,
} from './managed-fields.ts';
import { badRequest, StatusError } from './status.ts';
import { NoIdentity } from './typed-shape.ts';
import {
  type Comparison,
  compare,
  merge,
  removeItems,
  toFieldSet,
  typeErrors,
  withNamedFields,
} from './typed-value.ts';

// Own code for k8s.io/apimachinery/pkg/util/managedfields: there is no JavaScript library for it.

/** What a write looks like to the field manager. */
export interface FieldWrite {
  readonly manager: string;
  /** `group/version` of the request. */
  readonly apiVersion: string;
  readonly subresource: string;
  /** Fields that this endpoint resets: nobody comes to own them through it. */
  readonly resets: FieldSet;
  /** The schema of a served version of the kind, metadata included; undefined when the version is not served. */
  schemaOf(apiVersion: string): Schema | undefined;
  /** RFC 3339 with whole seconds. */
  readonly now: string;
}

/** What a server-side apply came to: `changed` is false when the live object already is as stated. */
export interface Applied {
  readonly object: KubeObject;
  readonly changed: boolean;
}

const MAX_UPDATE_MANAGERS = 10;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** metadata that belongs to the server, never to a manager (internal/stripmeta.go). */
const STRIPPED = fieldSet(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((field): FieldPath => ['f:metadata', `f:${field}`]),
);

/** The fields that a write through an endpoint cannot own. */
export const RESET = {
  status: fieldSet(['f:status']),
  specAndMetadata: fieldSet(['f:metadata'], ['f:spec']),
  specAndLabels: fieldSet(['f:spec'], ['f:metadata', 'f:labels']),
  nothing: fieldSet(),
} as const;

/**
 * Records a create (`live` undefined), update or patch in `object.metadata.managedFields`, in place: what it changed is
 * its manager's, whoever had it before.
 */
export function recordUpdate(live: KubeObject | undefined, object: KubeObject, write: FieldWrite): void {
  const managers = managersForUpdate(live, object, write.subresource !== '');
  delete object.metadata.managedFields;
  if (managers.size === 0 && live) return;
  const before = live && withoutManagedFields(live);
  const comparisons = comparer(before, object, write);
  let change: Comparison;
  try {
    change = comparisons(write.apiVersion) ?? NOTHING;
  } catch (error) {
    if (!(error instanceof NoIdentity)) throw error;
    // What is against its schema leaves the managers as they were; it is validation that refuses it.
    encodeManagers(object, managers);
    return;
  }
  const { added, modified } = change;
  takeAway(managers, undefined, comparisons);
  const fields = strip(union(modified, added));
  if (!isEmpty(fields)) {
    const self = { manager: write.manager || 'unknown', operation: 'Update' as const, ...where(write) };
    const previous = managers.get(managerKey(self));
    const all = previous ? union(fields, previous.fields) : fields;
    // Upstream's handler of the scale subresource leaves out the time.
    const time = write.subresource === 'scale' ? {} : { time: write.now };
    managers.set(managerKey(self), { ...self, ...time, fields: all });
  }
  capUpdaters(managers);
  encodeManagers(object, managers);
}

/**
 * Server-side apply: lays `config` over `live`, removes what this manager stated before and does not state now, and
 * that nobody else owns.
 * @throws StatusError 409 naming every field that another manager owns with another value, unless forced
 */
export function applyConfig(
  live: KubeObject | undefined,
  config: KubeObject,
  write: FieldWrite,
  force: boolean,
): Applied {
  if (config.metadata?.managedFields != null) throw badRequest('metadata.managedFields must be nil');
  const schema = write.schemaOf(write.apiVersion);
  const errors = typeErrors(config, schema);
  if (errors.length > 0) {
    const text = errors.length === 1 ? errors[0] : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
    const { namespace = '', name = '' } = config.metadata ?? {};
    const version = config.apiVersion.includes('/') ? config.apiVersion : `/${config.apiVersion}`;
    const who = `${namespace}/${name}; ${version}, Kind=${config.kind}`;
    throw new StatusError(500, '', `failed to create typed patch object (${who}): ${text}`);
  }
  let managers = decodeManagers(live?.metadata.managedFields) ?? new Map<string, Manager>();
  const before = live && withoutManagedFields(live);
  if (managers.size === 0 && before) managers = ownedBeforeFirstApply(before, write);

  const self = { manager: write.manager, operation: 'Apply' as const, ...where(write) };
  const key = managerKey(self);
  const last = managers.get(key);
  const stated = recursiveDifference(toFieldSet(config, schema), write.resets);
  const attempt = (forced: boolean): { object: KubeObject; managers: Managers; conflicts: Conflict[] } => {
    const owners: Managers = new Map(managers);
    owners.set(key, { ...self, ...(last?.time && { time: last.time }), fields: stated });
    const merged = merge(before, config, schema) as KubeObject;
    const object = last ? prune(merged, owners, last, write) : merged;
    const conflicts = takeAway(owners, key, comparer(before, object, write));
    return { object, managers: owners, conflicts: forced ? [] : conflicts };
  };
  let result = attempt(force);
  if (result.conflicts.length > 0 && write.manager === 'kubectl' && live) {
    const allowed = lastAppliedFields(live, schema);
    const rest = result.conflicts.filter(({ path }) => !has(allowed, path));
    result = rest.length > 0 ? { ...result, conflicts: rest } : attempt(true);
  }
  if (result.conflicts.length > 0) throw conflictError(result.conflicts);

  const owners = result.managers;
  const mine = owners.get(key);
  const fields = mine && strip(mine.fields);
  const changed = before === undefined || !deepEqual(before, result.object);
  if (mine && fields && !isEmpty(fields)) {
    owners.set(key, { ...mine, fields, ...(changed && { time: write.now }) });
  } else owners.delete(key);
  const object = cloneJson(result.object);
  object.metadata ??= {};
  if (write.manager === 'kubectl') renewLastApplied(object, config);
  encodeManagers(object, owners);
  return { object, changed };
}

interface Conflict {
  readonly by: Manager;
  readonly path: FieldPath;
}

type Comparer = (apiVersion: string) => Comparison | undefined;

const NOTHING: Comparison = { added: fieldSet(), modified: fieldSet(), removed: fieldSet() };

function where(write: FieldWrite): { apiVersion: string; subresource: string } {
  return { apiVersion: write.apiVersion, subresource: write.subresource };
}

function strip(fields: FieldSet): FieldSet {
  return difference(fields, STRIPPED);
}

function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Managers as the write found them; the request may carry its own list, or an empty one to start anew. */
function managersForUpdate(live: KubeObject | undefined, object: KubeObject, subresource: boolean): Managers {
  const mine = decodeManagers(live?.metadata.managedFields) ?? new Map<string, Manager>();
  const theirs = object.metadata.managedFields;
  if (subresource || theirs == null) return mine;
  const reset = theirs.length === 0 || (theirs.length === 1 && Object.keys(theirs[0] ?? {}).length === 0);
  if (reset) return new Map();
  return decodeManagers(theirs) ?? mine;
}

/** Comparisons of the change, one for each version that managers speak, without what the endpoint resets. */
function comparer(live: KubeObject | undefined, object: KubeObject, write: FieldWrite): Comparer {
  const known = new Map<string, Comparison | undefined>();
  return (apiVersion) => {
    if (!known.has(apiVersion)) {
      const schema = write.schemaOf(apiVersion);
      const all = schema && compare(live ?? {}, object, schema);
      const kept = all && {
        added: recursiveDifference(all.added, write.resets),
        modified: recursiveDifference(all.modified, write.resets),
        removed: recursiveDifference(all.removed, write.resets),
      };
      known.set(apiVersion, kept);
    }
    return known.get(apiVersion);
  };
}

/** Takes changed and removed fields from every manager but `self`; what was taken by a change is a conflict. */
function takeAway(managers: Managers, self: string | undefined, comparisons: Comparer): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [key, entry] of managers) {
    if (key === self) continue;
    const comparison = comparisons(entry.apiVersion);
    if (!comparison) {
      managers.delete(key);
      continue;
    }
    const taken = intersection(entry.fields, union(comparison.modified, comparison.added));
    for (const path of paths(taken)) conflicts.push({ by: entry, path });
    const fields = difference(difference(entry.fields, taken), comparison.removed);
    if (isEmpty(fields)) managers.delete(key);
    else if (fields !== entry.fields) managers.set(key, { ...entry, fields });
  }
  const mine = self === undefined ? undefined : managers.get(self);
  if (mine && isEmpty(mine.fields)) managers.delete(self as string);
  return conflicts;
}

/** Removes what `last` owned and nobody owns now. */
function prune(merged: KubeObject, owners: Managers, last: Manager, write: FieldWrite): KubeObject {
  const schema = write.schemaOf(last.apiVersion);
  if (!schema || isEmpty(last.fields)) return merged;
  const lastFields = withNamedFields(last.fields, schema);
  let pruned = removeItems(merged, lastFields, schema) ?? {};
  const byVersion = Map.groupBy(owners.values(), (owner) => owner.apiVersion);
  const versions = [...byVersion.keys()].sort((a, b) => Number(b === last.apiVersion) - Number(a === last.apiVersion));
  for (const version of versions) {
    const versionSchema = write.schemaOf(version);
    if (!versionSchema) continue;
    const owned = (byVersion.get(version) ?? []).map((owner) => owner.fields).reduce(union);
    const all = withNamedFields(toFieldSet(merged, versionSchema), versionSchema);
    const kept = withNamedFields(toFieldSet(pruned, versionSchema), versionSchema);
    const keep = union(kept, withNamedFields(owned, versionSchema));
    pruned = removeItems(merged, difference(all, keep), versionSchema) ?? {};
  }
  // Items that were never the manager's own (dangling parents) come back.
  const all = withNamedFields(toFieldSet(merged, schema), schema);
  const kept = withNamedFields(toFieldSet(pruned, schema), schema);
  return removeItems(merged, intersection(difference(all, kept), lastFields), schema) as KubeObject;
}

/** An object without managers was written before anybody applied: its fields get one (skipnonapplied.go). */
function ownedBeforeFirstApply(live: KubeObject, write: FieldWrite): Managers {
  const self = { manager: 'before-first-apply', operation: 'Update' as const, ...where(write) };
  const { added } = compare({}, live, write.schemaOf(write.apiVersion));
  const fields = strip(recursiveDifference(added, write.resets));
  if (isEmpty(fields)) return new Map();
  return new Map([[managerKey(self), { ...self, time: write.now, fields }]]);
}

/** Fields still as client-side apply left them do not conflict with kubectl's server-side apply. */
function lastAppliedFields(live: KubeObject, schema: Schema | undefined): FieldSet {
  const text = live.metadata.annotations?.[LAST_APPLIED];
  if (!text) return fieldSet();
  try {
    const config = JSON.parse(text) as KubeObject;
    const { modified, added, removed } = compare(config, live, schema);
    return difference(difference(difference(toFieldSet(config, schema), modified), added), removed);
  } catch {
    // Users write annotations; a broken one grants nothing.
    return fieldSet();
  }
}

/**
 * Where `kubectl apply` without --server-side has left its annotation, a server-side apply of kubectl keeps it true, so
 * that the user can go back (internal/lastappliedupdater.go).
 */
function renewLastApplied(object: KubeObject, config: KubeObject): void {
  const { annotations } = object.metadata;
  if (annotations?.[LAST_APPLIED] === undefined) return;
  const { [LAST_APPLIED]: _, ...others } = config.metadata.annotations ?? {};
  const { annotations: __, ...metadata } = config.metadata;
  const stated = { ...config, metadata: config.metadata.annotations ? { ...metadata, annotations: others } : metadata };
  const text = `${goJson(stated)}\n`;
  if (Buffer.byteLength(text) > MAX_ANNOTATIONS_BYTES) delete annotations[LAST_APPLIED];
  else annotations[LAST_APPLIED] = text;
}

/** More than ten updaters become one, as upstream does. */
function capUpdaters(managers: Managers): void {
  const updaters = [...managers.entries()].filter(([, entry]) => entry.operation === 'Update');
  let count = updaters.length;
  if (count <= MAX_UPDATE_MANAGERS) return;
  updaters.sort(([a, x], [b, y]) => ((x.time ?? '') + a < (y.time ?? '') + b ? -1 : 1));
  const first = new Map<string, string>();
  for (const [key, entry] of updaters) {
    if (count <= MAX_UPDATE_MANAGERS) return;
    const bucket = {
      manager: 'ancient-changes',
      operation: 'Update' as const,
      apiVersion: entry.apiVersion,
      subresource: '',
    };
    const bucketKey = managerKey(bucket);
    const oldest = first.get(entry.apiVersion);
    if (oldest === undefined) {
      first.set(entry.apiVersion, key);
      continue;
    }
    if (!managers.has(bucketKey)) {
      const seed = managers.get(oldest);
      if (seed) managers.set(bucketKey, { ...seed, ...bucket });
      managers.delete(oldest);
    }
    const into = managers.get(bucketKey);
    const fields = into ? union(entry.fields, into.fields) : entry.fields;
    managers.set(bucketKey, { ...bucket, ...(entry.time && { time: entry.time }), fields });
    managers.delete(key);
    count -= 1;
  }
}

function conflictError(conflicts: readonly Conflict[]): StatusError {
  const causes = conflicts.map(({ by, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${printManager(by)}`,
    field: formatPath(path),
  }));
  let list: string;
  const [only] = conflicts;
  if (conflicts.length === 1 && only) {
    list = `1 conflict: conflict with ${printManager(only.by)}: ${formatPath(only.path)}`;
  } else {
    const groups = Map.groupBy(conflicts, ({ by }) => printManager(by));
    const lines = [...groups.keys()]
      .sort()
      .flatMap((name) => [
        `conflicts with ${name}:`,
        ...(groups.get(name) ?? []).map(({ path }) => `- ${formatPath(path)}`),
      ]);
    list = `${conflicts.length} conflicts: ${lines.join('\n')}`;
  }
  return new StatusError(409, 'Conflict', `Apply failed with ${list}`, { causes });
}
