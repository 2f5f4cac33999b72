import type { Clock } from '@openstack-operator/kube';
import { type Http, patient } from './http.ts';
import { type IdentityRecords, keepIdentityRecords } from './keystone.ts';
import { type BrokerRecords, keepBrokerRecords } from './rabbitmq.ts';

/** What `openstack-operator records` needs of the world. */
export interface RecordsWorld {
  readonly read: (path: string) => string;
  readonly http: Http;
  readonly clock: Clock;
  readonly print: (line: string) => void;
  readonly signal?: AbortSignal;
}

const keepers: Readonly<Record<string, (records: never, http: Http) => Promise<string[]>>> = {
  keystone: (records: IdentityRecords, http) => keepIdentityRecords(records, http),
  rabbitmq: (records: BrokerRecords, http) => keepBrokerRecords(records, http),
};

/**
 * `openstack-operator records TARGET --file FILE`: makes what lives outside Kubernetes what the file says. Run twice it
 * changes nothing. Prints what it changed, never a secret.
 * @returns the exit code: 0 done, 1 the other side refused or did not answer, 2 wrong arguments
 */
export async function runRecords(args: readonly string[], world: RecordsWorld): Promise<number> {
  const [target = '', flag, file] = args;
  const keep = keepers[target];
  if (keep === undefined || flag !== '--file' || file === undefined || args.length !== 3) {
    world.print(`usage: openstack-operator records ${Object.keys(keepers).join('|')} --file FILE`);
    return 2;
  }
  try {
    const records = JSON.parse(world.read(file)) as never;
    const changes = await keep(records, patient(world.http, world.clock, 60, world.signal));
    for (const change of changes) world.print(change);
    world.print(changes.length === 0 ? 'nothing to change' : `${changes.length} changes`);
    return 0;
  } catch (error) {
    world.print(error instanceof Error ? error.message : String(error));
    return 1;
  }
}
