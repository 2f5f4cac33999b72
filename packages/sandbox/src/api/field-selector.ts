import type { KubeObject } from '@openstack-operator/kube';
import type { ResourceType } from '../resources/resource-type.ts';
import { at } from './json.ts';
import { badRequest } from './status.ts';

/** Whether an object is selected. */
export type ObjectMatcher = (object: KubeObject) => boolean;

/** One term: `field=value` or `field!=value`. */
export interface FieldTerm {
  readonly field: string;
  readonly value: string;
  readonly equals: boolean;
}

const COMMON = ['metadata.name', 'metadata.namespace'];

/** Splits a selector into terms. @throws StatusError 400 */
export function parseFieldSelector(text: string): FieldTerm[] {
  const terms: FieldTerm[] = [];
  for (const part of text.split(/(?<!\\),/)) {
    if (part === '') continue;
    const found = /^(.*?)(!=|==|=)(.*)$/s.exec(part);
    if (!found) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    const value = (found[3] ?? '').replaceAll(/\\([,=\\])/g, '$1');
    terms.push({ field: found[1] ?? '', value, equals: found[2] !== '!=' });
  }
  return terms;
}

/**
 * Makes a matcher of a field selector.
 * @throws StatusError 400 when the kind cannot be selected by a field
 */
export function fieldMatcher(text: string, type: ResourceType, custom: boolean): ObjectMatcher {
  const terms = parseFieldSelector(text);
  const known = [...COMMON, ...type.selectableFields];
  for (const { field } of terms) if (!known.includes(field)) throw badRequest(unsupported(field, type, custom));
  return (object) => terms.every(({ field, value, equals }) => (fieldValue(object, field) === value) === equals);
}

function unsupported(field: string, { kind, selectableFields }: ResourceType, custom: boolean): string {
  if (kind.kind === 'Job' && kind.group === 'batch')
    return `field label ${JSON.stringify(field)} not supported for Job`;
  if (custom || selectableFields.length > 0) return `field label not supported: ${field}`;
  return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

function fieldValue(object: KubeObject, field: string): string {
  const value = at(object, (ALIASES[field] ?? field.replace(/^regarding\./, 'involvedObject.')).split('.'));
  if (value === undefined || value === null) return DEFAULTS[field] ?? '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Fields whose name in a selector is another than in the object. Events lie in the store as `v1`. */
const ALIASES: Record<string, string> = {
  source: 'source.component',
  reportingController: 'reportingComponent',
  'status.successful': 'status.succeeded',
};
const DEFAULTS: Record<string, string> = {
  'spec.unschedulable': 'false',
  'spec.hostNetwork': 'false',
  'status.successful': '0',
};
