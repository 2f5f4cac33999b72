import type { KubeObject } from '@openstack-operator/kube';
import { group } from '@openstack-operator/openstack';
import type { Mistake } from './admission.ts';
import { CommandError } from './command-error.ts';
import { readFileObjects, titleOfFile } from './read-resources.ts';
import { type SoundPart, soundPart } from './sound-part.ts';
import { titleOf, validateResource } from './validate-resource.ts';

/** A resource of ours in a file, and what admission says of it. */
export interface CheckedResource {
  /** Kind and key, and where it stands in a list. */
  readonly title: string;
  readonly resource: KubeObject;
  readonly mistakes: readonly Mistake[];
  /** What can be composed of it. */
  readonly sound: SoundPart | undefined;
}

/** Lines that a command writes of the mistakes in a file. */
const MOST_LINES = 100;

/**
 * The resources of ours in a file. What is of other groups is named on standard error.
 * @throws CommandError when it cannot be read or has none
 */
export function checkFile(file: string): CheckedResource[] {
  const checked = readFileObjects(file).flatMap(({ object: resource, item }) => {
    if (!resource.apiVersion.startsWith(`${group}/`)) {
      process.stderr.write(`not checked: ${resource.apiVersion} ${resource.kind} is not of ${group}\n`);
      return [];
    }
    const mistakes = validateResource(resource);
    const title = `${titleOf(resource)}${item === undefined ? '' : ` (${item})`}`;
    return [{ title, resource, mistakes, sound: soundPart(resource, mistakes) }];
  });
  if (checked.length === 0) throw new CommandError(`${titleOfFile(file)} has no resource of ${group}`);
  return checked;
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
export function refuse(file: string, lines: readonly string[], out: { write(text: string): void }): never {
  for (const line of lines.slice(0, MOST_LINES)) out.write(`${line}\n`);
  if (lines.length > MOST_LINES) out.write(`and ${lines.length - MOST_LINES} more\n`);
  throw new CommandError(`${lines.length} ${lines.length === 1 ? 'mistake' : 'mistakes'} in ${titleOfFile(file)}`);
}
