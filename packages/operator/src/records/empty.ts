import { sleep } from '@openstack-operator/kube';
import type { EmptyPlan } from '@openstack-operator/openstack';
import { type ApiWith, type AskingWorld, openPlan } from './asking.ts';
import { someExist } from './count.ts';
import { HttpError, type JsonApi } from './http.ts';
import type { RecordsWorld } from './run.ts';
import { type Scheduler, schedulerOf } from './scheduling.ts';

/** Milliseconds until what a scheduler had decided before a host was disabled is seen there. */
const onItsWay = 60_000;

/** Milliseconds between two looks at what is under way. */
const pace = 5000;

/** Milliseconds after which a run tells what is still under way; the next one goes on from there. */
const patience = 1_800_000;

/** The longest reason that an API takes. */
const mostOfReason = 255;

/** The kubelet takes 4096 bytes of a container's message. */
const mostOfMessage = 4000;

/**
 * `openstack-operator empty PLAN`: keeps new guests away from hosts and moves away those that run there, and lets new ones in
 * again where that is over (`EmptyPlan`, as JSON), by `openPlan`. Waits until what moves has moved, for half
 * an hour at most. Run twice it changes nothing. Leaves a line for each host as the container's termination message:
 * `<host>: emptied`, `<host>: occupied: <which stay, and why>`, `<host>: returned`.
 * @returns the exit code: 0 done, 3 guests are left, 1 the other side refused or did not answer, 2 wrong arguments
 */
export async function runEmpty(
  args: readonly string[],
  world: AskingWorld & Pick<RecordsWorld, 'writeMessage'>,
): Promise<number> {
  const { print } = world;
  const lines: string[] = [];
  try {
    const opened = await openPlan<EmptyPlan>('empty', args, { world, lists: ['hosts', 'back'] });
    if (opened === undefined) return 2;
    const { plan, apiWith } = opened;
    const scheduler = schedulerOf(plan.scheduling, plan.binary, apiWith);
    const tools: Tools = { ...apisOf(plan, apiWith), scheduler, world };
    const leaving: string[] = [];
    for (const host of plan.back) {
      await giveBack(plan, scheduler, host);
      // What a run that has ended meanwhile had moved is not left waiting; the next run looks again.
      const { staying, busy } = await leavingFrom(plan, tools, { host, asked: new Map() });
      const words = [...staying, ...busy];
      leaving.push(...words);
      lines.push(`${host}: ${words.length === 0 ? 'returned' : words.join('; ')}`);
    }
    const left = await emptyAll(plan, tools);
    for (const [host, staying] of left) if (staying.length === 0) lines.push(`${host}: emptied`);
    const most = Math.floor(mostOfMessage / (lines.length + left.size + 1));
    // At the end, where a condition takes the words of what has failed from.
    for (const [host, staying] of left) {
      const words = `${host}: occupied: ${staying.join('; ')}`;
      if (staying.length > 0) lines.push(words.length > most ? `${words.slice(0, most)}...` : words);
    }
    for (const line of lines) print(line);
    world.writeMessage(lines.join('\n'));
    return [leaving, ...left.values()].every((words) => words.length === 0) ? 0 : someExist;
  } catch (error) {
    // Of what the other side says, no line is made that tells of a host.
    const words = (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/gu, ' ');
    print(words);
    world.writeMessage([...lines, words].join('\n').slice(-mostOfMessage));
    return 1;
  }
}

/** The API as it is asked, and as it is told to move something: that is not said twice. */
function apisOf({ scheduling: { headers } }: EmptyPlan, apiWith: ApiWith): Pick<Tools, 'api' | 'moving'> {
  return { api: apiWith(headers), moving: apiWith(headers, { isOnce: true }) };
}

/**
 * Disables a host, with the reason. What somebody else has disabled is left so.
 * @returns whether it was enabled; undefined for a host that the API does not list
 */
async function takeOut(
  { mark, disabledByItself }: EmptyPlan,
  scheduler: Scheduler,
  { name, reason }: EmptyPlan['hosts'][number],
) {
  const found = await scheduler.processOf(name);
  if (found === undefined) return undefined;
  const isOurs = isMarked(found.disabled_reason, `${mark}:`);
  const words = `${mark}: ${reason}`.slice(0, mostOfReason);
  const isEnabled = found.status === 'enabled' || isMarked(found.disabled_reason, disabledByItself);
  if (isEnabled || (isOurs && found.disabled_reason !== words)) await scheduler.disable(name, words);
  return isEnabled;
}

/** Enables a host, if it was disabled for its maintenance. */
async function giveBack({ mark }: EmptyPlan, scheduler: Scheduler, host: string): Promise<void> {
  const { status, disabled_reason: reason } = (await scheduler.processOf(host)) ?? {};
  if (status === 'disabled' && isMarked(reason, `${mark}:`)) await scheduler.enable(host);
}

const isMarked = (reason: string | null | undefined, mark: string): boolean => reason?.startsWith(mark) === true;

/** What emptying works with. */
interface Tools {
  readonly api: JsonApi;
  readonly moving: JsonApi;
  readonly scheduler: Scheduler;
  readonly world: AskingWorld;
}

/** Empties all hosts at once. @returns by host, the guests that stay, each with why */
async function emptyAll(plan: EmptyPlan, tools: Tools): Promise<ReadonlyMap<string, readonly string[]>> {
  const { scheduler, world } = tools;
  const { clock, signal } = world;
  const begun = clock.monotonic();
  let settled = begun;
  const unlisted = new Set<string>();
  for (const host of plan.hosts) {
    const wasEnabled = await takeOut(plan, scheduler, host);
    if (wasEnabled === undefined) unlisted.add(host.name);
    else if (wasEnabled) settled = begun + onItsWay;
  }
  const asked = new Map<string, string>();
  for (;;) {
    const looks = new Map<string, Look>();
    for (const { name: host } of plan.hosts) {
      // In this order: what leaves the list of guests meanwhile is among what is leaving.
      const [there, gone] = [
        await lookAt(plan, tools, { host, asked }),
        await leavingFrom(plan, tools, { host, asked }),
      ];
      const staying = [...there.staying, ...gone.staying, ...(await disksLeftOn(plan, tools.api, host))];
      looks.set(host, { staying, busy: [...there.busy, ...gone.busy] });
    }
    const now = clock.monotonic();
    const isUnderWay = [...looks.values()].some(({ busy }) => busy.length > 0);
    if (now >= begun + patience || (!isUnderWay && now >= settled)) return leftIn(plan, tools, { looks, unlisted });
    await sleep(clock, pace, signal);
  }
}

/** What is left of each host: what is not disabled any more, or is not known, is not taken for empty. */
async function leftIn(
  { hosts, binary }: EmptyPlan,
  { scheduler }: Tools,
  { looks, unlisted }: { readonly looks: ReadonlyMap<string, Look>; readonly unlisted: ReadonlySet<string> },
): Promise<ReadonlyMap<string, readonly string[]>> {
  const left = new Map<string, readonly string[]>();
  for (const { name } of hosts) {
    const { staying = [], busy = [] } = looks.get(name) ?? {};
    const isOpen = !unlisted.has(name) && (await scheduler.processOf(name))?.status !== 'disabled';
    left.set(name, [
      ...(unlisted.has(name) ? [`the API lists no ${binary} of this host`] : []),
      ...(isOpen ? [`its ${binary} was enabled meanwhile`] : []),
      ...staying,
      ...busy,
    ]);
  }
  return left;
}

/** What is left on a host: what stays there, and what somebody or something works at. */
interface Look {
  readonly staying: readonly string[];
  readonly busy: readonly string[];
}

/** Has each guest moved that can be, once; `asked` has what became of that. */
async function lookAt(
  plan: EmptyPlan,
  { api, moving }: Tools,
  { host, asked }: { readonly host: string; readonly asked: Map<string, string> },
): Promise<Look> {
  const staying: string[] = [];
  // Asked first: what arrives meanwhile is among the guests then.
  const busy = await arrivingAt(plan, api, host);
  for (const guest of await guestsOf(plan, api, host)) {
    const { id, name = '', status = '' } = guest;
    // Users name their guests: of what they write, no line is made.
    const title = `${id} (${name.replaceAll(/[^\x20-\x7e]/gu, '?').slice(0, 64)})`;
    const task = guest[plan.task];
    if (typeof task === 'string') busy.push(`${title} is busy (${task})`);
    else {
      const way = wayOf(plan, status);
      if (way === undefined) staying.push(`${title} is ${status}`);
      else if (typeof way === 'string') staying.push(`${title}: ${way}`);
      else {
        const before = asked.get(id);
        if (before === undefined) asked.set(id, await tell(plan, moving, { id, body: way, todo: 'moved' }));
        const words = `${title}: ${asked.get(id)}`;
        if (before === undefined) busy.push(words);
        else staying.push(words);
      }
    }
  }
  return { staying, busy };
}

/** What is posted to have a guest in a state moved, or why that is not done; undefined for a state in which none is. */
function wayOf({ movable, move, stays, confirmed }: EmptyPlan, status: string) {
  if (movable.includes(status)) return stays ?? move.body;
  return confirmed?.movable.includes(status) === true ? confirmed.body : undefined;
}

/** Tells a guest something. @returns what is to be said of it where that comes to nothing */
async function tell(
  { move: { path } }: EmptyPlan,
  api: JsonApi,
  { id, body, todo }: { readonly id: string; readonly body: object; readonly todo: 'moved' | 'confirmed' },
): Promise<string> {
  try {
    await api.call('POST', path.replace('{id}', id), body);
    return `was to be ${todo}, and came back; the log of its host says why`;
  } catch (error) {
    if (!(error instanceof HttpError)) return `was to be ${todo}, and the API did not answer in time`;
    return error.words.replaceAll(/\s+/gu, ' ').trim();
  }
}

/**
 * Confirms, once, each move from a host that waits for it, whoever has asked for the move: a run that has ended in the middle
 * did. What waits there was told to leave the host, and going back is no choice while it is emptied.
 */
async function leavingFrom(
  plan: EmptyPlan,
  { api, moving }: Tools,
  { host, asked }: { readonly host: string; readonly asked: Map<string, string> },
): Promise<Look> {
  const { arriving, confirmed } = plan;
  const [staying, busy]: [string[], string[]] = [[], []];
  if (confirmed === undefined) return { staying, busy };
  const { from, columns, underWay, waits, confirm } = confirmed;
  const isSuch = (one: Migration) => one[from] === host && has(one, columns);
  for (const one of (await migrationsOf(arriving, api, host)).filter(isSuch)) {
    const [id, status] = [String(one[arriving.guest]), String(one['status'])];
    if (underWay.includes(status)) busy.push(`${id} is on its way from there (${status})`);
    if (status !== waits) continue;
    const key = `${id} ${waits}`;
    const before = asked.get(key);
    if (before === undefined) asked.set(key, await tell(plan, moving, { id, body: confirm, todo: 'confirmed' }));
    (before === undefined ? busy : staying).push(`${id}: ${asked.get(key)}`);
  }
  return { staying, busy };
}

/** Guests that are elsewhere, and need what they have left on a host: that they are taken back to, or mended from. */
async function disksLeftOn({ arriving, confirmed }: EmptyPlan, api: JsonApi, host: string): Promise<string[]> {
  if (confirmed === undefined) return [];
  const { from, waits, usersColumns, failed } = confirmed;
  const gone = (await migrationsOf(arriving, api, host)).filter((one) => one[from] === host);
  const guestsIn = (state: string, columns: Readonly<Record<string, string>> = {}) => [
    ...new Set(
      gone.flatMap((one) => (one['status'] === state && has(one, columns) ? [String(one[arriving.guest])] : [])),
    ),
  ];
  const waiting = guestsIn(waits, usersColumns).map(
    (id) => `${id}: its user has to confirm its resize, or to revert it`,
  );
  const broken: string[] = [];
  for (const id of guestsIn(failed.state)) {
    const { status, [failed.host]: now } = (await guestOf(failed, api, id)) ?? {};
    if (status === failed.status && now !== host)
      broken.push(`${id} is ${status} since it was moved, and has a disk here`);
  }
  return [...waiting, ...broken];
}

/** A guest; undefined for one that is no more. */
async function guestOf(
  { path, item }: NonNullable<EmptyPlan['confirmed']>['failed'],
  api: JsonApi,
  id: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const answer = (await api.call('GET', path.replace('{id}', encodeURIComponent(id)))) as Record<string, object>;
    return answer[item] as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined;
    throw error;
  }
}

const has = (one: Migration, columns: Readonly<Record<string, string>>): boolean =>
  Object.entries(columns).every(([name, value]) => one[name] === value);

/** What is on its way to a host, from wherever: until it is there, no list of the host's guests has it. */
async function arrivingAt({ arriving }: EmptyPlan, api: JsonApi, host: string): Promise<string[]> {
  const { guest, to, underWay } = arriving;
  return (await migrationsOf(arriving, api, host)).flatMap((one) => {
    const status = String(one['status']);
    return one[to] === host && underWay.includes(status)
      ? [`${String(one[guest])} is on its way there (${status})`]
      : [];
  });
}

type Migration = Readonly<Record<string, unknown>>;

/** What comes to a host or leaves it, or did. */
async function migrationsOf(
  { list, items }: EmptyPlan['arriving'],
  api: JsonApi,
  host: string,
): Promise<readonly Migration[]> {
  const path = list.replace('{host}', encodeURIComponent(host));
  const { [items]: found } = ((await api.call('GET', path)) ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(found)) throw new Error(`GET ${path}: the answer holds no ${items}`);
  return found as readonly Migration[];
}

interface Guest {
  readonly id: string;
  readonly name?: string;
  readonly status?: string;
  readonly [attribute: string]: unknown;
}

/** All guests of a host, page by page. */
async function guestsOf({ of, list }: EmptyPlan, api: JsonApi, host: string): Promise<readonly Guest[]> {
  const path = list.replace('{host}', encodeURIComponent(host));
  const guests: Guest[] = [];
  for (;;) {
    const marker = guests.at(-1)?.id;
    const answer = await api.call('GET', marker === undefined ? path : `${path}&marker=${marker}`);
    const { [of]: found, [`${of}_links`]: links } = (answer ?? {}) as Readonly<Record<string, unknown>>;
    if (!Array.isArray(found)) throw new Error(`GET ${path}: the answer holds no ${of}`);
    guests.push(...(found as readonly Guest[]));
    if (links === undefined || found.length === 0) return guests;
  }
}
