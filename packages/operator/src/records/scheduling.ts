import type { Scheduling } from '@openstack-operator/openstack';
import type { ApiWith } from './asking.ts';

/** A process of a service, as its API lists them. */
export interface Process {
  readonly host: string;
  readonly binary: string;
  readonly status: string;
  readonly disabled_reason?: string | null;
}

/** Keeps new things away from hosts of a process, and lets them in again. */
export interface Scheduler {
  /** The row of a host; undefined for a process that never ran there. @throws Error where the API cannot tell */
  processOf(host: string): Promise<Process | undefined>;
  disable(host: string, reason: string): Promise<void>;
  enable(host: string): Promise<void>;
}

/** What does so by the API of a service. */
export function schedulerOf(
  { path, disable, headers, listHeaders = headers }: Scheduling,
  binary: string,
  apiWith: ApiWith,
): Scheduler {
  const [api, listing] = [apiWith(headers), apiWith(listHeaders)];
  return {
    async processOf(host) {
      const query = new URLSearchParams({ host, binary }).toString();
      const answer = (await listing.call('GET', `${path}?${query}`)) as { services?: Process[] } | undefined;
      const found = answer?.services?.find((one) => one.host === host && one.binary === binary);
      if (found !== undefined && !['enabled', 'disabled'].includes(found.status))
        throw new Error(`${host}: the API cannot tell whether ${binary} is enabled there: ${found.status}`);
      return found;
    },
    async disable(host, reason) {
      await api.call('PUT', `${path}/${disable}`, { host, binary, disabled_reason: reason });
    },
    async enable(host) {
      await api.call('PUT', `${path}/enable`, { host, binary });
    },
  };
}
