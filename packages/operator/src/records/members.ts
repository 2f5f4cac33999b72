import { isDeepStrictEqual } from 'node:util';
import { type Clock, sleep } from '@openstack-operator/kube';
import type { MemberList, Names } from '@openstack-operator/openstack';
import { type Http, HttpError, type JsonApi, jsonApi } from './http.ts';
import { type Login, openSession } from './identity-login.ts';

/** Items of one kind with their members, and who keeps them. */
export interface MemberRecords extends Login, MemberList {
  /** Identity API. */
  readonly url: string;
}

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

/** How the other side refuses what it is asked for: it is not there, not as it has to be, or not possible. */
const refusals = [400, 404, 409];

/**
 * Makes items and their members what the records say; says in words what it changed. What is refused of one member holds up no
 * other. An item of the prefix that is not stated goes when it has no members.
 * @param tell is called with `{members refused: <number>}`, and with `{member <words>}` of some of these
 */
export async function keepMemberRecords(
  records: MemberRecords,
  http: Http,
  tell: (line: string) => void,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal },
): Promise<string[]> {
  const session = await openSession(http, records.url, records);
  const base = session.endpoint(records.type, records.region);
  if (base === undefined) throw new Error(`the catalogue has no service of type ${records.type} in ${records.region}`);
  const run = new Run(records, jsonApi(http, base, { 'x-auth-token': session.token, ...records.api.headers }));
  await run.all();
  const deadline = clock.monotonic() + patience * 1000;
  while (run.isAwaiting && clock.monotonic() < deadline) {
    await sleep(clock, pause * 1000, signal);
    await run.addAwaited();
  }
  run.giveUp();
  tell(`{members refused: ${run.refused.length}}`);
  for (const words of run.refused.slice(0, mostTold)) tell(`{member ${words}}`);
  const more = run.refused.length - mostTold;
  if (more > 0) tell(`{member and ${more} more}`);
  return run.changes;
}

class Run {
  readonly changes: string[] = [];
  readonly refused: string[] = [];
  /** Members that are to be added, and are not there yet. */
  #awaited: { readonly item: Item; readonly member: string; readonly words: string }[] = [];
  readonly #records: MemberRecords;
  readonly #api: JsonApi;
  /** Members that did not leave where they were. */
  readonly #stuck = new Set<string>();

  constructor(records: MemberRecords, api: JsonApi) {
    this.#records = records;
    this.#api = api;
  }

  /** First members leave, as they may be of one item alone. */
  async all(): Promise<void> {
    const { items, prefix, unassigned } = this.#records;
    const found = (await this.#list()).filter(({ name }) => name.startsWith(prefix));
    const placed = new Set([...items.flatMap(({ members }) => namesOf(members)), ...namesOf(unassigned)]);
    for (const item of found) {
      const stated = items.find(({ name }) => name === item.name);
      const wanted = new Set(namesOf(stated?.members));
      const present = this.#membersOf(item);
      const leaving = present.filter((member) => placed.has(member) && !wanted.has(member));
      for (const member of leaving) await this.#remove(item, member);
      const left = leaving.filter((member) => !this.#stuck.has(member)).length;
      if (stated === undefined && left === present.length) await this.#drop(item);
    }
    for (const { name, attributes, members } of items) {
      const before = found.find((item) => item.name === name);
      const item = before ?? (await this.#make(name, attributes));
      if (before !== undefined) await this.#change(before, attributes);
      const present = new Set(this.#membersOf(item));
      for (const member of namesOf(members))
        if (!present.has(member) && !this.#stuck.has(member)) await this.#add(item, member);
    }
  }

  async #list(): Promise<readonly Item[]> {
    const { path, item, items = `${item}s` } = this.#records.api;
    return ((await this.#api.call('GET', path)) as Readonly<Record<string, readonly Item[]>>)[items] ?? [];
  }

  #membersOf(item: Item): readonly string[] {
    return (item[this.#records.api.members.shown] ?? []) as readonly string[];
  }

  async #make(name: string, attributes: Readonly<Record<string, unknown>>): Promise<Item> {
    const { path, item } = this.#records.api;
    const made = (await this.#api.call('POST', path, { [item]: { name, ...attributes } })) as Record<string, Item>;
    this.changes.push(`created ${this.#records.kind} ${name}`);
    return made[item] as Item;
  }

  async #change(found: Item, attributes: Readonly<Record<string, unknown>>): Promise<void> {
    const differing = Object.entries(attributes).filter(([name, value]) => !isDeepStrictEqual(found[name], value));
    if (differing.length === 0) return;
    const { path, item } = this.#records.api;
    const title = `${this.#records.kind} ${found.name}`;
    const names = differing.map(([name]) => name).join(', ');
    const why = await this.#try('PUT', `${path}/${found.id}`, { [item]: Object.fromEntries(differing) });
    if (why === undefined) this.changes.push(`changed ${names} of ${title}`);
    else this.refused.push(`${title} keeps its ${names}: ${said(why)}`);
  }

  async #drop(item: Item): Promise<void> {
    const title = `${this.#records.kind} ${item.name}`;
    const why = await this.#try('DELETE', `${this.#records.api.path}/${item.id}`);
    if (why === undefined) this.changes.push(`removed ${title}`);
    else if (why.status !== 404) this.refused.push(`${title} stays: ${said(why)}`);
  }

  async #add(item: Item, member: string): Promise<void> {
    const why = await this.#act('add', item, member);
    if (why === undefined) this.#note(item, member);
    else if (why.status === 404) this.#awaited.push({ item, member, words: said(why) });
    else this.#refuse(item, member, said(why));
  }

  #refuse({ name }: Item, member: string, words: string): void {
    this.refused.push(`${member} is not taken into ${this.#records.kind} ${name}: ${words}`);
  }

  get isAwaiting(): boolean {
    return this.#awaited.length > 0;
  }

  /** Some may be members by now: what is not there as a whole may be taken in, and refused all the same. */
  async addAwaited(): Promise<void> {
    const awaited = this.#awaited;
    this.#awaited = [];
    const found = await this.#list();
    for (const { item, member } of awaited) {
      const isMember = found.some((one) => one.name === item.name && this.#membersOf(one).includes(member));
      if (isMember) this.#note(item, member);
      else await this.#add(item, member);
    }
  }

  #note({ name }: Item, member: string): void {
    this.changes.push(`added ${member} to ${this.#records.kind} ${name}`);
  }

  giveUp(): void {
    for (const { item, member, words } of this.#awaited) this.#refuse(item, member, words);
  }

  async #remove(item: Item, member: string): Promise<void> {
    const why = await this.#act('remove', item, member);
    if (why === undefined) {
      this.changes.push(`removed ${member} from ${this.#records.kind} ${item.name}`);
      return;
    }
    this.#stuck.add(member);
    this.refused.push(`${member} stays in ${this.#records.kind} ${item.name}: ${said(why)}`);
  }

  #act(what: 'add' | 'remove', item: Item, member: string): Promise<HttpError | undefined> {
    const { path, as, ...words } = this.#records.api.members;
    return this.#try('POST', path.replace('{id}', String(item.id)), { [words[what]]: { [as]: member } });
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
