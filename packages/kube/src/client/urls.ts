import { TerminalError } from '../objects/errors.ts';
import type { Kind, KubeObject } from '../objects/objects.ts';
import type { ObjectRef } from './api.ts';

/** Values of a query string; what is undefined or '' is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** `?a=b&c=d`, or '' when nothing is set. */
export function queryString(query: Query): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** `/api/v1` or `/apis/{group}/{version}`. */
export function groupVersionPath(kind: Pick<Kind, 'group' | 'version'>): string {
  return kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
}

/** The path of all objects of a kind, in one namespace or (without one) in all. */
export function collectionPath(kind: Kind, namespace?: string): string {
  const scope = kind.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${groupVersionPath(kind)}${scope}/${kind.plural}`;
}

/**
 * The path of one object, or of a subresource of it.
 * @throws TerminalError when the name is missing, or the namespace of a namespaced kind
 */
export function objectPath(kind: Kind, ref: ObjectRef, subresource?: string): string {
  if (!ref.name) {
    throw new TerminalError('INVALID_REQUEST', `${kind.kind}: metadata.name is empty; expected the object's name`);
  }
  const path = `${collectionPath(kind, namespaceFor(kind, ref))}/${encodeURIComponent(ref.name)}`;
  return subresource ? `${path}/${subresource}` : path;
}

/**
 * The path that an object is created at.
 * @throws TerminalError when a namespaced object has no namespace
 */
export function creationPath(kind: Kind, object: KubeObject): string {
  const { name = object.metadata.generateName ?? '', namespace = '' } = object.metadata;
  return collectionPath(kind, namespaceFor(kind, { name, namespace }));
}

/** Where an object says that it is. */
export function refOf(object: KubeObject): ObjectRef {
  const { name = '', namespace } = object.metadata;
  return namespace === undefined ? { name } : { name, namespace };
}

function namespaceFor(kind: Kind, { name, namespace }: ObjectRef): string | undefined {
  if (kind.namespaced && !namespace) {
    throw new TerminalError(
      'INVALID_REQUEST',
      `${kind.kind} ${name}: metadata.namespace is empty; ${kind.plural} are namespaced, so name the namespace`,
    );
  }
  return namespace;
}
