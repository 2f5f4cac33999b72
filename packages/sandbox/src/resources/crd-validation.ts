import type { KubeObject } from '@openstack-operator/kube';
import { type CelValidator, compileCel, hasRules } from './cel.ts';
import type { CrdSpec, CrdVersion, PrinterColumn } from './crd.ts';
import { validateCrdSchema } from './crd-schema-validation.ts';
import { duplicate, invalid, notSupported, required, tooMany } from './field-error.ts';
import { resolveFieldPath } from './field-path.ts';
import { deepEqual, isObject, objectOf, textOf } from './json.ts';
import { knownSchema, oncePerSchema } from './known-schema.ts';
import { immutable } from './metadata.ts';
import { isDns1035Label, isDnsSubdomain } from './names.ts';
import { child, index } from './path.ts';
import type { FieldError } from './resource-type.ts';
import type { Schema } from './schema.ts';
import { validateSchemaDefaults } from './schema-defaults.ts';
import { validateStructural } from './structural.ts';

const approval = 'api-approved.kubernetes.io';
const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/**
 * Checks a CustomResourceDefinition, given with its defaults, as kube-apiserver does on create: names, versions, structural
 * schemas, defaults, CEL rules, printer columns, subresources, the approval of groups under `k8s.io`.
 */
export function validateCrd(crd: KubeObject, old?: KubeObject): FieldError[] {
  const spec = crd.spec as CrdSpec;
  const names = objectOf(spec.names);
  const errors: FieldError[] = [];
  const expected = `${textOf(names.plural)}.${spec.group}`;
  if (crd.metadata.name && crd.metadata.name !== expected) {
    errors.push(invalid('metadata.name', crd.metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  errors.push(...validateGroup(spec.group ?? ''));
  const scope = spec.scope as string | undefined;
  if (!scope) errors.push(required('spec.scope'));
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    errors.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']));
  }
  const versions = spec.versions ?? [];
  for (const [position, version] of versions.entries()) {
    if (!version.schema?.openAPIV3Schema) {
      errors.push(required(`${index('spec.versions', position)}.schema.openAPIV3Schema`));
    }
  }
  errors.push(...validateVersions(versions));
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(invalid('spec.versions', versions, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    errors.push(invalid('spec.versions', versions, 'must have exactly one version marked as storage version'));
  }
  const firstName = versions[0]?.name ?? '';
  const messages = isDns1035Label(firstName);
  if (versions.length > 0 && messages.length > 0) errors.push(invalid('spec.version', firstName, messages.join(',')));
  for (const field of ['plural', 'singular', 'kind', 'listKind']) {
    if (!names[field]) errors.push(required(`spec.names.${field}`));
  }
  errors.push(...validateNames(names, 'spec.names'), ...validateStored(crd, versions));
  return [...errors, ...validateApproval(crd, old)];
}

/** What never changes: group and plural; scope and kind once the kind is served. */
export function validateCrdUpdate(crd: KubeObject, old: KubeObject): FieldError[] {
  const spec = crd.spec as CrdSpec;
  const before = old.spec as CrdSpec;
  const conditions = objectOf(old.status).conditions;
  const established =
    Array.isArray(conditions) &&
    conditions.some(
      (condition) => isObject(condition) && condition.type === 'Established' && condition.status === 'True',
    );
  const fixed: [string, unknown, unknown][] = [
    ...(established
      ? ([
          ['spec.scope', spec.scope, before.scope],
          ['spec.names.kind', spec.names.kind, before.names.kind],
        ] as [string, unknown, unknown][])
      : []),
    ['spec.group', spec.group, before.group],
    ['spec.names.plural', spec.names.plural, before.names.plural],
  ];
  return fixed.flatMap(([field, value, was]) => (value === was ? [] : [invalid(field, value, immutable)]));
}

function validateGroup(group: string): FieldError[] {
  if (group === '') return [required('spec.group')];
  const messages = isDnsSubdomain(group);
  if (messages.length > 0) return [invalid('spec.group', group, messages.join(','))];
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

function validateNames(names: Record<string, unknown>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const label = (field: string, value: unknown, mixedCase = false) => {
    if (typeof value !== 'string' || value === '') return;
    const messages = isDns1035Label(mixedCase ? value.toLowerCase() : value);
    if (messages.length === 0) return;
    const prefix = mixedCase ? 'may have mixed case, but should otherwise match: ' : '';
    errors.push(invalid(child(path, field), value, prefix + messages.join(',')));
  };
  label('plural', names.plural);
  label('singular', names.singular);
  label('kind', names.kind, true);
  label('listKind', names.listKind, true);
  const list = (field: string) => {
    const values = names[field];
    if (Array.isArray(values)) values.forEach((value, position) => label(index(field, position), value));
  };
  list('shortNames');
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalid(child(path, 'listKind'), names.listKind, 'kind and listKind may not be the same'));
  }
  list('categories');
  return errors;
}

/** Where the API server looks for what all versions have in common: its internal type has moved it up to the spec. */
const shared = {
  schema: 'spec.validation',
  subresources: 'spec.subresources',
  additionalPrinterColumns: 'spec.additionalPrinterColumns',
  selectableFields: 'spec.selectableFields',
} as const;

type Shared = keyof typeof shared;

function validateVersions(versions: readonly CrdVersion[]): FieldError[] {
  const [first] = versions;
  const fields = Object.keys(shared) as Shared[];
  const common = new Set(
    fields.filter((field) => versions.every((version) => deepEqual(version[field], first?.[field]))),
  );
  const errors = versions.flatMap((version, position) => {
    const path = index('spec.versions', position);
    const messages = isDns1035Label(version.name ?? '');
    return [
      ...(messages.length > 0 ? [invalid(child(path, 'name'), version.name ?? '', messages.join(','))] : []),
      ...fields.flatMap((field) => (common.has(field) ? [] : validateField(version, field, child(path, field)))),
    ];
  });
  if (!first) return errors;
  return [...errors, ...[...common].flatMap((field) => validateField(first, field, shared[field]))];
}

function validateField(version: CrdVersion, field: Shared, path: string): readonly FieldError[] {
  const schema = version.schema?.openAPIV3Schema;
  switch (field) {
    case 'schema':
      return schema ? validateSchema(schema, path, version.subresources?.status !== undefined) : [];
    case 'subresources':
      return version.subresources?.scale ? validateScalePaths(version.subresources.scale, path) : [];
    case 'additionalPrinterColumns':
      return (version.additionalPrinterColumns ?? []).flatMap((column, i) => validateColumn(column, index(path, i)));
    case 'selectableFields':
      return version.selectableFields && schema ? validateSelectable(version.selectableFields, schema, path) : [];
  }
}

/** What is wrong with a schema, by the place where it stands and whether there is a `status`. */
const judged = oncePerSchema(() => new Map<string, readonly FieldError[]>());

function validateSchema(given: Schema, path: string, statusEnabled: boolean): readonly FieldError[] {
  const schema = knownSchema(given);
  const place = `${path} ${statusEnabled}`;
  const errors = judged(schema).get(place) ?? judgeSchema(schema, path, statusEnabled);
  judged(schema).set(place, errors);
  return errors;
}

function judgeSchema(schema: Schema, path: string, statusEnabled: boolean): readonly FieldError[] {
  const at = child(path, 'openAPIV3Schema');
  const errors: FieldError[] = [];
  if (statusEnabled && schema.type !== undefined && schema.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    errors.push(invalid(child(at, 'type'), schema.type, detail));
  }
  if (schema.nullable)
    errors.push({ type: 'Forbidden', field: child(at, 'nullable'), detail: 'nullable cannot be true at the root' });
  const structural = validateStructural(schema, at);
  let compiled: CelValidator | undefined;
  const rules = () => (compiled ??= compileCel(schema, at));
  const defaultRules = (inner: Schema, value: unknown) =>
    hasRules(inner) && rules().errors.length === 0 ? rules().validateWithin(inner, value) : [];
  const defaults = structural.length === 0 ? validateSchemaDefaults(schema, at, defaultRules) : [];
  errors.push(...structural, ...defaults);
  const own = validateCrdSchema(schema, at);
  errors.push(...own);
  // Rules can be judged only against a sound schema.
  if (structural.length === 0 && defaults.length === 0 && own.length === 0) errors.push(...rules().errors);
  return errors;
}

function validateScalePaths(scale: Readonly<Record<string, unknown>>, path: string): FieldError[] {
  const rules = [
    ['specReplicasPath', ['.spec.'], 'should be a json path under .spec'],
    ['statusReplicasPath', ['.status.'], 'should be a json path under .status'],
    ['labelSelectorPath', ['.spec.', '.status.'], 'should be a json path under either .spec or .status'],
  ] as const;
  return rules.flatMap(([field, prefixes, detail]) => {
    const at = child(path, `scale.${field}`);
    const value = scale[field];
    if (typeof value !== 'string' || value === '') return field === 'labelSelectorPath' ? [] : [required(at)];
    const errors = validateSimplePath(value, at);
    if (errors.length > 0) return errors;
    return prefixes.some((prefix) => value.startsWith(prefix)) ? [] : [invalid(at, value, detail)];
  });
}

function validateSimplePath(path: string, at: string): FieldError[] {
  return path.startsWith('.') ? [] : [invalid(at, path, 'must be a simple json path starting with .')];
}

function validateColumn(column: PrinterColumn, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!column.name) errors.push(required(child(path, 'name')));
  const types = `must be one of ${columnTypes.join(',')}`;
  if (!column.type) errors.push(required(child(path, 'type'), types));
  else if (!columnTypes.includes(column.type)) errors.push(invalid(child(path, 'type'), column.type, types));
  if (column.format && !columnFormats.includes(column.format)) {
    errors.push(invalid(child(path, 'format'), column.format, `must be one of ${columnFormats.join(',')}`));
  }
  const at = child(path, 'JSONPath');
  if (!column.jsonPath) return [...errors, required(at)];
  return [...errors, ...validateSimplePath(column.jsonPath, at)];
}

function validateSelectable(
  fields: readonly { readonly jsonPath: string }[],
  schema: Schema,
  path: string,
): FieldError[] {
  const seen = new Set<string>();
  const errors = fields.flatMap(({ jsonPath }, position) => {
    const at = child(index(path, position), 'jsonPath');
    if (!jsonPath) return [required(at)];
    const found = resolveFieldPath(jsonPath, schema, { brackets: false });
    if (typeof found === 'string') return [invalid(at, jsonPath, `is an invalid path: ${found}`)];
    const own: FieldError[] = [];
    if (found.path.split('.')[0] === 'metadata') {
      own.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
    }
    if (!['string', 'boolean', 'integer'].includes(found.schema.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      own.push(invalid(at, jsonPath, detail));
    }
    if (seen.has(found.path)) own.push(duplicate(at, jsonPath));
    seen.add(found.path);
    return own;
  });
  return seen.size > 8 ? [...errors, tooMany(path, seen.size, 8)] : errors;
}

function validateStored(crd: KubeObject, versions: readonly CrdVersion[]): FieldError[] {
  const { storedVersions } = objectOf(crd.status);
  const stored = Array.isArray(storedVersions) ? storedVersions : [];
  if (stored.length === 0) return [invalid('status.storedVersions', stored, 'must have at least one stored version')];
  const storage = versions.find((version) => version.storage === true);
  const errors: FieldError[] = [];
  if (storage && !stored.includes(storage.name)) {
    errors.push(invalid('status.storedVersions', stored, `must have the storage version ${storage.name}`));
  }
  for (const [position, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalid(index('status.storedVersions', position), name, detail));
  }
  return errors;
}

type Approval = 'approved' | 'bypassed' | 'missing' | 'invalid';

function approvalOf(crd: KubeObject): Approval {
  const value = crd.metadata.annotations?.[approval] ?? '';
  if (value === '') return 'missing';
  if (value.startsWith('unapproved')) return 'bypassed';
  return URL.canParse(value) && new URL(value).host !== '' ? 'approved' : 'invalid';
}

/** Groups under k8s.io and kubernetes.io belong to the community: a definition there says who approved it, or that nobody did. */
function validateApproval(crd: KubeObject, old?: KubeObject): FieldError[] {
  const { group } = crd.spec as CrdSpec;
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const state = approvalOf(crd);
  if (old && approvalOf(old) === state) return [];
  const at = `metadata.annotations[${approval}]`;
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (state === 'missing') {
    return [required(at, `protected groups must have approval annotation "${approval}", ${see}`)];
  }
  if (state !== 'invalid') return [];
  const detail = `protected groups must have approval annotation "${approval}" with either a URL or a reason starting with "unapproved", ${see}`;
  return [invalid(at, crd.metadata.annotations?.[approval], detail)];
}
