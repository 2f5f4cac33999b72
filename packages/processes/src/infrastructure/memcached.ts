import type { Program } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import { CommandError, commandWith, pause, terminated } from '../program-support.ts';
import { startTimes } from '../start-times.ts';

/** What a memcached client asks. */
export type MemcachedRequest =
  | { readonly type: 'get'; readonly key: string }
  | { readonly type: 'set'; readonly key: string; readonly value: unknown };

/** `memcached`: it keeps what it is given until it ends. */
export const memcached: Program = commandWith(
  {
    flags: 'v vv d k r M L C F A Z',
    values: 'p|port U l|listen u|user m|memory-limit c|conn-limit t|threads I|max-item-size o s a b f n R B P',
  },
  async (process, line) => {
    if (process.uid === 0 && line.value('user') === undefined) {
      throw new CommandError("can't find the user root to switch to, or use -u root", 71);
    }
    const port = Number(line.value('port') ?? 11_211);
    const host = (line.value('listen') ?? '0.0.0.0').split(',')[0]?.split(':')[0] ?? '0.0.0.0';
    if (!(await pause(process, startTimes.memcached))) return 0;
    const kept = new Map<string, unknown>();
    const receive = (message: unknown): Promise<unknown> => {
      const request = message as MemcachedRequest;
      if (request.type === 'set') kept.set(request.key, request.value);
      return Promise.resolve(kept.get(request.key));
    };
    worded(
      () => process.network.listen(port, 'memcached', () => ({ receive }), { host }),
      (error) => new CommandError(`bind(): ${error.reason}\nfailed to listen on TCP port ${port}: ${error.reason}`, 71),
    );
    await terminated(process);
    process.stderr('Signal handled: Terminated.\n');
    return 0;
  },
);
