import type { Clock } from '@openstack-operator/kube';
import { type Http, patient, trusting } from './http.ts';
import { type IdentityRecords, keepIdentityRecords, removeIdentityRecords } from './keystone.ts';
import { keepMemberRecords, type MemberRecords } from './members.ts';
import { type BrokerRecords, keepBrokerRecords, removeBrokerRecords } from './rabbitmq.ts';
import { keepResourceRecords, type ResourceRecords, removeResourceRecords } from './resources.ts';

/** What `openstack-operator records` needs of the world. */
export interface RecordsWorld {
  readonly read: (path: string) => string;
  readonly http: Http;
  readonly clock: Clock;
  readonly print: (line: string) => void;
  /** Leaves the container's termination message. */
  readonly writeMessage: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** What is done with a list (`ca`: who has signed the certificate of its server, as PEM), by its target; says in words what it changed, and tells what others have to know. */
type Workers = Readonly<
  Record<
    string,
    (records: never, http: Http, tell: Tell, time: Pick<RecordsWorld, 'clock' | 'signal'>) => Promise<string[]>
  >
>;
type Tell = (line: string) => void;

const keepers: Workers = {
  keystone: (records: IdentityRecords, http, tell) => keepIdentityRecords(records, http, tell),
  rabbitmq: (records: BrokerRecords, http) => keepBrokerRecords(records, http),
  openstack: (records: ResourceRecords, http, tell) => keepResourceRecords(records, http, tell),
  members: (records: MemberRecords, http, tell, time) => keepMemberRecords(records, http, tell, time),
};

const removers: Workers = {
  keystone: (records: IdentityRecords, http) => removeIdentityRecords(records, http),
  rabbitmq: (records: BrokerRecords, http) => removeBrokerRecords(records, http),
  openstack: (records: ResourceRecords, http) => removeResourceRecords(records, http),
};

/**
 * `openstack-operator records TARGET --file FILE`: makes what lives outside Kubernetes what the file says. Run twice it
 * changes nothing. Prints what it changed, never a secret; identifiers that are to be told are the container's termination
 * message, and after them why it failed. `records audit TARGET=FILE...` does so with several lists, each whatever becomes of
 * the others, and leaves what it changed there as well; `records remove TARGET=FILE...` takes back what the lists have made.
 * @returns the exit code: 0 done, 1 the other side refused or did not answer, 2 wrong arguments
 */
export async function runRecords(args: readonly string[], world: RecordsWorld): Promise<number> {
  if (args[0] === 'audit') return await workOff(keepers, args.slice(1), world);
  if (args[0] === 'remove') return await workOff(removers, args.slice(1), world);
  const [target = '', flag, file] = args;
  if (!(target in keepers) || flag !== '--file' || file === undefined || args.length !== 3) return usage(world);
  const told: string[] = [];
  try {
    const changes = await work(keepers, target, file, { ...world, tell: (line) => told.push(line) });
    leave(told, world);
    for (const change of changes) world.print(change);
    world.print(changes.length === 0 ? 'nothing to change' : `${changes.length} changes`);
    return 0;
  } catch (error) {
    leave([...told, wordsOf(error)], world);
    world.print(wordsOf(error));
    return 1;
  }
}

async function workOff(workers: Workers, lists: readonly string[], world: RecordsWorld): Promise<number> {
  const pairs = lists.map((list) => list.split('='));
  if (pairs.length === 0 || !pairs.every(([target = '', file = '']) => target in keepers && file !== ''))
    return usage(world);
  const lines: string[] = [];
  const told: string[] = [];
  let failed = false;
  for (const [target = '', file = ''] of pairs) {
    try {
      lines.push(...(await work(workers, target, file, { ...world, tell: (line) => told.push(line) })));
    } catch (error) {
      failed = true;
      lines.push(`${target}: ${wordsOf(error)}`);
    }
  }
  for (const line of lines) world.print(line);
  leave([...told, ...lines], world);
  return failed ? 1 : 0;
}

/** The kubelet takes 4096 bytes of a container's message; names are ASCII. */
const mostOfMessage = 4000;

function leave(lines: readonly string[], world: RecordsWorld): void {
  if (lines.length > 0) world.writeMessage(lines.join('\n').slice(0, mostOfMessage));
}

async function work(
  workers: Workers,
  target: string,
  file: string,
  { tell, ...world }: RecordsWorld & { readonly tell: Tell },
): Promise<string[]> {
  const records = JSON.parse(world.read(file)) as { readonly ca?: string };
  const http = trusting(world.http, records.ca);
  return (await workers[target]?.(records as never, patient(http, world.clock, 60, world.signal), tell, world)) ?? [];
}

function usage(world: RecordsWorld): number {
  const targets = Object.keys(keepers).join('|');
  world.print(`usage: openstack-operator records ${targets} --file FILE`);
  world.print(`       openstack-operator records audit|remove {${targets}}=FILE...`);
  return 2;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
