import type { Process, Program } from '@openstack-operator/sandbox';
import { setLetter, setLongOption } from './builtins.ts';
import { endOf, runScript, runSubshell, substitute } from './interpreter.ts';
import { parseScript } from './parser.ts';
import { complain, Input, resolvePath, ShellError, type ShellState } from './state.ts';
import { type Script, ShellSyntaxError } from './syntax.ts';

/** `sh` and `dash`: Debian's POSIX shell. */
export const sh: Program = (process) => runShell(process, 'sh');

/** `bash`, as far as it goes beyond `sh`: pipefail, here-strings, `wait -n`, `&>`. What is not known is refused. */
export const bash: Program = (process) => runShell(process, 'bash');

/** Whether dash could not open its script. */
function missing(error: Error): boolean {
  return error.message.includes('cannot open');
}

async function runShell(process: Process, dialect: 'sh' | 'bash'): Promise<number> {
  const state = initialState(process, dialect);
  let script: Script;
  try {
    script = parseScript(scriptOf(state));
  } catch (error) {
    if (error instanceof ShellSyntaxError) complain(state, error.message, error.line);
    else if (error instanceof ShellError) process.stderr(`${error.message}\n`);
    else throw error;
    if (!(error instanceof ShellError) || !error.message.endsWith('No such file or directory'))
      return missing(error) ? 127 : 2;
    return state.options.errexit ? 1 : 127;
  }
  const running = finish(state, script);
  const { signal } = process;
  return new Promise((resolve, reject) => {
    running.then(resolve, reject);
    const onTerminate = (): void => {
      // PID 1 has no default action; a trap runs when the command in front has ended (see finish).
      if (process.pid !== 1 && !state.replaced && !state.traps.has('TERM')) resolve(143);
    };
    if (signal.aborted) onTerminate();
    else signal.addEventListener('abort', onTerminate, { once: true });
  });
}

/** Runs the script with its traps; TERM is looked at between the commands of the top level and by `wait`. */
async function finish(state: ShellState, script: Script): Promise<number> {
  let trapped = false;
  const body = async (): Promise<number> => {
    for (const item of script) {
      await runScript(state, [item]);
      const action = state.traps.get('TERM');
      if (state.process.signal.aborted && action !== undefined && !trapped) {
        trapped = true;
        await runScript(state, parseScript(action));
      }
    }
    return state.status;
  };
  const status = await body().catch((error: unknown) => endOf(state, error));
  const onExit = state.traps.get('EXIT');
  if (onExit !== undefined) {
    state.traps.clear();
    await runSubshell(state, parseScript(onExit));
  }
  if (state.process.pid === 1) for (const job of state.jobs.values()) job.controller.abort();
  return status;
}

function initialState(process: Process, dialect: 'sh' | 'bash'): ShellState {
  return {
    process,
    dialect,
    variables: new Map(Object.entries({ IFS: ' \t\n', ...process.env })),
    exported: new Set(Object.keys(process.env)),
    readonly: new Set(),
    functions: new Map(),
    options: { errexit: false, nounset: false, xtrace: false, noglob: false, pipefail: false },
    traps: new Map(),
    jobs: new Map(),
    name: process.argv[0] ?? dialect,
    positional: [],
    directory: process.env['PWD'] ?? '/',
    status: 0,
    umask: 0o022,
    locals: [],
    descriptors: {
      input: process.stdin === undefined ? undefined : new Input(process.stdin),
      sinks: { 1: (text) => process.stdout(text), 2: (text) => process.stderr(text) },
    },
    replaced: false,
    substitute,
    substituted: false,
  };
}

/** Reads the command line (sets options, `$0`, `$@`) and gives the script's text. */
function scriptOf(state: ShellState): string {
  const operands = state.process.argv.slice(1);
  let command = false;
  while (operands[0] !== undefined && /^[-+]./.test(operands[0])) {
    const option = operands.shift() as string;
    if (option === '--') break;
    if (option === '--noprofile' || option === '--norc' || option === '--login') continue;
    for (const letter of option.slice(1)) {
      if (letter === 'c') command = true;
      else if (letter === 'o') setLongOption(state, operands.shift() ?? '', option.startsWith('-'));
      else if (!setLetter(state, letter, option.startsWith('-')) && letter !== 'l')
        throw new ShellError(`${state.name}: 0: Illegal option -${letter}`);
    }
  }
  const first = operands.shift();
  if (command) {
    if (first === undefined) throw new ShellError(`${state.name}: 0: -c requires an argument`);
    state.name = operands.shift() ?? state.name;
    state.positional = operands;
    return first;
  }
  if (first === undefined) return state.descriptors.input?.rest() ?? '';
  const path = resolvePath(state.directory, first);
  if (!state.process.files.exists(path)) {
    throw new ShellError(
      state.dialect === 'bash'
        ? `${state.name}: ${first}: No such file or directory`
        : `${state.name}: 0: cannot open ${first}: No such file`,
    );
  }
  if (state.process.files.isDirectory(path)) throw new ShellError(`${first}: ${first}: Is a directory`);
  state.name = first;
  state.positional = operands;
  return state.process.files.read(path);
}
