import { aborted, isFatal } from '../program-support.ts';
import { echo, printf } from './output-commands.ts';
import { parseScript } from './parser.ts';
import { assign, ControlFlow, complain, resolvePath, ShellError, type ShellState } from './state.ts';
import type { Script } from './syntax.ts';
import { evaluateTest } from './test-expression.ts';

/** What builtins need of the interpreter. */
export interface Interpreter {
  readonly line: number;
  script(script: Script): Promise<number>;
  program(argv: readonly string[], assignments: ReadonlyMap<string, string>, signal?: AbortSignal): Promise<number>;
}

type Builtin = (
  state: ShellState,
  operands: readonly string[],
  interpreter: Interpreter,
  assignments: ReadonlyMap<string, string>,
) => number | Promise<number>;

/** Whether the shell itself does this command. */
export function isBuiltin(name: string): boolean {
  return Object.hasOwn(builtins, name);
}

/** Runs a builtin and gives its status. */
export async function runBuiltin(
  state: ShellState,
  argv: readonly string[],
  assignments: ReadonlyMap<string, string>,
  interpreter: Interpreter,
): Promise<number> {
  const [name, ...operands] = argv;
  if (name === '[' && operands.pop() !== ']') {
    complain(state, '[: missing ]', interpreter.line);
    return 2;
  }
  return (builtins[name as string] as Builtin)(state, operands, interpreter, assignments);
}

const out = (state: ShellState, text: string): void => state.descriptors.sinks[1]?.(text);

const test: Builtin = (state, operands, { line }) => {
  try {
    return evaluateTest(state.process, state.directory, operands);
  } catch (error) {
    complain(state, `[: ${(error as Error).message}`, line);
    return 2;
  }
};

const evaluate: Builtin = (_state, operands, interpreter) => interpreter.script(parseScript(operands.join(' ')));

const source: Builtin = (state, operands, interpreter) => {
  const [file] = operands;
  if (file === undefined) throw new ShellError('.: filename argument required');
  const path = resolvePath(state.directory, file);
  if (!state.process.files.exists(path)) throw new ShellError(`.: cannot open ${file}: No such file`);
  return interpreter.script(parseScript(state.process.files.read(path)));
};

const exportVariables: Builtin = (state, operands) => {
  for (const operand of operands.filter((text) => text !== '-p')) {
    const [name, value] = declarationOf(operand, 'export');
    if (value !== undefined) assign(state, name, value);
    state.exported.add(name);
  }
  return 0;
};

const setOptions: Builtin = (state, operands) => {
  for (let i = 0; i < operands.length; i += 1) {
    const operand = operands[i] as string;
    if (operand === '--' || !/^[-+]./.test(operand)) {
      state.positional = operands.slice(operand === '--' ? i + 1 : i);
      return 0;
    }
    const on = operand.startsWith('-');
    for (const letter of operand.slice(1)) {
      if (letter === 'o') {
        i += 1;
        setLongOption(state, operands[i] ?? '', on);
      } else if (!setLetter(state, letter, on)) throw new ShellError(`set: Illegal option -${letter}`);
    }
  }
  return 0;
};

const letters: Readonly<Record<string, keyof ShellState['options']>> = {
  e: 'errexit',
  u: 'nounset',
  x: 'xtrace',
  f: 'noglob',
};

/** `set -e` and its like; told whether there is such a letter. */
export function setLetter(state: ShellState, letter: string, on: boolean): boolean {
  const name = letters[letter];
  if (name !== undefined) state.options[name] = on;
  return name !== undefined;
}

/** `set -o name`; dash before 0.5.13 (Debian 12 and 13, Ubuntu 24.04) knows no pipefail. */
export function setLongOption(state: ShellState, name: string, on: boolean): void {
  if (!Object.hasOwn(state.options, name) || (name === 'pipefail' && state.dialect === 'sh')) {
    throw new ShellError(
      state.dialect === 'sh' ? `set: Illegal option -o ${name}` : `set: ${name}: invalid option name`,
    );
  }
  state.options[name as keyof ShellState['options']] = on;
}

const read: Builtin = (state, operands) => {
  const raw = operands[0] === '-r';
  const names = raw ? operands.slice(1) : [...operands];
  const unknown = names.find((name) => name.startsWith('-'));
  if (unknown !== undefined) throw new ShellError(`read: ${unknown} is not modelled`);
  const text = state.descriptors.input?.line() ?? '';
  const separators = state.variables.get('IFS') ?? ' \t\n';
  let rest = text.replace(/\n$/, '');
  if (!raw) rest = rest.replaceAll(/\\(.)/g, '$1');
  const blank = (char: string | undefined): boolean => char !== undefined && separators.includes(char);
  for (const [index, name] of (names.length > 0 ? names : ['REPLY']).entries()) {
    while (blank(rest[0])) rest = rest.slice(1);
    const end = index === names.length - 1 ? -1 : Array.from(rest).findIndex((char) => blank(char));
    let value = end < 0 ? rest : rest.slice(0, end);
    rest = end < 0 ? '' : rest.slice(end + 1);
    if (end < 0) while (blank(value.at(-1))) value = value.slice(0, -1);
    assign(state, name, value);
  }
  return text.endsWith('\n') ? 0 : 1;
};

const trap: Builtin = (state, operands) => {
  const [action = '-', ...signals] = operands;
  for (const name of signals) {
    const signal = { '0': 'EXIT', '15': 'TERM', '2': 'INT', '1': 'HUP' }[name] ?? name.replace(/^SIG/, '');
    if (!['EXIT', 'TERM', 'INT', 'HUP', 'QUIT'].includes(signal)) throw new ShellError(`trap: ${name}: bad trap`);
    if (action === '-') state.traps.delete(signal);
    else state.traps.set(signal, action);
  }
  return 0;
};

const wait: Builtin = async (state, operands) => {
  const pending = [...state.jobs.values()];
  const never = new Promise<number>(() => undefined);
  const interrupted = state.traps.has('TERM') ? aborted(state.process.signal).then(() => 143) : never;
  if (operands[0] === '-n') {
    const open = pending.filter((job) => job.status === undefined);
    return open.length === 0 ? 127 : Promise.race([...open.map((job) => job.done), interrupted]);
  }
  let status = 0;
  const chosen = operands.length === 0 ? pending : operands.map((pid) => state.jobs.get(Number(pid)));
  for (const job of chosen) status = job === undefined ? 127 : await Promise.race([job.done, interrupted]);
  return operands.length === 0 && status !== 143 ? 0 : status;
};

const kill: Builtin = (state, operands, { line }) => {
  const named =
    operands[0] === '-s' ? operands.slice(0, 2) : operands.filter((text) => /^-\w+$/.test(text)).slice(0, 1);
  const signal = (named.at(-1) ?? 'TERM').replace(/^-(SIG)?/, '');
  let status = 0;
  for (const pid of operands.slice(named.length)) {
    if (Number(pid) === state.process.pid) {
      signalItself(state, signal);
      continue;
    }
    const job = state.jobs.get(Number(pid));
    if (job === undefined || job.status !== undefined) {
      complain(state, 'kill: No such process', line);
      status = 1;
    } else if (signal !== '0') job.controller.abort();
  }
  return status;
};

/** What a background job sends to `$$`: the program hears of it that has replaced the shell. */
function signalItself({ process }: ShellState, signal: string): void {
  if (signal !== '0' && isFatal(process.signals, signal))
    throw new ShellError(`kill: ${signal} for the shell itself is not modelled`);
}

const exec: Builtin = async (state, operands, interpreter, assignments) => {
  if (operands.length === 0) return 0;
  state.replaced = true;
  throw new ControlFlow('exit', await interpreter.program(operands, assignments, state.signal ?? state.process.signal));
};

const local: Builtin = (state, operands) => {
  const scope = state.locals.at(-1);
  if (scope === undefined) throw new ShellError('local: not in a function');
  for (const operand of operands) {
    const [name, value] = declarationOf(operand, 'local');
    if (!scope.has(name)) scope.set(name, state.variables.get(name));
    if (value !== undefined) assign(state, name, value);
  }
  return 0;
};

const changeDirectory: Builtin = (state, operands, { line }) => {
  const target = operands[0] ?? state.variables.get('HOME') ?? '/';
  const path = resolvePath(state.directory, target);
  if (!state.process.files.exists(path) || !state.process.files.isDirectory(path)) {
    complain(
      state,
      state.dialect === 'bash' ? `cd: ${target}: No such file or directory` : `cd: can't cd to ${target}`,
      line,
    );
    return state.dialect === 'bash' ? 1 : 2;
  }
  state.directory = path;
  return 0;
};

const leave =
  (kind: 'exit' | 'return'): Builtin =>
  (state, operands) => {
    throw new ControlFlow(kind, operands[0] === undefined ? state.status : Number(operands[0]) & 255);
  };

const leaveLoop =
  (kind: 'break' | 'continue'): Builtin =>
  (_state, operands) => {
    throw new ControlFlow(kind, Number(operands[0] ?? 1));
  };

function declarationOf(operand: string, command: string): [string, string | undefined] {
  const match = /^([A-Za-z_]\w*)(?:=([\s\S]*))?$/.exec(operand);
  if (match === null) throw new ShellError(`${command}: ${operand}: bad variable name`);
  return [match[1] as string, match[2]];
}

/** What a process may open, on a node that grants no more (CAP_SYS_RESOURCE). */
const openFiles = 20_000;

const builtins: Readonly<Record<string, Builtin>> = {
  ':': () => 0,
  true: () => 0,
  false: () => 1,
  '[': test,
  test,
  '.': source,
  source,
  eval: evaluate,
  exec,
  cd: changeDirectory,
  pwd: (state) => (out(state, `${state.directory}\n`), 0),
  echo: (state, operands) => (out(state, echo(operands, state.dialect === 'sh')), 0),
  printf: (state, operands) => (out(state, printf(operands)), 0),
  export: exportVariables,
  unset: (state, operands) => {
    for (const name of operands.filter((text) => !text.startsWith('-'))) {
      state.variables.delete(name);
      state.exported.delete(name);
      state.functions.delete(name);
    }
    return 0;
  },
  readonly: (state, operands) => {
    for (const operand of operands) {
      const [name, value] = declarationOf(operand, 'readonly');
      if (value !== undefined) assign(state, name, value);
      state.readonly.add(name);
    }
    return 0;
  },
  local,
  set: setOptions,
  shift: (state, operands) => {
    const count = Number(operands[0] ?? 1);
    if (count > state.positional.length) throw new ShellError("shift: can't shift that many");
    state.positional = state.positional.slice(count);
    return 0;
  },
  read,
  trap,
  wait,
  kill,
  umask: (state, operands) => {
    const [mask] = operands;
    if (mask === undefined) out(state, `${state.umask.toString(8).padStart(4, '0')}\n`);
    else if (/^[0-7]{1,4}$/.test(mask)) state.umask = Number.parseInt(mask, 8);
    else throw new ShellError(`umask: ${mask} is not modelled`);
    return 0;
  },
  ulimit: (state, operands, { line }) => {
    const [limit, value] = operands;
    if (limit === undefined || !/^-[SH]?n$/.test(limit))
      throw new ShellError(`ulimit: ${operands.join(' ')} is not modelled`);
    if (value === undefined) out(state, `${openFiles}\n`);
    else if (Number(value) > openFiles) {
      complain(state, 'ulimit: open files: cannot modify limit: Operation not permitted', line);
      return 1;
    }
    return 0;
  },
  exit: leave('exit'),
  return: leave('return'),
  break: leaveLoop('break'),
  continue: leaveLoop('continue'),
  command: async (state, operands, interpreter, assignments) => {
    if (operands[0] !== '-v') return interpreter.program(operands, assignments);
    const name = operands[1] ?? '';
    if (!isBuiltin(name) && !state.functions.has(name))
      throw new ShellError(`command -v ${name}: is not modelled for programs`);
    out(state, `${name}\n`);
    return 0;
  },
};
