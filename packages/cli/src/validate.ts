import { type CheckedResource, checkFiles, linesOf, refuse } from './checked-file.ts';
import { type ComposedMistake, composedMistakes } from './composed-mistakes.ts';
import { titleOfFiles } from './read-resources.ts';
import { mayFollow } from './sound-part.ts';

/** `kubectl openstack validate`: exit 1 and one line for each mistake; warnings go to standard error. */
export function validateCommand({ file: files }: { file: readonly string[] }): void {
  const checked = checkFiles(files);
  const lines = linesOf(checked);
  for (const { title, field, message, isWarning } of composedOf(checked)) {
    const line = `${title}: ${field}: ${message}`;
    if (isWarning === true) process.stderr.write(`warning: ${line}\n`);
    else lines.push(line);
  }
  if (lines.length > 0) refuse(files, lines, process.stdout);
  process.stdout.write(
    `${titleOfFiles(files)}: ${checked.length} ${checked.length === 1 ? 'resource is' : 'resources are'} valid\n`,
  );
}

/** What shows when what is sound is composed; what may follow from mistakes that are told already is left out. */
function composedOf(checked: readonly CheckedResource[]): ComposedMistake[] {
  const composable = checked.filter(({ sound }) => sound !== undefined);
  for (const { title, sound } of checked) {
    if (sound === undefined)
      process.stderr.write(`not composed: ${title}: more may show when its mistakes are mended\n`);
    else if (sound.without.length > 0) {
      process.stderr.write(
        `composed without ${sound.without.join(', ')}: ${title}: what follows from several fields shows when they are mended\n`,
      );
    }
  }
  return tried(composable).flatMap((mistake) => {
    const of = composable.find(({ resource }) => keyOf(resource) === mistake.title);
    if (of?.sound !== undefined && mayFollow(mistake, of.sound)) return [];
    return [{ ...mistake, title: of?.title ?? mistake.title }];
  });
}

function tried(checked: readonly CheckedResource[]): ComposedMistake[] {
  try {
    return composedMistakes(checked.flatMap(({ sound }) => sound?.object ?? []));
  } catch (error) {
    const whole = checked.filter(({ mistakes }) => mistakes.length === 0);
    // Of what is admitted all is composed; what lacks fields for its mistakes need not be.
    if (whole.length === checked.length) throw error;
    return composedMistakes(whole.flatMap(({ sound }) => sound?.object ?? []));
  }
}

/** As composedMistakes calls a resource. */
function keyOf({ kind, metadata: { name, namespace = 'default' } }: CheckedResource['resource']): string {
  return `${kind} ${namespace}/${name}`;
}
