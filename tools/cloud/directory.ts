import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './place.ts';
import { StepError } from './step.ts';

/** Says that a directory is a cloud's, and may be emptied. */
const marker = '.openstack-operator-cloud';

/** What is wrong with the place's directory: somebody else's files are neither overwritten nor removed. */
export function problemOfDirectory({ directory }: Place): string | undefined {
  if (!existsSync(directory) || existsSync(join(directory, marker))) return undefined;
  const [file] = readdirSync(directory);
  return file === undefined
    ? undefined
    : `${directory} holds files that are not of a cloud, such as ${file}: choose another directory with --dir, or empty it.`;
}

/** Makes the directory and marks it as a cloud's. @throws StepError when it holds somebody else's files */
export function takeDirectory(place: Place): void {
  const problem = problemOfDirectory(place);
  if (problem !== undefined) throw new StepError(problem);
  mkdirSync(place.directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(place.directory, marker), '');
}

/** Removes all but the node's own directory, which has images to keep. */
export function emptyDirectory({ directory, kubernetes }: Place): void {
  for (const path of readdirSync(directory).map((name) => join(directory, name))) {
    if (path !== kubernetes && path !== join(directory, marker)) rmSync(path, { recursive: true });
  }
}
