import type { Process, Program } from '@openstack-operator/sandbox';
import { CommandError, command, pause, terminated } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { answering, ask } from './wire.ts';

/** What a client of Redis asks, as far as models need it: every request carries who asks. */
export interface RedisRequest {
  readonly password: string | undefined;
  readonly key?: string;
  /** Without it the key is read. */
  readonly value?: string;
}

/** `valkey-server FILE`: keys are kept in its directory, and who does not say the password gets none. */
export const valkeyServer: Program = command(async (process) => {
  const [, file = ''] = process.argv;
  if (!process.files.exists(file))
    throw new CommandError(`Fatal error, can't open config file '${file}': No such file or directory`);
  const lines = process.files
    .read(file)
    .split('\n')
    .map((line) => line.split(' '));
  const option = (name: string) =>
    lines
      .find(([word]) => word === name)
      ?.slice(1)
      .join(' ');
  if (!(await pause(process, startTimes.memcached))) return 0;
  const kept = `${option('dir') ?? '.'}/appendonly.json`;
  const keys = new Map<string, string>(
    process.files.exists(kept) ? (JSON.parse(process.files.read(kept)) as [string, string][]) : [],
  );
  const answer = ({ password, key, value }: RedisRequest): string | undefined => {
    if (password !== option('requirepass'))
      throw new Error(
        password === undefined ? 'NOAUTH Authentication required.' : 'WRONGPASS invalid username-password pair',
      );
    if (key === undefined) return 'PONG';
    if (value === undefined) return keys.get(key);
    keys.set(key, value);
    if (option('appendonly') === 'yes') process.files.write(kept, JSON.stringify([...keys]));
    return 'OK';
  };
  process.network.listen(Number(option('port') ?? 6379), 'redis', () => ({ receive: answering(answer) }));
  await terminated(process);
  return 0;
});

/** Asks the server of a URL. @throws Error with its words, SystemError when nobody is there */
export async function askRedis(
  process: Process,
  url: string,
  request: Omit<RedisRequest, 'password'> = {},
): Promise<string | undefined> {
  const { hostname, port, password } = new URL(url);
  const connection = await process.network.connect(hostname, Number(port || 6379), 'redis');
  try {
    return await ask<string | undefined>(connection, {
      password: decodeURIComponent(password) || undefined,
      ...request,
    });
  } finally {
    connection.close();
  }
}
