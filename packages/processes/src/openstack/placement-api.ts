import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { type Row, type Schema, tableOf } from '../infrastructure/mysql-protocol.ts';
import type { Identity } from '../oslo/auth-token.ts';
import { loadConfig } from '../oslo/config.ts';
import { Database } from '../oslo/database.ts';
import { demandTables } from '../oslo/migrations.ts';
import { pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { json, locationOf, plain } from './http.ts';
import { missing } from './manage-commands.ts';
import type { WsgiModule } from './uwsgi.ts';
import { apiContext, apiHandler, forbiddenReply, notFoundReply, versions } from './wsgi-service.ts';

/** `placement.wsgi.api:application`: loads traits and resource classes into its database when it starts. */
export const placementApi: WsgiModule = async (process) => {
  const directory = process.env['OS_PLACEMENT_CONFIG_DIR'] ?? '/etc/placement';
  const file = `${directory}/placement.conf`;
  const config = loadConfig(process, {
    project: 'placement',
    programs: ['placement'],
    ...(process.files.exists(file) && { files: [file] }),
  });
  const context = apiContext(process, config, 'placement-api');
  const strategy = config.text('api', 'auth_strategy');
  await pause(process, startTimes.placementApi);
  if (config.text('placement_database', 'connection') === undefined) throw missing('connection', 'placement_database');
  const database = new Database({ process, config, log: context.log, group: 'placement_database' });
  await database.transaction('INSERT', (schema) =>
    demandTables(schema, ['traits', 'resource_classes', 'resource_providers', 'inventories']),
  );
  return apiHandler(context, {
    open: (_request, path) => {
      if (path === '/' || path === '') return versions(200, ['v1.0']);
      return strategy === 'noauth2' ? plain(500, 'noauth2 is for tests') : undefined;
    },
    routes: (request, path, identity) => {
      if (!identity.roles.some((role) => role === 'admin' || role === 'service'))
        return forbiddenReply('placement:resource_providers:list');
      return database.transaction('UPDATE', (schema) => route(schema, request, path, identity));
    },
  });
};

function route(schema: Schema, request: HttpMessage, path: string, _identity: Identity): HttpReply {
  const providers = tableOf(schema, 'resource_providers');
  const [, kind, id, part] = path.split('/');
  if (kind === 'resource_providers' && id === undefined) {
    if (request.method === 'POST') {
      const { uuid, name } = JSON.parse(request.body) as { uuid: string; name: string };
      if ([...providers.values()].some((row) => row['name'] === name || row['uuid'] === uuid)) {
        return json(409, {
          errors: [
            { status: 409, title: 'Conflict', detail: `Conflicting resource provider name: ${name} already exists.` },
          ],
        });
      }
      const row: Row = { uuid, name, generation: 0 };
      providers.set(uuid, row);
      return json(200, row);
    }
    const { query } = locationOf(request);
    const rows = [...providers.values()].filter((row) =>
      ['uuid', 'name'].every((column) => !query.has(column) || query.get(column) === row[column]),
    );
    return json(200, { resource_providers: rows });
  }
  if (kind === 'resource_providers' && id !== undefined) {
    const row = providers.get(id);
    if (row === undefined)
      return json(404, {
        errors: [{ status: 404, title: 'Not Found', detail: `No resource provider with uuid ${id} found` }],
      });
    const inventories = tableOf(schema, 'inventories');
    if (part === undefined) {
      if (request.method === 'DELETE') {
        providers.delete(id);
        inventories.delete(id);
        return { status: 204 };
      }
      return json(200, row);
    }
    if (part === 'aggregates') {
      const body = JSON.parse(request.body || '{}') as { aggregates?: string[] };
      if (request.method === 'PUT') row['aggregates'] = body.aggregates ?? [];
      return json(200, { aggregates: row['aggregates'] ?? [], resource_provider_generation: row['generation'] });
    }
    if (part !== 'inventories')
      return part === 'traits'
        ? json(200, { traits: [], resource_provider_generation: row['generation'] })
        : notFoundReply();
    if (request.method === 'PUT') {
      const body = JSON.parse(request.body) as { inventories: Row; resource_provider_generation: number };
      if (body.resource_provider_generation !== row['generation'])
        return json(409, {
          errors: [{ status: 409, title: 'Conflict', detail: 'resource provider generation conflict' }],
        });
      inventories.set(id, body.inventories);
      row['generation'] = body.resource_provider_generation + 1;
    }
    return json(200, { inventories: inventories.get(id) ?? {}, resource_provider_generation: row['generation'] });
  }
  if (kind === 'allocation_candidates') {
    const summaries = Object.fromEntries([...tableOf(schema, 'inventories').keys()].map((provider) => [provider, {}]));
    return json(200, {
      allocation_requests: Object.keys(summaries).map((provider) => ({ allocations: { [provider]: {} } })),
      provider_summaries: summaries,
    });
  }
  if (kind === 'allocations' && id !== undefined) {
    const allocations = tableOf(schema, 'allocations');
    if (request.method === 'PUT') {
      allocations.set(id, JSON.parse(request.body) as Row);
      return { status: 204 };
    }
    return json(200, allocations.get(id) ?? { allocations: {} });
  }
  if (kind === 'traits' || kind === 'resource_classes' || kind === 'usages') return json(200, { [kind]: [] });
  return notFoundReply();
}
