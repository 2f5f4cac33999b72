import type { Process } from '@openstack-operator/sandbox';
import type { Config } from './config.ts';
import type { Log } from './log.ts';

/** What every OpenStack program has once it has read its configuration. */
export interface ServiceContext {
  readonly process: Process;
  readonly config: Config;
  readonly log: Log;
}
