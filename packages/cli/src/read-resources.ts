import { readFileSync } from 'node:fs';
import type { KubeObject } from '@openstack-operator/kube';
import { CommandError } from './command-error.ts';
import { isObject } from './is-object.ts';
import { type ReadDocument, readDocuments } from './read-documents.ts';

/** How messages call a file. */
export function titleOfFile(file: string): string {
  return file === '-' ? 'standard input' : file;
}

/** How messages call files that are read together. */
export function titleOfFiles(files: readonly string[]): string {
  return files.map(titleOfFile).join(', ');
}

/** An object of a file. */
export interface FileObject {
  readonly object: KubeObject;
  /** Which document of the file has it, such as `document 2`; absent where there is no other. */
  readonly document?: string;
  /** Where it stands within a list, such as `items[2]`; absent for a document of its own. */
  readonly item?: string;
}

/** The objects of files, see readFileObjects. */
export function readResources(files: readonly string[]): KubeObject[] {
  return files.flatMap((file) => readFileObjects(file).map(({ object }) => object));
}

/**
 * The objects of a YAML or JSON file, or of standard input for `-`. The items of lists are among them, as kubectl sees them.
 * @throws CommandError with file, document, line, field, and what was expected
 */
export function readFileObjects(file: string): FileObject[] {
  const name = titleOfFile(file);
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new CommandError(`${name} cannot be read: ${(error as Error).message}`, 2);
  }
  const documents = readDocuments(text, name);
  if (documents.length === 0) throw new CommandError(`${name} has no object`);
  return documents.flatMap((document) =>
    objectsOf(document).map((one) => ({
      ...one,
      ...(document.document === undefined ? {} : { document: document.document }),
    })),
  );
}

function objectsOf({ value, errorAt }: ReadDocument): FileObject[] {
  // What has items is a list, whatever its kind; kubectl takes a List without them for an object of its own.
  if (!isObject(value) || value['items'] === undefined) return [{ object: checked(value, '', errorAt) }];
  const { items, kind, apiVersion } = value;
  if (!Array.isArray(items)) throw errorAt('items', `expected a list of objects, not ${typeName(items)}`);
  return items.map((item: unknown, position) => {
    const field = `items[${position}]`;
    if (isObject(item) && item['items'] !== undefined) {
      throw errorAt(
        field,
        'a list stands in a list, which kubectl does not look into: put its items into the outer one',
      );
    }
    const whole = isObject(item) ? { ...impliedBy({ kind, apiVersion }), ...item } : item;
    return { object: checked(whole, field, errorAt), item: field };
  });
}

/** What items of a list need not say, as kubectl has it: a list of kind MariaDBList has items of kind MariaDB. */
function impliedBy({ kind, apiVersion }: { kind: unknown; apiVersion: unknown }): object {
  const implied = typeof kind === 'string' ? kind.replace(/List$/u, '') : '';
  return implied === '' || implied === kind ? {} : { apiVersion, kind: implied };
}

function checked(value: unknown, field: string, errorAt: ReadDocument['errorAt']): KubeObject {
  if (!isObject(value)) {
    throw errorAt(field, `expected a Kubernetes object with apiVersion and kind, not ${typeName(value)}`);
  }
  const within = (name: string) => (field === '' ? name : `${field}.${name}`);
  for (const name of ['apiVersion', 'kind']) {
    const given = value[name];
    if (typeof given === 'string' && given !== '') continue;
    const example = name === 'kind' ? 'OpenStackControlPlane' : 'openstack.k8s.io/v1alpha1';
    const found = given === undefined ? 'it is missing' : `not ${given === '' ? 'an empty one' : typeName(given)}`;
    throw errorAt(within(name), `this is not a Kubernetes object: expected a string such as ${example}; ${found}`);
  }
  const { metadata } = value;
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) {
    throw errorAt(
      within('metadata'),
      `expected a map with a name, such as {name: my-cloud}, not ${typeName(metadata)}${typeof metadata === 'string' ? ` ${JSON.stringify(metadata)}` : ''}`,
    );
  }
  return { ...(value as unknown as KubeObject), metadata: metadata ?? {} };
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}
