import type { Scheduling } from '@openstack-operator/openstack';
import type { JsonApi } from './http.ts';

/** A process of a service, as its API lists them. */
export interface Process {
  readonly host: string;
  readonly binary: string;
  readonly status: string;
  readonly disabled_reason?: string | null;
}

/** Keeps new things away from hosts of a process, and lets them in again. */
export interface Scheduler {
  /** The row of a host; undefined for a process that never ran there. */
  processOf(host: string): Promise<Process | undefined>;
  disable(host: string, reason: string): Promise<void>;
  enable(host: string): Promise<void>;
}

/** What does so by the API of a service. */
export function schedulerOf({ path, disable }: Scheduling, binary: string, api: JsonApi): Scheduler {
  return {
    async processOf(host) {
      const query = new URLSearchParams({ host, binary }).toString();
      const answer = (await api.call('GET', `${path}?${query}`)) as { services?: Process[] } | undefined;
      return answer?.services?.find((one) => one.host === host && one.binary === binary);
    },
    async disable(host, reason) {
      await api.call('PUT', `${path}/${disable}`, { host, binary, disabled_reason: reason });
    },
    async enable(host) {
      await api.call('PUT', `${path}/enable`, { host, binary });
    },
  };
}
