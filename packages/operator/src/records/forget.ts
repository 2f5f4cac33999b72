import type { ForgetPlan } from '@openstack-operator/openstack';
import { type AskingWorld, openPlan } from './asking.ts';
import { someExist } from './count.ts';
import { HttpError, type JsonApi } from './http.ts';
import type { RecordsWorld } from './run.ts';

/** The kubelet takes 4096 bytes of a container's message. */
const mostOfMessage = 4000;

/**
 * `openstack-operator forget PLAN`: deletes what a service has recorded of hosts that are gone (`ForgetPlan`, as JSON), by
 * `openPlan`. Run twice it changes nothing. Of a host where something is alive nothing is deleted. Leaves a line for each host as
 * the container's termination message: `<host>: forgotten`, or last, why it is not.
 * @returns the exit code: 0 done, 3 records are left, 1 the other side did not answer, 2 wrong arguments
 */
export async function runForget(
  args: readonly string[],
  world: AskingWorld & Pick<RecordsWorld, 'writeMessage'>,
): Promise<number> {
  const [done, kept]: [string[], string[]] = [[], []];
  const leave = (code: number): number => {
    const lines = [...done, ...kept];
    for (const line of lines) world.print(line);
    world.writeMessage(lines.join('\n').slice(-mostOfMessage));
    return code;
  };
  try {
    const opened = await openPlan<ForgetPlan>('forget', args, { world, lists: ['hosts'] });
    if (opened === undefined) return 2;
    const { plan, apiWith } = opened;
    for (const host of plan.hosts) {
      const why = await forget(plan, apiWith(plan.headers), host);
      if (why === undefined) done.push(`${host}: forgotten`);
      else kept.push(`${host}: ${why}`);
    }
    return leave(kept.length === 0 ? 0 : someExist);
  } catch (error) {
    kept.push((error instanceof Error ? error.message : String(error)).replaceAll(/\s+/gu, ' '));
    return leave(1);
  }
}

/** Deletes the records of a host. @returns why they stay, if they do */
async function forget(plan: ForgetPlan, api: JsonApi, host: string): Promise<string | undefined> {
  const [attribute, value] = plan.alive;
  const records = await recordsOf(plan, api, host);
  const alive = records.filter((one) => one[attribute] === value).map(({ binary, id }) => binary ?? id);
  if (alive.length > 0)
    return `not gone, as it reports: ${alive.join(', ')}; end that, or wait until the service takes it for down`;
  for (const { id } of records) {
    try {
      await api.call('DELETE', plan.record.replace('{id}', encodeURIComponent(id)));
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      // Several records of a host may go with the first.
      if (error.status !== 404) return error.words.replaceAll(/\s+/gu, ' ').trim();
    }
  }
  const left = records.length === 0 ? [] : await recordsOf(plan, api, host);
  return left.length === 0 ? undefined : `${left.length} ${plan.of} are still listed`;
}

interface HostRecord {
  readonly id: string;
  readonly host: string;
  readonly binary?: string;
  readonly [attribute: string]: unknown;
}

async function recordsOf({ list, items }: ForgetPlan, api: JsonApi, host: string): Promise<readonly HostRecord[]> {
  const path = list.replace('{host}', encodeURIComponent(host));
  const { [items]: found } = ((await api.call('GET', path)) ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(found)) throw new Error(`GET ${path}: the answer holds no ${items}`);
  // What does not know the filter lists all.
  return (found as readonly HostRecord[]).filter((one) => one.host === host);
}
