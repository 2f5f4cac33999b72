import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../attempt.ts';
import type { CommandLine, OptionNames } from '../command-line.ts';
import { CommandError, commandWith, fileSystemSize, makeDirectories, nameOf, notModelled } from '../program-support.ts';
import { resolvePath } from './state.ts';

/** Absolute path of an operand, as seen from the caller's directory. */
export function absolutePath(process: Process, path: string): string {
  return resolvePath(process.env['PWD'] ?? '/', path);
}

type Each = (path: string, operand: string) => void;

/** Does something for every operand; one that fails is reported (`name: verb 'x': reason`) and the rest goes on. */
function forEachOperand(process: Process, operands: readonly string[], verb: string, each: Each): number {
  if (operands.length === 0) throw new CommandError(`${nameOf(process)}: missing operand`);
  let status = 0;
  for (const operand of operands) {
    try {
      each(absolutePath(process, operand), operand);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      process.stderr(`${nameOf(process)}: ${verb.replace('%', operand)}: ${error.reason}\n`);
      status = 1;
    }
  }
  return status;
}

/** `cp` and `mv`: the last operand is where the others go, or what they become. */
function toTarget(
  names: OptionNames,
  move: (process: Process, line: CommandLine, from: string, to: string, operand: string) => void,
): Program {
  return commandWith(names, (process, line) => {
    const target = line.operands.at(-1);
    if (target === undefined || line.operands.length < 2)
      throw new CommandError(`${nameOf(process)}: missing destination file operand`);
    return forEachOperand(process, line.operands.slice(0, -1), "cannot stat '%'", (path, operand) =>
      move(process, line, path, destination(process, operand, target), operand),
    );
  });
}

function octal(process: Process, text: string): number {
  if (!/^[0-7]{3,4}$/.test(text)) notModelled(process, `the mode ${text}`);
  return Number.parseInt(text, 8);
}

function removeTree(process: Process, path: string): void {
  for (const name of process.files.list(path)) {
    const child = `${path}/${name}`;
    if (process.files.isDirectory(child)) removeTree(process, child);
    else process.files.remove(child);
  }
  process.files.remove(path);
}

function copyTree(process: Process, from: string, to: string, preserve: boolean): void {
  const { files } = process;
  const facts = files.stat(from);
  if (facts.type === 'directory') {
    if (!files.exists(to)) files.mkdir(to, { mode: facts.mode });
    for (const name of files.list(from)) copyTree(process, `${from}/${name}`, `${to}/${name}`, preserve);
  } else if (facts.type === 'file') {
    const existed = files.exists(to);
    files.write(to, files.read(from), existed ? {} : { mode: facts.mode });
  } else throw new CommandError(`${nameOf(process)}: ${from}: sockets are not copied by this simulated cp`, 2);
  if (preserve && process.uid === 0) files.chown(to, facts.uid, facts.gid);
}

/** Destination of a source: inside it when it is a directory. */
function destination(process: Process, source: string, target: string): string {
  const path = absolutePath(process, target);
  const inside = process.files.exists(path) && process.files.isDirectory(path);
  return inside ? `${path}/${source.replace(/\/+$/, '').split('/').at(-1)}` : path;
}

function walk(process: Process, path: string, recursive: boolean, each: (path: string) => void): void {
  each(path);
  if (!recursive || !process.files.isDirectory(path)) return;
  for (const name of process.files.list(path)) walk(process, `${path}/${name}`, true, each);
}

function symbolicMode(process: Process, text: string): (mode: number) => number {
  const match = /^([ugoa]*)([-+=])([rwxX]*)$/.exec(text);
  if (match === null) notModelled(process, `the mode ${text}`);
  const [, who, operator, what] = match as unknown as [string, string, string, string];
  const bits = Array.from(what).reduce(
    (sum, letter) => sum | { r: 4, w: 2, x: 1, X: 1 }[letter as 'r' | 'w' | 'x' | 'X'],
    0,
  );
  const shifts =
    who === '' || who.includes('a')
      ? [6, 3, 0]
      : Array.from(who, (letter) => ({ u: 6, g: 3, o: 0 })[letter as 'u' | 'g' | 'o']);
  return (mode) =>
    shifts.reduce((changed, shift) => {
      if (operator === '+') return changed | (bits << shift);
      if (operator === '-') return changed & ~(bits << shift);
      return (changed & ~(7 << shift)) | (bits << shift);
    }, mode);
}

/** Numeric id of a user or group; undefined when the image does not know the name. */
export function idOf(process: Process, file: '/etc/passwd' | '/etc/group', name: string): number | undefined {
  if (/^\d+$/.test(name)) return Number(name);
  const lines = process.files.exists(file) ? process.files.read(file).split('\n') : [];
  const entry = lines.map((line) => line.split(':')).find(([known]) => known === name);
  return entry === undefined ? undefined : Number(entry[2]);
}

/** Coreutils that work on files. */
export const fileCommands: Readonly<Record<string, Program>> = {
  mkdir: commandWith({ flags: 'p|parents v', values: 'm|mode' }, (process, line) => {
    const text = line.value('mode');
    const mode = text === undefined ? undefined : octal(process, text);
    return forEachOperand(process, line.operands, "cannot create directory '%'", (path) => {
      if (line.has('parents')) {
        const existed = process.files.exists(path);
        makeDirectories(process, path);
        if (mode !== undefined && !existed) process.files.chmod(path, mode);
      } else process.files.mkdir(path, mode === undefined ? {} : { mode });
    });
  }),
  rm: commandWith({ flags: 'r|R|recursive f|force v one-file-system', values: 'preserve-root' }, (process, line) => {
    const force = line.has('force');
    if (force && line.operands.length === 0) return 0;
    return forEachOperand(process, line.operands, "cannot remove '%'", (path) => {
      if (force && !process.files.exists(path)) return;
      if (process.files.isDirectory(path)) {
        if (!line.has('recursive')) throw new SystemError('EISDIR', path);
        removeTree(process, path);
      } else process.files.remove(path);
    });
  }),
  rmdir: commandWith({}, (process, line) =>
    forEachOperand(process, line.operands, "failed to remove '%'", (path) => process.files.remove(path)),
  ),
  cp: toTarget({ flags: 'r|R a p f v L d' }, (process, line, from, to, operand) => {
    if (process.files.isDirectory(from) && !line.has('r') && !line.has('a'))
      throw new CommandError(`cp: -r not specified; omitting directory '${operand}'`);
    copyTree(process, from, to, line.has('a') || line.has('p'));
  }),
  mv: toTarget({ flags: 'f v n' }, (process, _line, from, to) => process.files.rename(from, to)),
  ln: commandWith({ flags: 's f n v' }, (process, line) => {
    if (!line.has('s')) notModelled(process, 'hard links');
    const [target, link] = line.operands;
    if (target === undefined || link === undefined) throw new CommandError('ln: missing file operand');
    const path = destination(process, target, link);
    if (line.has('f') && process.files.exists(path)) process.files.remove(path);
    process.files.symlink(target, path);
    return 0;
  }),
  /** Says nothing of what is no link, and fails then. */
  readlink: commandWith({}, (process, line) => {
    const links = line.operands.map((operand) =>
      attempt(
        SystemError,
        () => process.files.readlink(absolutePath(process, operand)),
        () => undefined,
      ),
    );
    for (const link of links) if (link !== undefined) process.stdout(`${link}\n`);
    return links.includes(undefined) ? 1 : 0;
  }),
  touch: commandWith({}, (process, line) =>
    forEachOperand(process, line.operands, "cannot touch '%'", (path) => {
      if (!process.files.exists(path)) process.files.write(path, '');
    }),
  ),
  chmod: commandWith({ flags: 'R v f' }, (process, line) => {
    const [text = '', ...operands] = line.operands;
    const change = /^\d+$/.test(text) ? () => octal(process, text) : symbolicMode(process, text);
    return forEachOperand(process, operands, "changing permissions of '%'", (path) =>
      walk(process, path, line.has('R'), (each) => process.files.chmod(each, change(process.files.stat(each).mode))),
    );
  }),
  chown: commandWith({ flags: 'R v f h' }, (process, line) => {
    const [owner = '', ...operands] = line.operands;
    const [user = '', group] = owner.split(':');
    const invalid = (what: string, name: string): never => {
      throw new CommandError(`chown: invalid ${what}: '${name}'`);
    };
    const asked = group === '' ? user : group;
    if (operands.length === 0)
      throw new CommandError(`chown: missing operand after ‘${owner}’\nTry 'chown --help' for more information.`);
    return forEachOperand(process, operands, "changing ownership of '%'", (path) =>
      walk(process, path, line.has('R'), (each) => {
        const facts = process.files.stat(each);
        const uid = user === '' ? facts.uid : (idOf(process, '/etc/passwd', user) ?? invalid('user', user));
        const gid = asked === undefined ? facts.gid : (idOf(process, '/etc/group', asked) ?? invalid('group', asked));
        if (process.uid !== 0 && uid === facts.uid && gid === facts.gid) return;
        process.files.chown(each, uid, gid);
      }),
    );
  }),
  ls: commandWith({ flags: '1 a A l d h' }, (process, line) => {
    const operands = line.operands.length > 0 ? line.operands : ['.'];
    const show = (path: string, name: string): string => {
      if (!line.has('l')) return `${name}\n`;
      const { type, mode, uid, gid, size } = process.files.stat(path);
      const letter = { file: '-', directory: 'd', socket: 's' }[type];
      const bits = Array.from({ length: 9 }, (_, i) => ((mode >> (8 - i)) & 1 ? 'rwx'[i % 3] : '-')).join('');
      return `${letter}${bits} 1 ${uid} ${gid} ${size} ${name}\n`;
    };
    return forEachOperand(process, operands, "cannot access '%'", (path, operand) => {
      if (process.files.stat(path).type !== 'directory' || line.has('d')) return process.stdout(show(path, operand));
      for (const name of process.files.list(path)) {
        if (name.startsWith('.') && !line.has('a') && !line.has('A')) continue;
        process.stdout(show(`${path}/${name}`, name));
      }
    });
  }),
  /** GNU's `df --output=FIELD PATH...`: how large the file systems are that paths lie on, in KiB (`-k`, size), or their type (fstype). */
  df: commandWith({ flags: 'k', values: 'output' }, (process, line) => {
    const field = line.value('output');
    if (field !== 'fstype' && !(line.has('k') && field === 'size'))
      notModelled(process, 'anything but -k --output=size and --output=fstype');
    let rows = '';
    const status = forEachOperand(process, line.operands, '%', (path) => {
      rows +=
        field === 'fstype'
          ? `${process.files.fileSystem(path)}\n`
          : `${String(Math.floor(fileSystemSize(process, path) / 1024)).padStart(9)}\n`;
    });
    if (rows !== '') process.stdout(`${field === 'fstype' ? 'Type' : '1K-blocks'}\n${rows}`);
    return status;
  }),
  /** util-linux: `mountpoint -q PATH`, 0 where a file system is mounted, 1 where there is a directory without, or nothing. */
  mountpoint: commandWith({ flags: 'q' }, (process, line) => {
    const [path = '', ...more] = line.operands;
    if (!line.has('q') || more.length > 0) notModelled(process, 'anything but -q PATH');
    return process.files.exists(path) && process.files.isMountPoint(path) ? 0 : 1;
  }),
  /** What is written is durable at once. */
  sync: commandWith({ flags: 'f' }, (process, line) =>
    forEachOperand(process, line.operands, "error opening '%'", (path) => void process.files.stat(path)),
  ),
};
