import type { KubeObject, ManagedFieldsEntry } from '@openstack-operator/kube';
import { quote } from '../resources/field-error.ts';
import { type FieldSet, fromFieldsV1, toFieldsV1 } from './field-set.ts';

/** Who owns which fields: one entry of `metadata.managedFields`, decoded. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time?: string;
  readonly fields: FieldSet;
}

/** Managers by identity; an applier is the same one in every version, an updater is not. */
export type Managers = Map<string, Manager>;

/** What tells managers apart. */
export function managerKey({ manager, operation, apiVersion, subresource }: Omit<Manager, 'fields' | 'time'>): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** Decodes `metadata.managedFields`; undefined when an entry is broken, as upstream then starts anew. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers | undefined {
  const managers: Managers = new Map();
  for (const entry of entries ?? []) {
    const { manager = '', operation, apiVersion, fieldsType, fieldsV1, subresource = '', time } = entry;
    if ((operation !== 'Apply' && operation !== 'Update') || !apiVersion || fieldsType !== 'FieldsV1') return undefined;
    const decoded = { manager, operation, apiVersion, subresource, fields: fromFieldsV1(fieldsV1 ?? {}) };
    managers.set(managerKey(decoded), time ? { ...decoded, time } : decoded);
  }
  return managers;
}

/** Puts managers into an object, in the order of the API server: appliers first, then by time, then by name. */
export function encodeManagers(object: KubeObject, managers: Managers): void {
  if (managers.size === 0) {
    delete object.metadata.managedFields;
    return;
  }
  object.metadata.managedFields = [...managers.values()]
    .sort(
      (a, b) =>
        compareText(a.operation, b.operation) ||
        compareText(a.time ?? '', b.time ?? '') ||
        compareText(a.manager, b.manager) ||
        compareText(a.apiVersion, b.apiVersion) ||
        compareText(a.subresource, b.subresource),
    )
    .map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
      manager,
      operation,
      apiVersion,
      ...(time && { time }),
      fieldsType: 'FieldsV1' as const,
      fieldsV1: toFieldsV1(fields),
      ...(subresource && { subresource }),
    }));
}

/** A manager as conflict messages name it. */
export function printManager({ manager, operation, apiVersion, subresource }: Manager): string {
  let text = quote(manager);
  if (subresource) text += ` with subresource ${quote(subresource)}`;
  return operation === 'Update' ? `${text} using ${apiVersion}` : text;
}

/** The user agent's first word: the manager of writes that name none. */
export function managerOfUserAgent(userAgent: string | undefined): string {
  return (userAgent ?? '').split('/')[0]?.slice(0, 128) ?? '';
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
