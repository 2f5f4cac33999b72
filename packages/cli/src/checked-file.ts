import type { KubeObject } from '@openstack-operator/kube';
import { group } from '@openstack-operator/openstack';
import type { Mistake } from './admission.ts';
import { CommandError } from './command-error.ts';
import { readFileObjects, titleOfFile, titleOfFiles } from './read-resources.ts';
import { type SoundPart, soundPart } from './sound-part.ts';
import { titleOf, validateResource } from './validate-resource.ts';

/** A resource of ours in files that are read together, and what admission says of it. */
export interface CheckedResource {
  /** Kind and key, and where it stands: which of several files, and where in a list. */
  readonly title: string;
  readonly resource: KubeObject;
  readonly mistakes: readonly Mistake[];
  /** What can be composed of it. */
  readonly sound: SoundPart | undefined;
}

/** Lines that a command writes of the mistakes in a file. */
const MOST_LINES = 100;

/**
 * The resources of ours in files. What is of other groups is named on standard error. A resource that is there already is a
 * mistake.
 * @throws CommandError when one cannot be read, or when they have none
 */
export function checkFiles(files: readonly string[]): CheckedResource[] {
  const places = new Map<string, string>();
  const all = files.flatMap((file) =>
    readFileObjects(file).map((one) => ({ ...one, inFile: files.length > 1 ? [titleOfFile(file)] : [] })),
  );
  const checked = all.flatMap(({ object: resource, inFile, document, item }) => {
    if (!resource.apiVersion.startsWith(`${group}/`)) {
      process.stderr.write(`not checked: ${resource.apiVersion} ${resource.kind} is not of ${group}\n`);
      return [];
    }
    const joined = (...parts: readonly (string | undefined)[]) =>
      [...inFile, ...parts].filter((part) => part !== undefined).join(', ');
    const title = `${titleOf(resource)}${joined(item) === '' ? '' : ` (${joined(item)})`}`;
    const mistakes = [...validateResource(resource), ...alreadyAt(places, resource, joined(document, item))];
    return [{ title, resource, mistakes, sound: soundPart(resource, mistakes) }];
  });
  if (checked.length === 0)
    throw new CommandError(`${titleOfFiles(files)} ${files.length === 1 ? 'has' : 'have'} no resource of ${group}`);
  return checked;
}

/** That a resource stands at an earlier place as well; notes its place otherwise. */
function alreadyAt(places: Map<string, string>, resource: KubeObject, place: string): Mistake[] {
  const { apiVersion, kind, metadata } = resource;
  const { name, namespace = 'default' } = metadata;
  if (name === undefined) return [];
  const id = JSON.stringify([apiVersion, kind, namespace, name]);
  const first = places.get(id);
  if (first === undefined) {
    places.set(id, place);
    return [];
  }
  return [
    {
      field: 'metadata.name',
      message: `${place} is the same resource as ${first}: remove one of the two, or give it another name`,
    },
  ];
}

/** What admission says of the resources, a line each. */
export function linesOf(checked: readonly CheckedResource[]): string[] {
  return checked.flatMap(({ title, mistakes }) =>
    mistakes.map(({ field, message }) => `${title}: ${field}: ${message}`),
  );
}

/**
 * Ends a command that has found mistakes.
 * @throws CommandError that counts them, after they were written
 */
export function refuse(files: readonly string[], lines: readonly string[], out: { write(text: string): void }): never {
  for (const line of lines.slice(0, MOST_LINES)) out.write(`${line}\n`);
  if (lines.length > MOST_LINES) out.write(`and ${lines.length - MOST_LINES} more\n`);
  throw new CommandError(`${lines.length} ${lines.length === 1 ? 'mistake' : 'mistakes'} in ${titleOfFiles(files)}`, 1);
}
