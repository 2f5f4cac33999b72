import { type Connection, type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { attempt, worded } from '../attempt.ts';
import { CommandError, command, notModelled } from '../program-support.ts';
import { publicKeyIn } from './ssh-key.ts';
import type { SshAnswer, SshLogin, SshRequest } from './sshd.ts';
import { ask } from './wire.ts';

/** Where what concerns the whole host is said. */
const directory = '/etc/ssh/ssh_config.d';

/** `ssh [-o OPTION]... HOST COMMAND...` */
const ssh: Program = command(async (process) => {
  const [host = '', ...words] = withoutOptions(process);
  if (words.length === 0) notModelled(process, 'a login without a command');
  return print(process, await call(process, host, (login) => ({ type: 'command', login, command: words.join(' ') })));
});

/** `scp [-C] [-r] FILE HOST:PATH`: to another host alone. */
const scp: Program = command(async (process) => {
  const [from = '', to = ''] = withoutOptions(process);
  const [, host = '', path = ''] = /^([^:/]+):(.+)$/.exec(to) ?? notModelled(process, to);
  const content = worded(
    () => process.files.read(from),
    ({ reason }) => new CommandError(`scp: stat local "${from}": ${reason}`, 255),
  );
  const answer = await attempt(
    CommandError,
    () => call(process, host, (login) => ({ type: 'file', login, path, content })),
    ({ message, status }): never => {
      throw new CommandError(`${message}\nscp: Connection closed\r`, status);
    },
  );
  return print(process, answer);
});

/** The clients. */
export const sshClients: Readonly<Record<string, Program>> = { ssh, scp };

/** Words after the options, which change nothing here. */
function withoutOptions({ argv }: Process): readonly string[] {
  const words = argv.slice(1);
  while (words[0]?.startsWith('-') === true) words.splice(0, words[0] === '-o' ? 2 : 1);
  return words;
}

function print(process: Process, { status, stdout, stderr }: SshAnswer): number {
  process.stdout(stdout);
  process.stderr(stderr);
  return status;
}

/** Logs in as the configuration says, and asks for something. @throws CommandError with status 255 when that is not possible */
async function call(process: Process, host: string, request: (login: SshLogin) => SshRequest): Promise<SshAnswer> {
  const fail = (words: string): CommandError => new CommandError(`${words}\r`, 255);
  const settings = settingsOf(process);
  const port = Number(settings.get('port') ?? 22);
  const home = process.env['HOME'] ?? '/var/lib/nova';
  const connection: Connection = await worded(
    () => process.network.connect(host, port, 'ssh'),
    ({ reason }) => fail(`ssh: connect to host ${host} port ${port}: ${reason}`),
  );
  try {
    const hostKey = await ask<string>(connection, { type: 'hello' });
    const known = settings.get('userknownhostsfile') ?? `${home}/.ssh/known_hosts`;
    const names = ['*', port === 22 ? host : `[${host}]:${port}`];
    const lines = process.files.exists(known) ? process.files.read(known).split('\n') : [];
    // Nobody is there to be asked whether it is the right one.
    if (!names.some((name) => lines.some((line) => `${line} `.startsWith(`${name} ${hostKey} `))))
      throw fail('Host key verification failed.');
    const identity = settings.get('identityfile') ?? `${home}/.ssh/id_ed25519`;
    const user = settings.get('user') ?? 'nova';
    const key = publicKeyIn(process.files, identity);
    return await ask<SshAnswer>(connection, request({ user, key })).catch((error: unknown) => {
      if (error instanceof SystemError) throw fail(`client_loop: send disconnect: ${error.reason}`);
      const loading = key === undefined ? `Load key "${identity}": error in libcrypto\r\n` : '';
      throw error instanceof Error ? fail(`${loading}${user}@${host}: ${error.message}`) : error;
    });
  } finally {
    connection.close();
  }
}

/** What is said of all hosts: the first word of a keyword counts. @throws CommandError for what this model does not know */
function settingsOf(process: Process): ReadonlyMap<string, string> {
  const { files } = process;
  const settings = new Map<string, string>();
  const names = files.exists(directory) ? files.list(directory).filter((name) => name.endsWith('.conf')) : [];
  for (const name of names)
    for (const text of files.read(`${directory}/${name}`).split('\n')) {
      const [keyword = '', ...words] = text.replace(/#.*$/, '').trim().split(/\s+/);
      if (keyword === '') continue;
      if (keyword === 'Host' && words.join(' ') !== '*') notModelled(process, text);
      const known = keyword.toLowerCase();
      if (!settings.has(known)) settings.set(known, words.join(' '));
    }
  return settings;
}
