import type { Process } from '@openstack-operator/sandbox';
import type { Command, Script } from './syntax.ts';

/** Where a descriptor's output goes. */
export type Sink = (text: string) => void;

/** Standard input as a text that several readers use up together. */
export class Input {
  #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next line with its newline; '' at the end. */
  line(): string {
    const end = this.#text.indexOf('\n');
    const line = end < 0 ? this.#text : this.#text.slice(0, end + 1);
    this.#text = this.#text.slice(line.length);
    return line;
  }

  /** Everything that nobody has read yet. */
  rest(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/** Open descriptors: 0 is read from, all others are written to. */
export interface Descriptors {
  readonly input: Input | undefined;
  readonly sinks: Readonly<Record<number, Sink>>;
}

/** A command that runs in the background. */
export interface BackgroundJob {
  readonly pid: number;
  readonly controller: AbortController;
  readonly done: Promise<number>;
  status?: number;
}

/** What `set` switches. */
export interface ShellOptions {
  errexit: boolean;
  nounset: boolean;
  xtrace: boolean;
  noglob: boolean;
  pipefail: boolean;
}

/** All that a running shell knows. A subshell works on a copy. */
export interface ShellState {
  readonly process: Process;
  /** `sh` is dash, as on Debian and Ubuntu. */
  readonly dialect: 'sh' | 'bash';
  readonly variables: Map<string, string>;
  readonly exported: Set<string>;
  readonly readonly: Set<string>;
  readonly functions: Map<string, Command>;
  readonly options: ShellOptions;
  readonly traps: Map<string, string>;
  readonly jobs: Map<number, BackgroundJob>;
  name: string;
  positional: readonly string[];
  directory: string;
  status: number;
  /** Permission bits that new files do not get. */
  umask: number;
  /** Open scopes of `local`: name -> value before. */
  locals: Map<string, string | undefined>[];
  lastBackground?: number;
  descriptors: Descriptors;
  /** Reaches the programs of a background job (`kill`); a foreground program gets no signals from a shell. */
  signal?: AbortSignal;
  /** Set once `exec` has replaced the shell: signals are the program's own affair from then on. */
  replaced: boolean;
  /** Runs `$(...)` and gives its output without the newlines at the end. */
  readonly substitute: (state: ShellState, script: Script) => Promise<string>;
  /** Set by each substitution. */
  substituted: boolean;
}

/** `exit`, `return`, `break`, `continue` unwinding the interpreter; `set -e` is an `exit` too. */
export class ControlFlow extends Error {
  override readonly name = 'ControlFlow';
  readonly kind: 'exit' | 'return' | 'break' | 'continue';
  /** Exit status, or the number of loops to leave. */
  value: number;

  constructor(kind: ControlFlow['kind'], value: number) {
    super(kind);
    this.kind = kind;
    this.value = value;
  }
}

/** An expansion or a redirection failed: the command ends with status 2 (a non-interactive shell ends with it). */
export class ShellError extends Error {
  override readonly name = 'ShellError';
}

/** `sh: 1: message` (dash), `bash: line 1: message` (bash). */
export function complain(state: ShellState, message: string, line = 1): void {
  const where = state.dialect === 'bash' ? `${state.name}: line ${line}` : `${state.name}: ${line}`;
  state.descriptors.sinks[2]?.(`${where}: ${message}\n`);
}

/** A copy that a subshell may change; jobs stay the parent's. */
export function subshellOf(state: ShellState, descriptors: Descriptors = state.descriptors): ShellState {
  return {
    ...state,
    variables: new Map(state.variables),
    exported: new Set(state.exported),
    readonly: new Set(state.readonly),
    functions: new Map(state.functions),
    options: { ...state.options },
    traps: new Map(),
    jobs: new Map(),
    locals: state.locals.map((scope) => new Map(scope)),
    descriptors,
  };
}

/** The environment of a program that the shell starts. */
export function environmentOf(state: ShellState, extra: ReadonlyMap<string, string>): Record<string, string> {
  const exported = [...state.variables].filter(([name]) => state.exported.has(name));
  return { PWD: state.directory, ...Object.fromEntries([...exported, ...extra]) };
}

/** Sets a variable. @throws ShellError when it is read-only */
export function assign(state: ShellState, name: string, value: string): void {
  if (state.readonly.has(name)) throw new ShellError(`${name}: is read only`);
  state.variables.set(name, value);
}

/** An absolute path, with the shell's directory for relative ones, `.` and `..` resolved. */
export function resolvePath(directory: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${directory}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
