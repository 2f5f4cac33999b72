import { isBuiltin, runBuiltin } from './builtins.ts';
import { expandFields, expandPattern, expandText, parameterValue } from './expand.ts';
import { patternSource } from './pattern.ts';
import { withRedirections } from './redirections.ts';
import {
  assign,
  type BackgroundJob,
  ControlFlow,
  complain,
  environmentOf,
  Input,
  resolvePath,
  ShellError,
  type ShellState,
  subshellOf,
} from './state.ts';
import { type AndOr, type Command, type Pipeline, type Script, ShellSyntaxError } from './syntax.ts';

/** Runs a script; its status is `state.status` afterwards as well. `checked`: inside a condition, `set -e` is off. */
export async function runScript(state: ShellState, script: Script, checked = false): Promise<number> {
  for (const item of script) {
    if (item.background) startInBackground(state, item);
    else await runAndOr(state, item, checked);
  }
  return state.status;
}

/** Runs `$(...)` in a subshell. */
export async function substitute(state: ShellState, script: Script): Promise<string> {
  state.substituted = true;
  let output = '';
  const sinks = { ...state.descriptors.sinks, 1: (text: string) => void (output += text) };
  state.status = await runSubshell(subshellOf(state, { ...state.descriptors, sinks }), script);
  return output.replace(/\n+$/, '');
}

/** Runs a script in its own copy of the state: `exit` ends only that. */
export async function runSubshell(state: ShellState, script: Script): Promise<number> {
  return runScript(state, script).catch((error: unknown) => endOf(state, error));
}

/** The status of a shell that something has unwound. */
export function endOf(state: ShellState, error: unknown): number {
  if (error instanceof ControlFlow)
    return error.kind === 'exit' || error.kind === 'return' ? error.value : state.status;
  if (!(error instanceof ShellError || error instanceof ShellSyntaxError)) throw error;
  complain(state, error.message);
  return 2;
}

function startInBackground(state: ShellState, item: AndOr): void {
  const controller = new AbortController();
  const pid = Math.max(state.process.pid, ...state.jobs.keys()) + 1;
  const child: ShellState = {
    ...subshellOf(state, { ...state.descriptors, input: new Input('') }),
    signal: controller.signal,
  };
  const job: BackgroundJob = { pid, controller, done: runSubshell(child, [{ ...item, background: false }]) };
  void job.done.then((status) => (job.status = status));
  state.jobs.set(pid, job);
  state.lastBackground = pid;
  state.status = 0;
}

async function runAndOr(state: ShellState, item: AndOr, checked: boolean): Promise<void> {
  await runPipeline(state, item.first, checked || item.rest.length > 0);
  for (const [index, { operator, pipeline }] of item.rest.entries()) {
    if ((operator === '&&') !== (state.status === 0)) continue;
    await runPipeline(state, pipeline, checked || index < item.rest.length - 1);
  }
}

async function runPipeline(state: ShellState, pipeline: Pipeline, checked: boolean): Promise<void> {
  const { commands, negated } = pipeline;
  if (commands.length === 1) await runCommand(state, commands[0] as Command, checked || negated);
  else {
    let input = state.descriptors.input;
    let failure = 0;
    for (const [index, command] of commands.entries()) {
      let output = '';
      const last = index === commands.length - 1;
      const sinks = last
        ? state.descriptors.sinks
        : { ...state.descriptors.sinks, 1: (text: string) => void (output += text) };
      const child = subshellOf(state, { input, sinks });
      const list: Script = [{ first: { negated: false, commands: [command] }, rest: [], background: false }];
      const status = await runSubshell(child, list);
      if (status !== 0) failure = status;
      state.status = last && state.options.pipefail ? failure : status;
      input = new Input(output);
    }
  }
  if (negated) state.status = state.status === 0 ? 1 : 0;
  else if (state.status !== 0 && state.options.errexit && !checked) throw new ControlFlow('exit', state.status);
}

async function runCommand(state: ShellState, command: Command, checked: boolean): Promise<void> {
  if (command.kind === 'simple') return runSimple(state, command, checked);
  if (command.kind === 'function') {
    state.functions.set(command.name, command.body);
    state.status = 0;
    return;
  }
  await withRedirections(state, command.redirections, () => runCompound(state, command, checked));
}

async function runCompound(
  state: ShellState,
  command: Exclude<Command, { kind: 'simple' | 'function' }>,
  checked: boolean,
): Promise<void> {
  switch (command.kind) {
    case 'group':
      if (command.subshell) state.status = await runSubshell(subshellOf(state), command.body);
      else await runScript(state, command.body, checked);
      return;
    case 'if':
      for (const { condition, body } of command.branches) {
        await runScript(state, condition, true);
        if (state.status === 0) {
          await runScript(state, body, checked);
          return;
        }
      }
      state.status = 0;
      if (command.otherwise !== undefined) await runScript(state, command.otherwise, checked);
      return;
    case 'loop':
      return runLoop(state, async () => {
        await runScript(state, command.condition, true);
        if ((state.status === 0) === command.until) return false;
        await runScript(state, command.body, checked);
        return true;
      });
    case 'for': {
      const values = command.words ? await expandFields(state, command.words) : state.positional;
      const remaining = [...values];
      return runLoop(state, async () => {
        const value = remaining.shift();
        if (value === undefined) return false;
        assign(state, command.variable, value);
        await runScript(state, command.body, checked);
        return true;
      });
    }
    case 'case': {
      const subject = await expandText(state, command.subject);
      for (const { patterns, body } of command.clauses) {
        for (const pattern of patterns) {
          const source = patternSource(await expandPattern(state, pattern));
          if (!new RegExp(`^(?:${source})$`).test(subject)) continue;
          state.status = 0;
          await runScript(state, body, checked);
          return;
        }
      }
      state.status = 0;
    }
  }
}

/** Runs passes until one says that it was none; the status is that of the last body that ran. */
async function runLoop(state: ShellState, pass: () => Promise<boolean>): Promise<void> {
  let status = 0;
  for (;;) {
    try {
      if (!(await pass())) break;
      status = state.status;
    } catch (error) {
      if (!(error instanceof ControlFlow) || (error.kind !== 'break' && error.kind !== 'continue')) throw error;
      status = 0;
      if (error.value > 1) {
        error.value -= 1;
        throw error;
      }
      if (error.kind === 'break') break;
    }
  }
  state.status = status;
}

async function runSimple(state: ShellState, command: Command & { kind: 'simple' }, checked: boolean): Promise<void> {
  state.substituted = false;
  const argv = await expandFields(state, command.words);
  const assignments = new Map<string, string>();
  for (const { name, value } of command.assignments) assignments.set(name, await expandText(state, value));
  // Without a command, the status is that of the last substitution; until then `$?` is that of the command before.
  if (argv.length === 0 && !state.substituted) state.status = 0;
  if (state.options.xtrace) trace(state, assignments, argv);
  const [name] = argv;
  // `exec > file` changes the shell's own descriptors.
  const permanent = name === 'exec' && argv.length === 1;
  const run = async (): Promise<void> => {
    if (name !== undefined) state.status = await invoke(state, argv, assignments, command.line, checked);
    else for (const [variable, value] of assignments) assign(state, variable, value);
  };
  await withRedirections(state, command.redirections, run, permanent);
}

async function invoke(
  state: ShellState,
  argv: readonly string[],
  assignments: ReadonlyMap<string, string>,
  line: number,
  checked: boolean,
): Promise<number> {
  const name = argv[0] as string;
  if (name === '[[' && state.dialect === 'bash') throw new ShellError('[[ is not modelled: use [');
  const body = state.functions.get(name);
  if (body !== undefined) return callFunction(state, body, argv, assignments, checked);
  if (isBuiltin(name)) {
    return runBuiltin(state, argv, assignments, {
      line,
      script: (script) => runScript(state, script, checked),
      program: (command, extra, signal) => runProgram(state, command, extra, line, signal),
    });
  }
  return runProgram(state, argv, assignments, line);
}

async function callFunction(
  state: ShellState,
  body: Command,
  argv: readonly string[],
  assignments: ReadonlyMap<string, string>,
  checked: boolean,
): Promise<number> {
  const positional = state.positional;
  for (const [name, value] of assignments) assign(state, name, value);
  state.positional = argv.slice(1);
  const scope = new Map<string, string | undefined>();
  state.locals.push(scope);
  try {
    await runCommand(state, body, checked);
    return state.status;
  } catch (error) {
    if (error instanceof ControlFlow && error.kind === 'return') return error.value;
    throw error;
  } finally {
    state.positional = positional;
    state.locals.pop();
    for (const [name, value] of scope) {
      if (value === undefined) state.variables.delete(name);
      else state.variables.set(name, value);
    }
  }
}

/** Runs a program of the container; one that is missing is reported in the shell's words. */
async function runProgram(
  state: ShellState,
  argv: readonly string[],
  assignments: ReadonlyMap<string, string>,
  line: number,
  signal?: AbortSignal,
): Promise<number> {
  const name = argv[0] as string;
  const { descriptors, process } = state;
  const stdout = descriptors.sinks[1];
  const stderr = descriptors.sinks[2];
  const { input } = descriptors;
  let taken: string | undefined;
  const options = {
    env: environmentOf(state, assignments),
    // A shell does not pass SIGTERM on to what it waits for; a background job is its own process.
    signal: signal ?? state.signal ?? new AbortController().signal,
    // What replaces the shell has its process.
    ...(signal === state.process.signal && { signals: state.process.signals }),
    ...(input && { stdin: () => (taken ??= input.rest()) }),
    ...(stdout && { stdout }),
    ...(stderr && { stderr }),
  };
  const interpreter = name.includes('/') ? interpreterOf(state, name) : undefined;
  if (interpreter !== undefined) return process.run([...interpreter, ...argv.slice(1)], options);
  const status = await process.run(argv, options);
  if (status === 127) {
    const lost = state.dialect === 'bash' ? 'command not found' : 'not found';
    complain(
      state,
      `${name}: ${name.includes('/') && state.dialect === 'bash' ? 'No such file or directory' : lost}`,
      line,
    );
  }
  return status;
}

/** The `#!` line of a script file, with the file's path behind. */
function interpreterOf(state: ShellState, name: string): string[] | undefined {
  const { files } = state.process;
  const path = resolvePath(state.directory, name);
  if (!files.exists(path) || files.isDirectory(path)) return undefined;
  const first = /^#!\s*(\S+)[ \t]*(.*)/.exec(files.read(path));
  if (first === null) return undefined;
  return [first[1] as string, ...(first[2] ? [first[2].trim()] : []), path];
}

function trace(state: ShellState, assignments: ReadonlyMap<string, string>, argv: readonly string[]): void {
  const words = [...[...assignments].map(([name, value]) => `${name}=${value}`), ...argv];
  if (words.length > 0) state.descriptors.sinks[2]?.(`${parameterValue(state, 'PS4') ?? '+ '}${words.join(' ')}\n`);
}
