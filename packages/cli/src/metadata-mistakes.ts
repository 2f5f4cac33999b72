import type { KubeObject } from '@openstack-operator/kube';
import type { ResourceType } from '@openstack-operator/sandbox/schema';
import type { Mistake } from './admission.ts';
import { isObject } from './is-object.ts';

/**
 * What the API server's decoder says of each field of metadata, which it reads before it looks at anything else; drops, in
 * place, what it cannot read.
 */
export function dropUndecoded(type: ResourceType, object: KubeObject): Mistake[] {
  const metadata = object.metadata as Record<string, unknown>;
  return Object.keys(metadata).flatMap((name) => {
    const value = metadata[name];
    const complaint = type.decode(structuredClone({ ...object, metadata: { [name]: value } }));
    if (complaint === undefined) return [];
    delete metadata[name];
    const field = `metadata.${name}`;
    if (isOfTexts(name) && isObject(value)) {
      return Object.entries(value)
        .filter(([, text]) => typeof text !== 'string' && text !== null)
        .map(([key, text]) => ({
          field: `${field}[${key}]`,
          message: `expected a text, not ${JSON.stringify(text)}: write it in quotes`,
        }));
    }
    const [, given, wanted = ''] = /^json: cannot unmarshal (\w+) into .* of type (\S+)$/u.exec(complaint) ?? [];
    const shown = JSON.stringify(value);
    if (given === undefined) return [{ field, message: shown.length > 120 ? complaint : `${shown}: ${complaint}` }];
    return [{ field, message: `must be of type ${inJson(wanted, name)}, not ${given}` }];
  });
}

/** A type of Go as JSON has it. */
function inJson(type: string, name: string): string {
  if (isOfTexts(name)) return 'object';
  if (type.startsWith('[]')) return 'array';
  if (type.startsWith('int')) return 'integer';
  return type === 'types.UID' ? 'string' : type;
}

function isOfTexts(name: string): boolean {
  return name === 'labels' || name === 'annotations';
}
