import { identityOnly } from '../rollout/cloud.ts';

/** What a schedule is tried on. */
interface CloudOption {
  /** How often it is chosen, beside the others: whole clouds take their time. */
  readonly weight: number;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Stated while things go wrong. */
  readonly change: Readonly<Record<string, unknown>>;
}

const nothing = { enabled: false };
const infrastructure = { ...identityOnly, keystone: nothing };
const memory = { memcached: { memoryMegabytes: 128 } };

export const clouds = {
  cache: { weight: 40, spec: { ...infrastructure, mariadb: nothing }, change: memory },
  database: { weight: 25, spec: infrastructure, change: memory },
  broker: {
    weight: 20,
    spec: { ...infrastructure, mariadb: nothing, rabbitmq: {} },
    change: memory,
  },
  identity: { weight: 14, spec: identityOnly, change: { keystone: { tokenExpiration: 7200 } } },
  whole: { weight: 1, spec: {}, change: { keystone: { tokenExpiration: 7200 } } },
} as const satisfies Record<string, CloudOption>;

export type CloudName = keyof typeof clouds;
