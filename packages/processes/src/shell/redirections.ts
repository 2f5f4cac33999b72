import { SystemError } from '@openstack-operator/sandbox';
import { reasonOf } from '../program-support.ts';
import { expandText, type Substitute } from './expand.ts';
import { complain, type Descriptors, Input, resolvePath, type ShellState, type Sink } from './state.ts';
import type { Redirection } from './syntax.ts';

/** Runs `body` with redirected descriptors; a redirection that fails gives status 1 (bash) or 2 (dash) instead. */
export async function withRedirections(
  state: ShellState,
  redirections: readonly Redirection[],
  substitute: Substitute,
  body: () => Promise<void>,
  permanent = false,
): Promise<void> {
  if (redirections.length === 0) return body();
  const before = state.descriptors;
  try {
    for (const redirection of redirections) state.descriptors = await redirect(state, redirection, substitute);
  } catch (error) {
    state.descriptors = before;
    if (!(error instanceof SystemError)) throw error;
    complain(state, error.message);
    state.status = state.dialect === 'bash' ? 1 : 2;
    return;
  }
  try {
    await body();
  } finally {
    if (!permanent) state.descriptors = before;
  }
}

async function redirect(state: ShellState, redirection: Redirection, substitute: Substitute): Promise<Descriptors> {
  const { descriptor, operator } = redirection;
  const { descriptors } = state;
  const target = await expandText(state, redirection.target, substitute);
  switch (operator) {
    case '<<':
      return { ...descriptors, input: new Input(target) };
    case '<<<':
      return { ...descriptors, input: new Input(`${target}\n`) };
    case '<':
      if (state.dialect === 'bash' && target.startsWith('/dev/tcp/')) {
        await connects(state, target);
        return { ...descriptors, input: new Input('') };
      }
      return { ...descriptors, input: new Input(readInput(state, target)) };
    case '<&':
      if (target === '-') return { ...descriptors, input: new Input('') };
      return descriptors;
    case '>&':
      if (target === '-') return { ...descriptors, sinks: { ...descriptors.sinks, [descriptor]: () => undefined } };
      if (/^\d+$/.test(target)) {
        const sink = descriptors.sinks[Number(target)];
        if (sink === undefined) throw new SystemError('EINVAL', `${target}: Bad file descriptor`);
        return { ...descriptors, sinks: { ...descriptors.sinks, [descriptor]: sink } };
      }
      return both(descriptors, open(state, target, false));
    case '&>':
      return both(descriptors, open(state, target, false));
    case '>':
    case '>|':
    case '>>':
    default:
      return { ...descriptors, sinks: { ...descriptors.sinks, [descriptor]: open(state, target, operator === '>>') } };
  }
}

/** bash's `/dev/tcp/host/port`: opens a connection, whatever is spoken there. @throws SystemError */
async function connects({ process }: ShellState, path: string): Promise<void> {
  const [, , , host = '', port] = path.split('/');
  try {
    (await process.network.connect(host, Number(port), 'raw')).close();
  } catch (error) {
    // The connection was made; what is spoken there is another matter.
    if (error instanceof SystemError && error.code === 'EPROTO') return;
    throw error;
  }
}

function both(descriptors: Descriptors, sink: Sink): Descriptors {
  return { ...descriptors, sinks: { ...descriptors.sinks, 1: sink, 2: sink } };
}

function readInput(state: ShellState, path: string): string {
  if (path === '/dev/null') return '';
  try {
    return state.process.files.read(resolvePath(state.directory, path));
  } catch (error) {
    throw worded(state, error, path, 'open');
  }
}

/** A sink that writes to a file: truncated when it is opened, then appended to. */
function open(state: ShellState, path: string, append: boolean): Sink {
  if (path === '/dev/null') return () => undefined;
  const standard = { '/dev/stdout': 1, '/dev/stderr': 2, '/proc/self/fd/1': 1, '/proc/self/fd/2': 2 }[path];
  if (standard !== undefined) return state.descriptors.sinks[standard] ?? (() => undefined);
  const file = resolvePath(state.directory, path);
  const { files } = state.process;
  try {
    files.write(file, '', { append, mode: 0o666 & ~state.umask });
  } catch (error) {
    throw worded(state, error, path, 'create');
  }
  return (text) => files.write(file, text, { append: true });
}

function worded(state: ShellState, error: unknown, path: string, action: 'open' | 'create'): unknown {
  if (!(error instanceof SystemError)) return error;
  const reason = reasonOf(error);
  if (state.dialect === 'bash') return new SystemError(error.code, `${path}: ${reason}`);
  const plain =
    action === 'create' && error.code === 'ENOENT' ? 'Directory nonexistent' : reason.replace(' or directory', '');
  return new SystemError(error.code, `cannot ${action} ${path}: ${plain}`);
}
