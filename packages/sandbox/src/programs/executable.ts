import type { FileSystem, Image, Program } from './program.ts';

/** A program and the arguments that it is called with. */
export interface Executable {
  readonly program: Program;
  readonly argv: readonly string[];
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const MOST_INTERPRETERS = 4;

/**
 * Finds what `argv[0]` names: a program of the image by bare name (through PATH) or path, or a script on disk whose
 * first line names such a program. The result is a text, runc's complaint, when there is none.
 */
export function findExecutable(
  image: Image,
  files: FileSystem,
  argv: readonly string[],
  path: string | undefined,
  depth = 0,
): Executable | string {
  const [name = '', ...args] = argv;
  const directories = (path ?? DEFAULT_PATH).split(':');
  if (!name.includes('/')) {
    const known =
      image.programs[name] ?? directories.map((directory) => image.programs[`${directory}/${name}`]).find(Boolean);
    if (known) return { program: known, argv };
    const found = directories.map((directory) => `${directory}/${name}`).find((candidate) => files.exists(candidate));
    if (found === undefined) return `exec: "${name}": executable file not found in $PATH`;
    return findExecutable(image, files, [found, ...args], path, depth);
  }
  const bare = name.slice(name.lastIndexOf('/') + 1);
  const inPath = DEFAULT_PATH.split(':').includes(name.slice(0, name.lastIndexOf('/')));
  const program = image.programs[name] ?? (inPath ? image.programs[bare] : undefined);
  if (program) return { program, argv };
  if (!files.exists(name)) return `exec: "${name}": stat ${name}: no such file or directory`;
  if (files.isDirectory(name)) return `exec: "${name}": is a directory`;
  if ((files.stat(name).mode & 0o111) === 0) return `exec: "${name}": permission denied`;
  const [, interpreter = ''] = /^#!\s*([^\n]*)/.exec(files.read(name)) ?? [];
  if (interpreter.trim() === '' || depth >= MOST_INTERPRETERS) return `exec format error: ${name}`;
  const words = interpreter.trim().split(/\s+/);
  const command = words[0]?.endsWith('/env') ? words.slice(1) : words;
  return findExecutable(image, files, [...command, name, ...args], path, depth + 1);
}
