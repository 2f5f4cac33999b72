import { type Process, type Program, type Session, SystemError } from '@openstack-operator/sandbox';
import { CommandError, commandWith, terminated } from '../program-support.ts';
import { publicKeyIn } from './ssh-key.ts';
import { answering } from './wire.ts';

/** What a client asks an sshd for, over protocol `ssh`: its host key, or what is done there by who has a key. */
export type SshRequest =
  | { readonly type: 'hello' }
  | { readonly type: 'command'; readonly login: SshLogin; readonly command: string }
  | { readonly type: 'file'; readonly login: SshLogin; readonly path: string; readonly content: string };

/** Who logs in. */
export interface SshLogin {
  readonly user: string;
  /** Public key, as `authorized_keys` has it, of the private one that it proves to have; undefined: none. */
  readonly key: string | undefined;
}

/** What a command said, and its exit status. */
export interface SshAnswer {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Keywords of sshd_config that it takes (what a wrong one would break). */
const keywords = new Set(
  'port listenaddress hostkey authorizedkeysfile allowusers strictmodes usepam pidfile passwordauthentication kbdinteractiveauthentication pubkeyauthentication disableforwarding permittty permituserrc permitrootlogin maxstartups maxsessions loglevel subsystem logingracetime clientaliveinterval'.split(
    ' ',
  ),
);

/** `sshd`, as whoever it runs as: another user than root lets in itself alone. */
export const sshd: Program = commandWith(
  { flags: 'D|foreground e|stderr', values: 'f|file o|option p|port' },
  async (process, line) => {
    if (process.argv[0]?.startsWith('/') !== true)
      throw new CommandError('sshd re-exec requires execution with an absolute path', 255);
    const file = line.value('f') ?? '/etc/ssh/sshd_config';
    const settings = settingsOf(process, file, line.values('o'));
    const one = (keyword: string, otherwise = ''): string => settings.get(keyword)?.[0] ?? otherwise;
    if (process.uid === 0 && !process.files.exists('/run/sshd'))
      throw new CommandError('Missing privilege separation directory: /run/sshd', 255);
    const path = one('hostkey', '/etc/ssh/ssh_host_ed25519_key');
    const hostKey = publicKeyIn(process.files, path);
    if (hostKey === undefined)
      throw new CommandError(`Unable to load host key: ${path}\r\nsshd: no hostkeys available -- exiting.\r`);
    const [port, host] = [Number(one('port', '22')), one('listenaddress')];
    const accept = (): Session => ({
      receive: answering((request: SshRequest) =>
        request.type === 'hello' ? hostKey : serve(process, settings, request),
      ),
    });
    try {
      const listener = process.network.listen(port, 'ssh', accept, host === '' ? {} : { host });
      process.stderr(`Server listening on ${host === '' ? '0.0.0.0' : host} port ${port}.\r\n`);
      await terminated(process);
      listener.close();
      process.stderr('Received signal 15; terminating.\r\n');
      return 255;
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      throw new CommandError(
        `Bind to port ${port} on ${host} failed: ${error.reason}.\r\nCannot bind any address.\r`,
        255,
      );
    }
  },
);

type Settings = ReadonlyMap<string, readonly string[]>;

/** Keywords -> words; of one that is said twice the first counts, options of the command line before the file. @throws CommandError */
function settingsOf(process: Process, file: string, options: readonly string[]): Settings {
  if (!process.files.exists(file)) throw new CommandError(`${file}: No such file or directory`);
  const settings = new Map<string, readonly string[]>();
  const lines = process.files.read(file).split('\n');
  for (const [index, text] of [...options.map((option) => option.replace('=', ' ')), ...lines].entries()) {
    const [keyword = '', ...words] = text.replace(/#.*$/, '').trim().split(/\s+/);
    if (keyword === '') continue;
    const name = keyword.toLowerCase();
    const at = `${file}: line ${index + 1 - options.length}`;
    if (!keywords.has(name))
      throw new CommandError(
        `${at}: Bad configuration option: ${keyword}\r\n${file}: terminating, 1 bad configuration options\r`,
        255,
      );
    if (words.length === 0) throw new CommandError(`${at}: ${keyword} missing argument.\r`, 255);
    if (!settings.has(name)) settings.set(name, words);
  }
  return settings;
}

/** What who may log in has asked for. @throws Error what the client says to its user */
async function serve(
  process: Process,
  settings: Settings,
  request: Exclude<SshRequest, { type: 'hello' }>,
): Promise<SshAnswer> {
  const { user, key } = request.login;
  const [, , id, , , home = '/', shell = ''] = accountOf(process, user);
  const [written = '.ssh/authorized_keys'] = settings.get('authorizedkeysfile') ?? [];
  const path = written.startsWith('/') ? written : `${home}/${written}`;
  const known = process.files.exists(path) ? process.files.read(path).split('\n') : [];
  const isAllowed = settings.get('allowusers')?.includes(user) !== false;
  const isKnown = key !== undefined && known.some((text) => text === key || text.startsWith(`${key} `));
  if (!isAllowed || !isKnown || ![0, Number(id)].includes(process.uid))
    throw new Error('Permission denied (publickey).');
  if (shell.endsWith('/nologin'))
    return { status: 1, stdout: 'This account is currently not available.\n', stderr: '' };
  if (request.type === 'file') return write(process, request);
  let [stdout, stderr] = ['', ''];
  const status = await process.run(['sh', '-c', request.command], {
    stdout: (text) => void (stdout += text),
    stderr: (text) => void (stderr += text),
  });
  return { status, stdout, stderr };
}

function write({ files }: Process, { path, content }: { path: string; content: string }): SshAnswer {
  try {
    files.write(path, content);
    return { status: 0, stdout: '', stderr: '' };
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return { status: 1, stdout: '', stderr: `scp: dest open "${path}": ${error.reason}\r\n` };
  }
}

/** The line of /etc/passwd, in its fields; empty for a user that is not known. */
function accountOf({ files }: Process, user: string): readonly string[] {
  const line = files
    .read('/etc/passwd')
    .split('\n')
    .find((text) => text.startsWith(`${user}:`));
  return line?.split(':') ?? [];
}
