import { sleep } from '@openstack-operator/kube';
import type { EmptyPlan } from '@openstack-operator/openstack';
import { type AskingWorld, askingUsage, openApi } from './asking.ts';
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
 * again where that is over (`EmptyPlan`, as JSON), with the variables of `openApi`. Waits until what moves has moved, for half
 * an hour at most. Run twice it changes nothing. Leaves a line for each host as the container's termination message:
 * `<host>: emptied`, `<host>: occupied: <which stay, and why>`, `<host>: returned`.
 * @returns the exit code: 0 done, 3 guests are left, 1 the other side refused or did not answer, 2 wrong arguments
 */
export async function runEmpty(
  args: readonly string[],
  world: AskingWorld & Pick<RecordsWorld, 'writeMessage'>,
): Promise<number> {
  const { print } = world;
  try {
    const plan = args.length === 1 ? planIn(args[0] ?? '') : undefined;
    const apiWith = plan && (await openApi(world));
    if (plan === undefined || apiWith === undefined) {
      print(`usage: ${askingUsage} openstack-operator empty PLAN`);
      return 2;
    }
    const api = apiWith(plan.scheduling.headers);
    const scheduler = schedulerOf(plan.scheduling, plan.binary, api);
    const lines: string[] = [];
    for (const host of plan.back) {
      await giveBack(plan, scheduler, host);
      lines.push(`${host}: returned`);
    }
    const left = await emptyAll(plan, { api, scheduler, world });
    for (const [host, staying] of left) if (staying.length === 0) lines.push(`${host}: emptied`);
    const most = Math.floor(mostOfMessage / (lines.length + left.size + 1));
    // At the end, where a condition takes the words of what has failed from.
    for (const [host, staying] of left) {
      const words = `${host}: occupied: ${staying.join('; ')}`;
      if (staying.length > 0) lines.push(words.length > most ? `${words.slice(0, most)}...` : words);
    }
    for (const line of lines) print(line);
    world.writeMessage(lines.join('\n'));
    return [...left.values()].every((staying) => staying.length === 0) ? 0 : someExist;
  } catch (error) {
    print(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

function planIn(text: string): EmptyPlan | undefined {
  try {
    const plan = JSON.parse(text) as Partial<EmptyPlan> | null;
    return Array.isArray(plan?.hosts) && Array.isArray(plan.back) ? (plan as EmptyPlan) : undefined;
  } catch {
    return undefined;
  }
}

/** Disables a host, with the reason. What somebody else has disabled is left so. @returns whether it was enabled */
async function takeOut(
  { mark, binary }: EmptyPlan,
  scheduler: Scheduler,
  { name, reason }: EmptyPlan['hosts'][number],
) {
  const found = await scheduler.processOf(name);
  if (found === undefined) throw new Error(`${name}: the API lists no ${binary} of this host`);
  const isOurs = isMarked(found.disabled_reason, mark);
  const words = `${mark}: ${reason}`.slice(0, mostOfReason);
  const isEnabled = found.status === 'enabled';
  if (isEnabled || (isOurs && found.disabled_reason !== words)) await scheduler.disable(name, words);
  return isEnabled;
}

/** Enables a host, if it was disabled for its maintenance. */
async function giveBack({ mark }: EmptyPlan, scheduler: Scheduler, host: string): Promise<void> {
  const { status, disabled_reason: reason } = (await scheduler.processOf(host)) ?? {};
  if (status === 'disabled' && isMarked(reason, mark)) await scheduler.enable(host);
}

const isMarked = (reason: string | null | undefined, mark: string): boolean => reason?.startsWith(`${mark}:`) === true;

/** What emptying works with. */
interface Tools {
  readonly api: JsonApi;
  readonly scheduler: Scheduler;
  readonly world: AskingWorld;
}

/** Empties all hosts at once. @returns by host, the guests that stay, each with why */
async function emptyAll(plan: EmptyPlan, tools: Tools): Promise<ReadonlyMap<string, readonly string[]>> {
  const { scheduler, world } = tools;
  const { clock, signal } = world;
  const begun = clock.monotonic();
  let settled = begun;
  for (const host of plan.hosts) if (await takeOut(plan, scheduler, host)) settled = begun + onItsWay;
  const asked = new Map<string, string>();
  for (;;) {
    const looks = new Map<string, Look>();
    for (const { name } of plan.hosts) looks.set(name, await lookAt(plan, tools, { host: name, asked }));
    const now = clock.monotonic();
    const isUnderWay = [...looks.values()].some(({ busy }) => busy.length > 0);
    if (now >= begun + patience || (!isUnderWay && now >= settled))
      return new Map([...looks].map(([host, { staying, busy }]) => [host, [...staying, ...busy]]));
    await sleep(clock, pace, signal);
  }
}

/** What is left on a host: what stays there, and what somebody or something works at. */
interface Look {
  readonly staying: readonly string[];
  readonly busy: readonly string[];
}

/** Has each guest moved that can be, once; `asked` has what became of that. */
async function lookAt(
  plan: EmptyPlan,
  { api }: Tools,
  { host, asked }: { readonly host: string; readonly asked: Map<string, string> },
): Promise<Look> {
  const staying: string[] = [];
  const busy: string[] = [];
  for (const guest of await guestsOf(plan, api, host)) {
    const { id, name = '', status = '' } = guest;
    // Users name their guests: of what they write, no line is made.
    const title = `${id} (${name.replaceAll(/[^\x20-\x7e]/gu, '?').slice(0, 64)})`;
    const task = guest[plan.task];
    if (typeof task === 'string') busy.push(`${title} is busy (${task})`);
    else if (!plan.movable.includes(status)) staying.push(`${title} is ${status}`);
    else if (plan.stays !== undefined) staying.push(`${title}: ${plan.stays}`);
    else {
      const before = asked.get(id);
      if (before === undefined) asked.set(id, await move(plan, api, id));
      const words = `${title}: ${asked.get(id)}`;
      if (before === undefined) busy.push(words);
      else staying.push(words);
    }
  }
  return { staying, busy };
}

/** Asks for a guest to be moved. @returns why it stays, if it does */
async function move({ move: { path, body } }: EmptyPlan, api: JsonApi, id: string): Promise<string> {
  try {
    await api.call('POST', path.replace('{id}', id), body);
    return 'was to be moved, and came back; the log of its host says why';
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return error.words.replaceAll(/\s+/gu, ' ').trim();
  }
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
