import { isDeepStrictEqual } from 'node:util';
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
  readonly api: {
    readonly path: string;
    readonly list?: string;
    readonly item: string;
    readonly owned?: boolean;
    readonly headers?: Readonly<Record<string, string>>;
    readonly change?: 'PUT' | 'PATCH';
  };
  /** Values; `{ idOf: '<kind>/<name>' }` is the identifier of one before it. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** It is the service's own, and goes with its data. */
  readonly own?: boolean;
}

interface Entity {
  readonly id: string;
  readonly name?: string;
  readonly [attribute: string]: unknown;
}

/**
 * Makes resources what the records say; says in words what it changed. Of several with the name in the project the one
 * with the smallest id counts. Attributes that the records do not name, and keys of maps, are anybody's.
 * @throws Error when an attribute differs that the API does not change
 */
export async function keepResourceRecords(records: ResourceRecords, http: Http): Promise<string[]> {
  const session = await openSession(http, records.url, records);
  const changes: string[] = [];
  const ids = new Map<string, string>();
  for (const record of records.resources) {
    const api = apiOf(record, records, { session, http });
    if (api === undefined) throw new Error(`the catalogue has no service of type ${record.type} in ${records.region}`);
    const attributes = resolved(record, ids);
    const title = `${record.kind} ${record.name}`;
    const found = (await listed(api, record, session))[0];
    ids.set(`${record.kind}/${record.name}`, found?.id ?? (await create(api, record, { attributes, session })));
    if (found === undefined) {
      changes.push(`created ${title}`);
      continue;
    }
    const differing = Object.entries(attributes).filter(([name, value]) => !says(found[name], value));
    if (differing.length === 0) continue;
    const names = differing.map(([name]) => name).join(', ');
    const { path, item, change } = record.api;
    if (change === undefined) {
      const words = differing.map(([name, value]) => `${name} is ${said(found[name])}, not ${said(value)}`).join(', ');
      throw new Error(`${title}: ${words}, and cannot be changed; delete it, and it is made anew`);
    }
    await api.call(change, `${path}/${found.id}`, { [item]: Object.fromEntries(differing) });
    changes.push(`changed ${names} of ${title}`);
  }
  return changes;
}

/** Deletes the resources of the records, the last one first; says in words what it removed. What has no API is gone with it. */
export async function removeResourceRecords(records: ResourceRecords, http: Http): Promise<string[]> {
  const session = await openSession(http, records.url, records);
  const changes: string[] = [];
  for (const record of records.resources.filter(({ own }) => own !== true).toReversed()) {
    const api = apiOf(record, records, { session, http });
    const found = api && (await listed(api, record, session))[0];
    if (api === undefined || found === undefined) continue;
    await remove(api, record, found.id);
    changes.push(`removed ${record.kind} ${record.name}`);
  }
  return changes;
}

function apiOf(
  { type, api: { headers } }: ResourceRecord,
  { region }: ResourceRecords,
  { session, http }: { session: Session; http: Http },
): JsonApi | undefined {
  const url = session.endpoint(type, region);
  return url === undefined ? undefined : jsonApi(http, url, { 'x-auth-token': session.token, ...headers });
}

/** Those with the record's name, in the order that every run sees. */
async function listed(api: JsonApi, { name, api: { path, list, item, owned } }: ResourceRecord, session: Session) {
  const filter = owned === true ? `?name=${encodeURIComponent(name)}&project_id=${session.projectId}` : '';
  const answer = (await api.call('GET', `${list ?? path}${filter}`)) as Record<string, Entity[]>;
  return (answer[`${item}s`] ?? []).filter((one) => one.name === name).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Gives the id of what counts: where another run has made one as well, its own goes if that is not it. */
async function create(
  api: JsonApi,
  record: ResourceRecord,
  { attributes, session }: { attributes: Record<string, unknown>; session: Session },
): Promise<string> {
  const { path, item } = record.api;
  const answer = (await api.call('POST', path, { [item]: { name: record.name, ...attributes } })) as Record<
    string,
    Entity
  >;
  const made = answer[item]?.id ?? '';
  const kept = (await listed(api, record, session))[0]?.id ?? made;
  if (kept !== made) await remove(api, record, made);
  return kept;
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
