import { isDeepStrictEqual } from 'node:util';
import { type Clock, sleep } from '@openstack-operator/kube';
import type { MemberList, Names } from '@openstack-operator/openstack';
import { type Http, HttpError, type JsonApi, jsonApi } from './http.ts';
import { type Login, openSession, type Session } from './identity-login.ts';
import { leaveMirror } from './mirror.ts';

/** Items of one kind with their members, and who keeps them. */
export interface MemberRecords extends Login, MemberList {
  /** Identity API. */
  readonly url: string;
}

/** An item, as its API shows it. */
interface Item {
  readonly id: string | number;
  readonly name: string;
  readonly [attribute: string]: unknown;
}

/** Lines of members that are told one by one, and characters of the other side's in each: the container's message takes 4096 bytes. */
const mostTold = 5;
const mostSaid = 500;

/** Seconds for which members are waited for that are not there yet, and between two looks. */
const patience = 120;
const pause = 5;

/** A member that comes to an item, or leaves it. */
interface Move {
  readonly item: Item;
  readonly member: string;
}

/** One that was not done, and why. */
interface Refused extends Move {
  readonly why: HttpError;
}

/** How the other side refuses what it is asked for: it is not there, not as it has to be, or not possible. */
const refusals = [400, 404, 409];

/**
 * Makes items and their members what the records say; says in words what it changed. What is refused of one member holds up no
 * other. An item of the operator that is not stated goes when it has no members; one that is somebody else's stays as it is.
 * @param tell is called with `{members refused: <number>}`, and with `{member <words>}` of some of these
 */
export async function keepMemberRecords(
  records: MemberRecords,
  http: Http,
  tell: (line: string) => void,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal },
): Promise<string[]> {
  const session = await openSession(http, records.url, records);
  const { members, headers = {} } = records.api;
  const run = new Run(records, apiOf(records, { type: records.type, headers }, session, http));
  await run.all();
  const deadline = clock.monotonic() + patience * 1000;
  while (run.isAwaiting && clock.monotonic() < deadline) {
    await sleep(clock, pause * 1000, signal);
    await run.addAwaited();
  }
  run.giveUp();
  await run.clean(apiOf(records, members.mirror, session, http));
  tell(`{members refused: ${run.refused.length}}`);
  for (const words of run.refused.slice(0, mostTold)) tell(`{member ${words}}`);
  const more = run.refused.length - mostTold;
  if (more > 0) tell(`{member and ${more} more}`);
  return run.changes;
}

function apiOf(
  { region }: MemberRecords,
  { type, headers }: { readonly type: string; readonly headers: Readonly<Record<string, string>> },
  session: Session,
  http: Http,
): JsonApi {
  const base = session.endpoint(type, region);
  if (base === undefined) throw new Error(`the catalogue has no service of type ${type} in ${region}`);
  return jsonApi(http, base, { 'x-auth-token': session.token, ...headers });
}

class Run {
  readonly changes: string[] = [];
  readonly refused: string[] = [];
  /** Members that are to be added, and are not there yet. */
  #awaited: readonly Refused[] = [];
  readonly #records: MemberRecords;
  readonly #api: JsonApi;
  /** Members of which it is said where they belong. */
  readonly #placed: ReadonlySet<string>;

  constructor(records: MemberRecords, api: JsonApi) {
    this.#records = records;
    this.#api = api;
    const { items, unassigned } = records;
    this.#placed = new Set([...items.flatMap(({ members }) => namesOf(members)), ...namesOf(unassigned)]);
  }

  /** First members leave, as they may be of one item alone. */
  async all(): Promise<void> {
    const { items } = this.#records;
    const found = await this.#list();
    const own = found.filter((item) => this.#isOwn(item));
    const leaving = own.flatMap((item) => {
      const wanted = new Set(namesOf(items.find(({ name }) => name === item.name)?.members));
      const isLeaving = (member: string) => this.#placed.has(member) && !wanted.has(member);
      return this.#membersOf(item)
        .filter(isLeaving)
        .map((member) => ({ item, member }));
    });
    const stuck = await this.#move('remove', leaving);
    for (const { item, member, why } of stuck)
      this.refused.push(`${member} stays in ${this.#titleOf(item)}: ${said(why)}`);
    for (const item of own) {
      const left = leaving.filter((one) => one.item === item).length - stuck.filter((one) => one.item === item).length;
      const isStated = items.some(({ name }) => name === item.name);
      if (!isStated && left === this.#membersOf(item).length) await this.#drop(item);
    }
    const staying = new Set(stuck.map(({ member }) => member));
    const coming: Move[] = [];
    for (const { name, attributes, members } of items) {
      const item = await this.#keep(name, attributes, found);
      if (item === undefined) continue;
      const present = new Set([...this.#membersOf(item), ...staying]);
      for (const member of namesOf(members)) if (!present.has(member)) coming.push({ item, member });
    }
    await this.#add(coming);
  }

  async #list(): Promise<readonly Item[]> {
    const { path, item, items = `${item}s` } = this.#records.api;
    return ((await this.#api.call('GET', path)) as Readonly<Record<string, readonly Item[]>>)[items] ?? [];
  }

  #titleOf({ name }: Pick<Item, 'name'>): string {
    return `${this.#records.kind} ${name}`;
  }

  #membersOf(item: Item): readonly string[] {
    return (item[this.#records.api.members.shown] ?? []) as readonly string[];
  }

  #isOwn(item: Item): boolean {
    const { mark, api } = this.#records;
    const shown = (item[api.members.mark.as] ?? {}) as Readonly<Record<string, unknown>>;
    return Object.entries(mark).every(([key, value]) => shown[key] === value);
  }

  /** Gives an item as it is to be; undefined where it cannot be that, which is told. One without members is nobody's. */
  async #keep(
    name: string,
    attributes: Readonly<Record<string, unknown>>,
    found: readonly Item[],
  ): Promise<Item | undefined> {
    const before = found.find((item) => item.name === name);
    if (before !== undefined && !this.#isOwn(before) && this.#membersOf(before).length > 0) {
      const [[key, value] = ['', '']] = Object.entries(this.#records.mark);
      const { as } = this.#records.api.members.mark;
      this.refused.push(
        `${this.#titleOf(before)} is not the operator's: rename it, or set its ${as} ${key}=${value} to hand it over`,
      );
      return undefined;
    }
    const item = before ?? (await this.#make(name, attributes));
    if (item === undefined) return undefined;
    await this.#change(item, attributes);
    if (!this.#isOwn(item)) await this.#api.call('POST', this.#pathOf(item), this.#marking());
    return item;
  }

  #marking(): object {
    const { mark, api } = this.#records;
    return { [api.members.mark.act]: { [api.members.mark.as]: mark } };
  }

  #pathOf({ id }: Item): string {
    return this.#records.api.members.path.replace('{id}', String(id));
  }

  async #make(name: string, attributes: Readonly<Record<string, unknown>>): Promise<Item | undefined> {
    const { path, item } = this.#records.api;
    const why = await this.#try('POST', path, { [item]: { name, ...attributes } });
    const made = (await this.#list()).find((one) => one.name === name);
    if (made !== undefined) this.changes.push(`created ${this.#titleOf(made)}`);
    else this.refused.push(`${this.#titleOf({ name })} is not made: ${why === undefined ? 'it is gone' : said(why)}`);
    return made;
  }

  async #change(found: Item, attributes: Readonly<Record<string, unknown>>): Promise<void> {
    const differing = Object.entries(attributes).filter(([name, value]) => !isDeepStrictEqual(found[name], value));
    if (differing.length === 0) return;
    const { path, item } = this.#records.api;
    const names = differing.map(([name]) => name).join(', ');
    const why = await this.#try('PUT', `${path}/${found.id}`, { [item]: Object.fromEntries(differing) });
    if (why === undefined) this.changes.push(`changed ${names} of ${this.#titleOf(found)}`);
    else this.refused.push(`${this.#titleOf(found)} keeps its ${names}: ${said(why)}`);
  }

  async #drop(item: Item): Promise<void> {
    const why = await this.#try('DELETE', `${this.#records.api.path}/${item.id}`);
    if (why === undefined) this.changes.push(`removed ${this.#titleOf(item)}`);
    else if (why.status !== 404) this.refused.push(`${this.#titleOf(item)} stays: ${said(why)}`);
  }

  async #add(moves: readonly Move[]): Promise<void> {
    const refused = await this.#move('add', moves);
    this.#awaited = refused.filter(({ why }) => why.status === 404);
    for (const one of refused) if (one.why.status !== 404) this.#refuse(one);
  }

  #refuse({ item, member, why }: Refused): void {
    this.refused.push(`${member} is not taken into ${this.#titleOf(item)}: ${said(why)}`);
  }

  get isAwaiting(): boolean {
    return this.#awaited.length > 0;
  }

  async addAwaited(): Promise<void> {
    await this.#add(this.#awaited);
  }

  giveUp(): void {
    for (const one of this.#awaited) this.#refuse(one);
  }

  /**
   * Gives those that were refused. A request whose answer was lost is sent again, and refused then; another run may have been faster;
   * and what is not there as a whole may be taken in all the same: what is as wanted by now is done.
   */
  async #move(what: 'add' | 'remove', moves: readonly Move[]): Promise<readonly Refused[]> {
    const { as, ...words } = this.#records.api.members;
    const refused: Refused[] = [];
    for (const move of moves) {
      const why = await this.#try('POST', this.#pathOf(move.item), { [words[what]]: { [as]: move.member } });
      if (why === undefined) this.#note(what, move);
      else refused.push({ ...move, why });
    }
    if (refused.length === 0) return [];
    const found = new Map((await this.#list()).map((item) => [item.id, new Set(this.#membersOf(item))]));
    const isDone = ({ item, member }: Move) => (found.get(item.id)?.has(member) ?? false) === (what === 'add');
    for (const move of refused) if (isDone(move)) this.#note(what, move);
    return refused.filter((move) => !isDone(move));
  }

  #note(what: 'add' | 'remove', { item, member }: Move): void {
    const words = what === 'add' ? `added ${member} to` : `removed ${member} from`;
    this.changes.push(`${words} ${this.#titleOf(item)}`);
  }

  /** The service tells its mirror of those that leave, and does not try again when that does not answer. */
  async clean(mirror: JsonApi): Promise<void> {
    const { mirror: api } = this.#records.api.members;
    const list = async () =>
      (await this.#list())
        .filter((item) => this.#isOwn(item))
        .map((item) => ({ uuid: String(item['uuid']), title: this.#titleOf(item), members: this.#membersOf(item) }));
    this.changes.push(...(await leaveMirror(mirror, api, list, this.#placed)));
  }

  /** Gives why it was refused, if it was. @throws HttpError where that is no refusal */
  async #try(method: string, path: string, body?: unknown): Promise<HttpError | undefined> {
    try {
      await this.#api.call(method, path, body);
      return undefined;
    } catch (error) {
      if (error instanceof HttpError && refusals.includes(error.status)) return error;
      throw error;
    }
  }
}

/** The other side's words, on one line. */
const said = ({ words }: HttpError): string => words.replaceAll(/\s+/gu, ' ').trim().slice(0, mostSaid);

/** Names as they are; none for an absent list. */
function namesOf(names: Names | undefined): readonly string[] {
  if (names === undefined) return [];
  return names.between.split(' ').map((between) => `${names.begin}${between}${names.end}`);
}
