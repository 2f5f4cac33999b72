import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json, locationOf, plain } from '../../http.ts';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call, type Route, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { gnocchiDatabase, type Measure, storeOf } from './gnocchi-store.ts';

/** Measures of metrics, by resource and by name of the metric. */
type Batch = Readonly<Record<string, Readonly<Record<string, { readonly measures: readonly Measure[] }>>>>;

/** What is asked for is connected to with the first request, and again with the next one while that fails. */
export function serveGnocchi(context: ServiceContext): WsgiHandler {
  const connected =
    (route: Route): Route =>
    async (call) => {
      await joinCoordination(context, context.config.optional('DEFAULT', 'coordination_url') ?? '');
      storeOf(context);
      return route(call);
    };
  return apiHandler(context, {
    prefix: 'v1',
    open: { '/': versions(200, 'v1.0'), '/healthcheck': plain(200, 'OK') },
    unauthenticated: (config) => config.text('api', 'auth_mode') !== 'keystone',
    words: {
      body: ({ status, title, message }) => ({ code: status, title, description: message }),
      notFound: (item, id) => `${item} ${id} does not exist`,
    },
    database: gnocchiDatabase,
    routes: {
      archive_policy: connected(named('archive_policy')),
      resource_type: connected(named('resource_type')),
      resource: connected((call) => resources(context, call)),
      batch: connected((call) => batch(context, call)),
    },
  });
}

/** What only an administrator makes, and is known by its name. */
function named(table: 'archive_policy' | 'resource_type'): Route {
  return ({ request, identity, id, body, store }) =>
    store((schema): HttpReply => {
      const rows = tableOf(schema, table);
      if (request.method === 'GET') {
        const found = id === undefined ? [...rows.values()] : rows.get(id);
        if (found === undefined) throw new Fault(404, `${table} ${id} does not exist`);
        return json(200, found);
      }
      if (!identity.roles.includes('admin')) throw new Fault(403, `create ${table.replace('_', ' ')} is not allowed`);
      const name = String(body['name']);
      if (rows.has(name)) throw new Fault(409, `${table} ${name} already exists`);
      rows.set(name, body);
      return json(201, body);
    });
}

/** Resources of a type, and measures of their metrics. */
async function resources(context: ServiceContext, { request, id: type = '', body, store }: Call): Promise<HttpReply> {
  const [, , , , id, below, metric] = locationOf(request).path.split('/');
  return store((schema) => {
    if (type !== 'generic' && !tableOf(schema, 'resource_type').has(type))
      throw new Fault(404, `Resource type ${type} does not exist`);
    const table = tableOf(schema, 'resource');
    if (request.method === 'POST') {
      table.set(String(body['id']), { ...body, type });
      return json(201, body);
    }
    if (id === undefined) return json(200, rowsOf(schema, 'resource', type === 'generic' ? {} : { type }));
    const resource = table.get(id);
    if (resource === undefined) throw new Fault(404, `Resource ${id} does not exist`);
    if (request.method === 'PATCH') Object.assign(resource, body);
    if (below === undefined) return json(200, { ...resource, metrics: metricsOf(schema, id) });
    const key = metricsOf(schema, id)[metric ?? ''];
    if (key === undefined) throw new Fault(404, `Metric ${metric} does not exist`);
    const measures = storeOf(context).aggregated.get(key) ?? [];
    return json(
      200,
      measures.map(({ timestamp, value }) => [timestamp, 300, value]),
    );
  });
}

const metricsOf = (schema: Schema, resource: string): Record<string, string> =>
  Object.fromEntries(rowsOf(schema, 'metric', { resource }).map(({ name, id }) => [String(name), String(id)]));

/** Measures of many resources: all of them have to be there; their metrics are made. */
async function batch(context: ServiceContext, { body, store }: Call): Promise<HttpReply> {
  const { random } = context.process;
  return store((schema) => {
    const unknown = Object.keys(body).filter((id) => !tableOf(schema, 'resource').has(id));
    if (unknown.length > 0) {
      const detail = unknown.map((id) => ({ resource_id: id, original_resource_id: id }));
      return json(400, { code: 400, title: 'Bad Request', description: { cause: 'Unknown resources', detail } });
    }
    for (const [resource, metrics] of Object.entries(body as unknown as Batch))
      for (const [name, { measures }] of Object.entries(metrics)) {
        const id = metricsOf(schema, resource)[name] ?? uuid(random);
        tableOf(schema, 'metric').set(id, { id, name, resource } satisfies Row);
        const { incoming } = storeOf(context);
        incoming.set(id, [...(incoming.get(id) ?? []), ...measures]);
      }
    return { status: 202 };
  });
}
