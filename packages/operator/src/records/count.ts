import { sleep } from '@openstack-operator/kube';
import type { Counting, CountPlan } from '@openstack-operator/openstack';
import { type ApiWith, type AskingWorld, openPlan } from './asking.ts';
import type { JsonApi } from './http.ts';
import { schedulerOf } from './scheduling.ts';

/** Pages of a list after which "at least" is enough. */
const mostPages = 100;

/** Milliseconds until what a scheduler had decided before a backend was disabled is written down. */
const onItsWay = 60_000;

/** Exit code of `count` when there are some. */
export const someExist = 3;

/**
 * `openstack-operator count PLAN`: asks a service how much of something all projects have (`CountPlan`, as JSON), by
 * `openPlan`.
 * @returns the exit code: 0 there is none, 3 there are some (`servers: 3`, `volumes: 2, backups: 1`, `volumes: 2 of host@backend`), 1 nobody can
 * tell, 2 wrong arguments
 */
export async function runCount(args: readonly string[], world: AskingWorld): Promise<number> {
  const { print, clock, signal } = world;
  try {
    const opened = await openPlan<CountPlan>('count', args, { world, lists: ['counts'] });
    if (opened === undefined) return 2;
    const { plan, apiWith } = opened;
    await schedule(plan, apiWith);
    let found = await countAll(plan, apiWith);
    if (found.length === 0 && (plan.backends?.gone ?? []).length > 0) {
      await sleep(clock, onItsWay, signal);
      // A process that has come up for the first time meanwhile is enabled.
      await schedule(plan, apiWith);
      found = await countAll(plan, apiWith);
    }
    print(found.length === 0 ? `${plan.counts.map(({ of }) => of).join(', ')}: 0` : found.join(', '));
    return found.length === 0 ? 0 : someExist;
  } catch (error) {
    print(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

/** Keeps new things away from backends that go, and lets them in again where they are back. What others have disabled stays so. */
async function schedule({ backends }: CountPlan, apiWith: ApiWith): Promise<void> {
  if (backends === undefined) return;
  const { scheduling, binary, reason, gone, back } = backends;
  const scheduler = schedulerOf(scheduling, binary, apiWith);
  // One that never ran has no row.
  for (const host of gone)
    if ((await scheduler.processOf(host))?.status === 'enabled') await scheduler.disable(host, reason);
  for (const host of back) {
    const { status, disabled_reason: why } = (await scheduler.processOf(host)) ?? {};
    if (status === 'disabled' && why === reason) await scheduler.enable(host);
  }
}

/** What there is, in words. */
async function countAll({ counts, backends }: CountPlan, apiWith: ApiWith): Promise<string[]> {
  const found: string[] = [];
  const hosts = backends === undefined ? [undefined] : backends.gone;
  for (const one of counts)
    for (const host of hosts) {
      const { number, atLeast } = await countOne(one, apiWith(one.headers), host);
      if (number === 0) continue;
      found.push(`${one.of}: ${atLeast ? 'at least ' : ''}${number}${host === undefined ? '' : ` of ${host}`}`);
    }
  return found;
}

/** Counts by listing, as APIs offer nothing cheaper. */
async function countOne(
  { of, lists, items = of, host: attribute }: Counting,
  api: JsonApi,
  host: string | undefined,
): Promise<{ readonly number: number; readonly atLeast: boolean }> {
  const ids = new Set<string>();
  let atLeast = false;
  for (const list of lists) {
    const path = list.replace('{host}', encodeURIComponent(host ?? ''));
    let marker: string | undefined;
    for (let pages = 0; ; pages++) {
      const answer = await api.call('GET', marker === undefined ? path : `${path}&marker=${marker}`);
      const page = (answer ?? {}) as Readonly<Record<string, unknown>>;
      const found = page[items];
      if (!Array.isArray(found)) throw new Error(`GET ${path}: the answer holds no ${items}`);
      const all = found as readonly Item[];
      for (const one of all)
        if (attribute === undefined || host === undefined || liesIn(one[attribute], host)) ids.add(idOf(one));
      // What has a state that nobody can tell (servers of a cell that is down) comes last, and cannot be a marker.
      const lastOne = all.findLast(({ status }) => status !== 'UNKNOWN');
      const last = lastOne && idOf(lastOne);
      if (!hasMore(page, items) || last === undefined || last === marker) break;
      if (pages >= mostPages) {
        atLeast = true;
        break;
      }
      marker = last;
    }
  }
  return { number: ids.size, atLeast };
}

/** Whether an answer leads to a further page: by a list of links, or by `next`. */
function hasMore(page: Readonly<Record<string, unknown>>, items: string): boolean {
  const { next, links, [`${items}_links`]: ofItems } = page;
  const { next: among } = (links ?? {}) as { readonly next?: unknown };
  return [ofItems, links].some((list) => Array.isArray(list) && list.length > 0) || Boolean(next ?? among);
}

const idOf = ({ id, uuid }: Item): string => String(id ?? uuid);

interface Item {
  readonly id?: string;
  readonly uuid?: string;
  readonly status?: string;
  readonly [attribute: string]: unknown;
}

/** Whether something lies in a backend, in whichever of its pools. */
function liesIn(place: unknown, host: string): boolean {
  return place === host || (typeof place === 'string' && place.startsWith(`${host}#`));
}
