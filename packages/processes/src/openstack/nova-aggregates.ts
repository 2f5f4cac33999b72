import { uuid } from '@openstack-operator/kube';
import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { type Row, type Schema, tableOf } from '../infrastructure/mysql-protocol.ts';
import { PythonError } from '../oslo/python-error.ts';
import { json } from './http.ts';
import type { NovaContext } from './nova-service.ts';
import { PlacementClient } from './placement-client.ts';
import { notFoundReply } from './wsgi-service.ts';

/** Runs something in the API's database. */
export type InApiDatabase = <T>(run: (schema: Schema) => T) => Promise<T>;

/** `os-aggregates`: list, create, add a host, which Placement is told of with Nova's own user. */
export async function aggregates(
  context: NovaContext,
  request: HttpMessage,
  id: string | undefined,
  database: InApiDatabase,
): Promise<HttpReply> {
  const rows = (schema: Schema) => tableOf(schema, 'aggregates');
  if (request.method === 'GET') return database((schema) => json(200, { aggregates: [...rows(schema).values()] }));
  const body = JSON.parse(request.body || '{}') as { aggregate?: Row; add_host?: { host: string } };
  if (id === undefined) {
    return database((schema) => {
      const row: Row = {
        hosts: [],
        ...body.aggregate,
        id: rows(schema).size + 1,
        uuid: uuid(context.process.random),
      };
      rows(schema).set(String(row['id']), row);
      return json(200, { aggregate: row });
    });
  }
  const host = body.add_host?.host ?? '';
  const found = await database((schema) => {
    const row = rows(schema).get(id);
    if (row === undefined || !tableOf(schema, 'host_mappings').has(host)) return undefined;
    row['hosts'] = [...(row['hosts'] as string[]), host];
    return { ...row };
  });
  if (found === undefined) return notFoundReply();
  try {
    await new PlacementClient(context).addToAggregate(host, String(found['uuid']));
  } catch (error) {
    if (!(error instanceof PythonError) || !error.type.startsWith('nova.exception.ResourceProvider')) throw error;
    context.log.warning(
      'nova.compute.api',
      `Failed to associate ${host} with a placement aggregate: ${error.message}. This may be corrected after running nova-manage placement sync_aggregates.`,
    );
  }
  return json(200, { aggregate: found });
}
