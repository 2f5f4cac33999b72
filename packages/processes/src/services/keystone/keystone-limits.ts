import type { Random } from '@openstack-operator/kube';
import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { bodyOf, json, locationOf } from '../../http.ts';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { Fault } from '../../model/fault.ts';
import { findRow, newId } from './keystone-schema.ts';
import type { TokenPayload } from './keystone-tokens.ts';
import { keystoneWords } from './keystone-words.ts';

interface Asked {
  readonly schema: Schema;
  readonly request: HttpMessage;
  readonly segments: readonly string[];
  readonly caller: { readonly payload: TokenPayload; readonly roles: readonly string[] };
  readonly random: Random;
}

/** What a limit is known by, beside the project that has it. */
const place = ['service_id', 'region_id', 'resource_name'] as const;

const kinds = {
  registered_limits: { item: 'registered_limit', amount: 'default_limit', key: place },
  limits: { item: 'limit', amount: 'resource_limit', key: [...place, 'project_id'] },
} as const;

type Kind = keyof typeof kinds;

/**
 * Unified limits, of the flat model (keystone.api.limits, registered_limits; keystone.limit.backends.sql): what is made comes
 * in lists, and what a limit of a project hangs on is neither changed nor deleted. Undefined when the path is none of them.
 */
export function unifiedLimits(asked: Asked): HttpReply | undefined {
  const { schema, request, segments, caller } = asked;
  const [kind = '', id, further] = segments;
  if (!isKind(kind) || further !== undefined) return undefined;
  const { method } = request;
  if (kind === 'limits' && id === 'model') {
    const description = 'Limit enforcement and validation does not take project hierarchy into consideration.';
    return json(200, { model: { name: 'flat', description } });
  }
  const { item } = kinds[kind];
  if (method === 'GET' && id === undefined) return json(200, { [kind]: listed(asked, kind), links: {} });
  const action = { GET: `get_${item}`, POST: `create_${kind}`, PATCH: `update_${item}`, DELETE: `delete_${item}` }[
    method
  ];
  if (method !== 'GET' && !caller.roles.includes('admin'))
    throw new Fault(403, keystoneWords.forbidden(`identity:${action}`));
  if (id === undefined) return made(asked, kind);
  const row = findRow(schema, item, id);
  if (row === undefined) throw new Fault(404, `Could not find ${item.replaceAll('_', ' ')} for ${id}.`);
  if (method === 'GET') return json(200, { [item]: row });
  if (kind === 'registered_limits') demandFree(schema, row);
  if (method === 'DELETE') {
    tableOf(schema, item).delete(id);
    return { status: 204 };
  }
  return json(200, { [item]: Object.assign(row, (bodyOf(request)?.[item] ?? {}) as Row) });
}

const isKind = (kind: string): kind is Kind => Object.hasOwn(kinds, kind);

/** Whoever has a token that is not of the system is shown the limits of its project. */
function listed({ schema, request, caller: { payload } }: Asked, kind: Kind): Row[] {
  const { query } = locationOf(request);
  const { item, key } = kinds[kind];
  const asked = Object.fromEntries(key.flatMap((name) => (query.has(name) ? [[name, query.get(name)]] : [])));
  const scope = kind === 'limits' && payload.scope !== 'system' ? { project_id: payload.scope } : {};
  return rowsOf(schema, item, { ...asked, ...scope });
}

function made({ schema, request, random }: Asked, kind: Kind): HttpReply {
  const { item, amount, key } = kinds[kind];
  const given = (bodyOf(request)?.[kind] ?? []) as readonly Row[];
  const rows = given.map((one) => {
    for (const column of ['service_id', 'resource_name', amount])
      if (one[column] === undefined) throw new Fault(400, keystoneWords.required(kind, column));
    const row: Row = { id: newId(random), region_id: null, description: null, ...one };
    for (const table of ['service', 'region', 'project']) {
      const id = row[`${table}_id`];
      if (typeof id === 'string' && findRow(schema, table, id) === undefined)
        throw new Fault(
          400,
          `Expecting to find ${table}_id in ${item}. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.`,
        );
    }
    const at = (columns: readonly string[]): Row => Object.fromEntries(columns.map((name) => [name, row[name]]));
    if (kind === 'limits' && rowsOf(schema, 'registered_limit', at(place)).length === 0)
      throw new Fault(403, 'Unable to create a limit that has no corresponding registered limit.');
    if (rowsOf(schema, item, at(key)).length > 0)
      throw new Fault(409, `Conflict occurred attempting to store ${item} - Duplicate entry.`);
    return row;
  });
  for (const row of rows) tableOf(schema, item).set(String(row['id']), row);
  return json(201, { [kind]: rows });
}

function demandFree(schema: Schema, registered: Row): void {
  const at = Object.fromEntries(place.map((name) => [name, registered[name]]));
  if (rowsOf(schema, 'limit', at).length > 0)
    throw new Fault(
      403,
      `Unable to update or delete registered limit ${String(registered['id'])} because there are project limits associated with it.`,
    );
}

/** A foreign key holds a service that limits are registered of, and nobody expects that (keystone.catalog.core). @throws Fault 500 */
export function demandUnlimited(schema: Schema, service: string): void {
  if (rowsOf(schema, 'registered_limit', { service_id: service }).length > 0)
    throw new Fault(500, 'An unexpected error prevented the server from fulfilling your request.');
}
