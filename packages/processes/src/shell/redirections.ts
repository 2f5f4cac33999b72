import { SystemError } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import { expandText } from './expand.ts';
import { complain, type Descriptors, Input, resolvePath, type ShellState, type Sink } from './state.ts';
import type { Redirection } from './syntax.ts';

/** Runs `body` with redirected descriptors; a redirection that fails gives status 1 (bash) or 2 (dash) instead. */
export async function withRedirections(
  state: ShellState,
  redirections: readonly Redirection[],
  body: () => Promise<void>,
  permanent = false,
): Promise<void> {
  if (redirections.length === 0) return body();
  const before = state.descriptors;
  try {
    for (const redirection of redirections) state.descriptors = await redirect(state, redirection);
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

async function redirect(state: ShellState, redirection: Redirection): Promise<Descriptors> {
  const { descriptor, operator } = redirection;
  const { descriptors } = state;
  const target = await expandText(state, redirection.target);
  const from = (text: string): Descriptors => ({ ...descriptors, input: new Input(text) });
  const to = (sinks: Descriptors['sinks']): Descriptors => ({
    ...descriptors,
    sinks: { ...descriptors.sinks, ...sinks },
  });
  const toBoth = (sink: Sink): Descriptors => to({ 1: sink, 2: sink });
  switch (operator) {
    case '<<':
      return from(target);
    case '<<<':
      return from(`${target}\n`);
    case '<':
      return from(await readInput(state, target));
    case '<&':
      return target === '-' ? from('') : descriptors;
    case '>&':
      if (target === '-') return to({ [descriptor]: () => undefined });
      if (/^\d+$/.test(target)) {
        const sink = descriptors.sinks[Number(target)];
        if (sink === undefined) throw new SystemError('EINVAL', `${target}: Bad file descriptor`);
        return to({ [descriptor]: sink });
      }
      return toBoth(open(state, target, false));
    case '&>':
      return toBoth(open(state, target, false));
    case '>':
    case '>|':
    case '>>':
    default:
      return to({ [descriptor]: open(state, target, operator === '>>') });
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

async function readInput(state: ShellState, path: string): Promise<string> {
  if (path === '/dev/null') return '';
  if (state.dialect === 'bash' && path.startsWith('/dev/tcp/')) {
    await connects(state, path);
    return '';
  }
  return worded(
    () => state.process.files.read(resolvePath(state.directory, path)),
    (error) => refusal(state, error, path, 'open'),
  );
}

/** A sink that writes to a file: truncated when it is opened, then appended to. */
function open(state: ShellState, path: string, append: boolean): Sink {
  if (path === '/dev/null') return () => undefined;
  const standard = { '/dev/stdout': 1, '/dev/stderr': 2, '/proc/self/fd/1': 1, '/proc/self/fd/2': 2 }[path];
  if (standard !== undefined) return state.descriptors.sinks[standard] ?? (() => undefined);
  const file = resolvePath(state.directory, path);
  const { files } = state.process;
  worded(
    () => files.write(file, '', { append, mode: 0o666 & ~state.umask }),
    (error) => refusal(state, error, path, 'create'),
  );
  return (text) => files.write(file, text, { append: true });
}

function refusal(state: ShellState, error: SystemError, path: string, action: 'open' | 'create'): SystemError {
  const reason = error.reason;
  if (state.dialect === 'bash') return new SystemError(error.code, `${path}: ${reason}`);
  const plain =
    action === 'create' && error.code === 'ENOENT' ? 'Directory nonexistent' : reason.replace(' or directory', '');
  return new SystemError(error.code, `cannot ${action} ${path}: ${plain}`);
}
