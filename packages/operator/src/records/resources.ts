import { isDeepStrictEqual } from 'node:util';
import type { ResourceApi } from '@openstack-operator/openstack';
import { type Http, HttpError, type JsonApi, jsonApi } from './http.ts';
import { type Login, openSession, type Session } from './identity-login.ts';

/** What a service has in others of its cloud. */
export interface ResourceRecords extends Login {
  /** Identity API. */
  readonly url: string;
  readonly region: string;
  /** Each after what its attributes refer to. */
  readonly resources: readonly ResourceRecord[];
}

/** A network, a flavour, or the like. */
export interface ResourceRecord {
  readonly kind: string;
  readonly name: string;
  /** Of the service in the catalogue. */
  readonly type: string;
  readonly api: ResourceApi;
  /** Values; `{ idOf: '<kind>/<name>' }` is the identifier of one before it. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** It is the service's own, and goes with its data. */
  readonly own?: boolean;
  /** One before it that has exactly one of these, by the same identifier; it goes with that. */
  readonly of?: { readonly idOf: string };
  /** Its identifier is told. */
  readonly told?: boolean;
}

interface Entity {
  readonly id: string;
  readonly name?: string;
  readonly [attribute: string]: unknown;
}

/**
 * Makes resources what the records say; says in words what it changed. Of several with the name in the project the one
 * with the smallest id counts. Attributes that the records do not name, and keys of maps, are anybody's.
 * @param tell is called with `{<kind> <name>: <identifier>}` of those whose identifier is told
 * @throws Error when an attribute differs that the API does not change, or one of the name is somebody else's
 */
export async function keepResourceRecords(
  records: ResourceRecords,
  http: Http,
  tell: (line: string) => void = () => undefined,
): Promise<string[]> {
  const session = await openSession(http, records.url, records);
  const changes: string[] = [];
  const ids = new Map<string, string>();
  for (const record of records.resources) {
    const api = apiOf(record, records, { session, http });
    if (api === undefined) throw new Error(`the catalogue has no service of type ${record.type} in ${records.region}`);
    const attributes = resolved(record, ids);
    const title = `${record.kind} ${record.name}`;
    const found = record.of === undefined ? (await listed(api, record, session))[0] : await only(api, record, ids);
    if (found !== undefined) refuseForeign(record, found);
    const id = found?.id ?? (await create(api, record, { attributes, session }));
    ids.set(`${record.kind}/${record.name}`, id);
    if (record.told === true) tell(`{${title}: ${id}}`);
    if (found === undefined) {
      changes.push(`created ${title}`);
      continue;
    }
    const shown = await shownOf(api, record, found);
    const differing = Object.entries(attributes).filter(([name, value]) => !says(shown[name], value));
    if (differing.length === 0) continue;
    const names = differing.map(([name]) => name).join(', ');
    const { change, writes = {} } = record.api;
    const together = differing.filter(([name]) => writes[name] === undefined);
    const made = differing.filter(([name]) => writes[name]?.shown !== undefined && isStated(shown[name]));
    const stay = change === undefined ? [...together, ...made] : made;
    if (stay.length > 0) {
      const words = stay.map(([name, value]) => `${name} is ${said(shown[name])}, not ${said(value)}`).join(', ');
      throw new Error(`${title}: ${words}, and cannot be changed; delete it, and it is made anew`);
    }
    await writeApart(api, record, { id: found.id, attributes: differing });
    await writeTogether(api, record, { id: found.id, attributes: together });
    changes.push(`changed ${names} of ${title}`);
  }
  return changes;
}

/** One that does not bear the mark of the operator is somebody else's: nothing of it is changed. */
function refuseForeign({ kind, name, api: { mark }, attributes }: ResourceRecord, found: Entity): void {
  if (mark === undefined || found[mark] === attributes[mark]) return;
  throw new Error(
    `${kind} ${name} is there already and is not the operator's: its ${mark} is ${said(found[mark])}, not ${said(attributes[mark])}; rename it, or set its ${mark} to hand it over`,
  );
}

/**
 * Deletes the resources of the records, the last one first; says in words what it removed. What has no API is gone with it;
 * what bears a mark stays.
 */
export async function removeResourceRecords(records: ResourceRecords, http: Http): Promise<string[]> {
  const session = await openSession(http, records.url, records);
  const changes: string[] = [];
  const made = records.resources.filter(
    ({ own, of, api: { mark } }) => own !== true && of === undefined && mark === undefined,
  );
  for (const record of made.toReversed()) {
    const api = apiOf(record, records, { session, http });
    const found = api && (await listed(api, record, session))[0];
    if (api === undefined || found === undefined) continue;
    await remove(api, record, found.id);
    changes.push(`removed ${record.kind} ${record.name}`);
  }
  return changes;
}

/** Catalogues of others may have the identity API without its version: it is where the records say. */
function apiOf(
  { type, api: { headers } }: ResourceRecord,
  { region, url: identity }: ResourceRecords,
  { session, http }: { session: Session; http: Http },
): JsonApi | undefined {
  const url = type === 'identity' ? identity : session.endpoint(type, region);
  return url === undefined ? undefined : jsonApi(http, url, { 'x-auth-token': session.token, ...headers });
}

/** Those with the record's name, in the order that every run sees. */
async function listed(
  api: JsonApi,
  { name, api: { path, list, item, items, owned } }: ResourceRecord,
  session: Session,
) {
  const filter = owned === true ? `?name=${encodeURIComponent(name)}&project_id=${session.projectId}` : '';
  const asked = (list ?? path).replace('{name}', encodeURIComponent(name));
  const answer = (await api.call('GET', `${asked}${filter}`)) as Record<string, Entity[]>;
  return (answer[items ?? `${item}s`] ?? []).filter((one) => one.name === name).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The only one of what the record says that it is of. */
async function only(api: JsonApi, record: ResourceRecord, ids: ReadonlyMap<string, string>): Promise<Entity> {
  const { path, item } = record.api;
  const { of: id = '' } = resolved({ ...record, attributes: { of: record.of } }, ids) as { of?: string };
  const answer = (await api.call('GET', `${path}/${id}`)) as Record<string, object>;
  return { ...answer[item], id };
}

/** Gives the id of what counts: where another run has made one as well, its own goes if that is not it. */
async function create(
  api: JsonApi,
  record: ResourceRecord,
  { attributes, session }: { attributes: Record<string, unknown>; session: Session },
): Promise<string> {
  const { path, item, madeAs = {}, meanwhile = {}, writes = {} } = record.api;
  const all = Object.entries(attributes);
  const later = all.filter(([name]) => writes[name]?.later === true);
  // What is not whole yet is not as it is stated, either.
  const last = all.filter(([name]) => later.length > 0 && name in meanwhile);
  const first = Object.fromEntries(last.map(([name]) => [name, meanwhile[name]]));
  const stated = Object.entries({ ...attributes, ...first }).flatMap(([name, value]) =>
    writes[name]?.later === true ? [] : [[madeAs[name] ?? name, value]],
  );
  const body = { name: record.name, ...spread(record, Object.fromEntries(stated) as Record<string, unknown>) };
  const answer = (await api.call('POST', path, { [item]: body })) as Record<string, Entity>;
  const made = answer[item]?.id ?? '';
  await writeApart(api, record, { id: made, attributes: later });
  const differing = last.filter(([name, value]) => !says(first[name], value));
  await writeTogether(api, record, { id: made, attributes: differing });
  const kept = (await listed(api, record, session))[0]?.id ?? made;
  if (kept !== made) await remove(api, record, made);
  return kept;
}

/** An item with what is shown of it elsewhere. */
async function shownOf(api: JsonApi, { api: { writes = {} }, attributes }: ResourceRecord, found: Entity) {
  const shown: Record<string, unknown> = { ...found };
  for (const [name, { shown: path }] of Object.entries(writes))
    if (path !== undefined && name in attributes) shown[name] = await api.call('GET', path.replace('{id}', found.id));
  return shown;
}

/** Whether anything is shown of an attribute. */
const isStated = (value: unknown): boolean => isMap(value) && Object.keys(value).length > 0;

/** Attributes as bodies have them: the keys of one of them stand beside the others. */
function spread({ api }: ResourceRecord, attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { [api.spread ?? '']: inner, ...others } = attributes;
  return { ...others, ...(inner as object | undefined) };
}

/** Attributes by name, with what each is to be. */
interface Written {
  readonly id: string;
  readonly attributes: readonly (readonly [string, unknown])[];
}

/** Changes attributes of the item itself, where its API does. */
async function writeTogether(api: JsonApi, record: ResourceRecord, { id, attributes }: Written): Promise<void> {
  const { path, item, change } = record.api;
  if (change === undefined || attributes.length === 0) return;
  await api.call(change, `${path}/${id}`, { [item]: spread(record, Object.fromEntries(attributes)) });
}

/** Writes attributes that do not go with the item. */
async function writeApart(api: JsonApi, record: ResourceRecord, { id, attributes }: Written): Promise<void> {
  for (const [name, value] of attributes) {
    const write = record.api.writes?.[name];
    if (write === undefined) continue;
    const path = write.path.replace('{id}', id).replace('{value}', encodeURIComponent(String(value)));
    await api.call(write.method, path, write.method === 'GET' ? undefined : { [name]: value });
  }
}

/** Somebody else may have been faster. */
async function remove(api: JsonApi, { api: { path } }: ResourceRecord, id: string): Promise<void> {
  try {
    await api.call('DELETE', `${path}/${id}`);
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 404) throw error;
  }
}

function resolved({ kind, name, attributes }: ResourceRecord, ids: ReadonlyMap<string, string>) {
  return Object.fromEntries(
    Object.entries(attributes).map(([attribute, value]) => {
      const { idOf } = (value ?? {}) as { idOf?: string };
      const id = idOf === undefined ? undefined : ids.get(idOf);
      if (idOf !== undefined && id === undefined)
        throw new Error(`${kind} ${name}: ${attribute} refers to ${idOf}, which is not before it`);
      return [attribute, id ?? value];
    }),
  );
}

/** Whether an attribute is what a record says. */
function says(found: unknown, value: unknown): boolean {
  if (!isMap(found) || !isMap(value)) return isDeepStrictEqual(found, value);
  return Object.entries(value).every(([key, each]) => says(found[key], each));
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const said = (value: unknown): string => JSON.stringify(value) ?? 'absent';
