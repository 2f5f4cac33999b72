import type { KubeObject } from '@openstack-operator/kube';
import { schemaOf } from './defaulting.ts';
import { invalid, required } from './field-error.ts';
import { isObject, type JsonObject } from './json.ts';
import { validateMetadata } from './metadata.ts';
import { isDns1035Label, isPathSegment, nameCheck } from './names.ts';
import { child, index, key } from './path.ts';
import { ownProperty } from './pruning.ts';
import type { FieldError } from './resource-type.ts';
import type { Schema } from './schema.ts';

/** Checks objects within an object (`x-kubernetes-embedded-resource`): apiVersion, kind and metadata; not the root. */
export function embeddedErrors(schema: Schema, value: unknown, path = ''): FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, position) => embeddedErrors(items, item, index(path, position))) : [];
  }
  if (!isObject(value)) return [];
  const own = schema['x-kubernetes-embedded-resource'] && path !== '' ? validateEmbedded(value, path) : [];
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, field]) => {
      const fieldSchema = schemaOf(schema, name);
      if (!fieldSchema) return [];
      return embeddedErrors(fieldSchema, field, ownProperty(schema, name) ? child(path, name) : key(path, name));
    }),
  ];
}

function validateEmbedded(value: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['apiVersion', 'kind'] as const) {
    const text = value[field];
    const at = child(path, field);
    if (text === undefined) errors.push(required(at));
    else if (typeof text !== 'string') errors.push(invalid(at, text, 'must be a string'));
    else if (text === '') errors.push(invalid(at, text, 'must not be empty'));
    else if (field === 'kind') {
      const messages = isDns1035Label(text.toLowerCase());
      if (messages.length > 0) {
        const detail = `may have mixed case, but should otherwise match: ${messages.join(',')}`;
        errors.push(invalid(at, text, detail));
      }
    } else if (text.split('/').length > 2) {
      errors.push(invalid(at, text, `unexpected GroupVersion string: ${text}`));
    }
  }
  if (!isObject(value.metadata)) return errors;
  const metadata = { name: 'fakename', ...value.metadata } as KubeObject['metadata'];
  const object: KubeObject = { apiVersion: '', kind: '', metadata };
  const namespaced = metadata.namespace !== undefined && metadata.namespace !== '';
  return [...errors, ...validateMetadata(object, namespaced, nameCheck(isPathSegment), child(path, 'metadata'))];
}
