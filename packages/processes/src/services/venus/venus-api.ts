import { uuid } from '@openstack-operator/kube';
import { type HttpReply, SystemError } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { type Api, apiHandler, type Call } from '../../model/api.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

/** Where what administrators set is kept. */
export const configTable = 't_mo_custom_config';

/** What alembic makes of Venus's database. */
export const venusDatabase: ProjectDatabase = {
  heads: ['a6cf98f55b4e'],
  tables: `t_mo_anomaly_records t_mo_anomaly_rules ${configTable} t_mo_regitster_task`,
};

const shownConfig = ['log_save_days', 'anomaly_record_save_days', 'log_max_gb'];

/** Version 1, which anybody with a token may use; nothing is asked before the first request. */
export function serveVersion1(context: ServiceContext, open: Api['open'], asksForTokens: boolean): WsgiHandler {
  return apiHandler(context, {
    prefix: 'v1',
    open,
    unauthenticated: () => !asksForTokens,
    database: venusDatabase,
    routes: { custom_config: configOf, search: () => search(context), anomaly: (call) => anomaly(context, call) },
  });
}

const done = () => json(200, { code: 0, msg: 'OK' });

const refused = (what: string) => json(200, { code: -1, msg: what });

async function configOf({ request, body, store }: Call): Promise<HttpReply | undefined> {
  if (request.method === 'GET') {
    const rows = await store((schema) => rowsOf(schema, configTable));
    const valueOf = (id: string) => rows.find((row) => row['id'] === id)?.['value'] ?? null;
    return json(200, Object.fromEntries(shownConfig.map((id) => [id, valueOf(id)])));
  }
  if (request.method !== 'POST') return undefined;
  const { id, value } = body as { readonly id?: string; readonly value?: string };
  if (id === undefined || value === undefined) return refused('invalid param: id or value is missed');
  await store((schema) => tableOf(schema, configTable).set(id, { id, value }));
  return done();
}

/** What it is asked for is looked for in indices of days; where nobody answers there are none (venus.modules.search). */
async function search({ config, log, process }: ServiceContext): Promise<HttpReply> {
  const { hostname, port } = new URL(config.text('elasticsearch', 'url'));
  try {
    (await process.network.connect(hostname, Number(port), 'http')).close();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    log.error('venus.common.utils', `request es, catch exception:${hostname}:${port}: ${error.reason}`);
    log.error('venus.common.utils', 'failed to get all es indexes');
    return json(200, { code: 0, msg: 'no data, no index' });
  }
  return json(501, { message: 'no model knows an Elasticsearch' });
}

const demanded = ['title', 'desc', 'keyword', 'log_type', 'module'];

/** `/anomaly/rule`, `/anomaly/rule/list`, `/anomaly/rule/<id>`, `/anomaly/record/list`. */
async function anomaly({ process }: ServiceContext, { request, id, part, body, store }: Call) {
  const { method } = request;
  const table = `t_mo_anomaly_${id}s`;
  if (method === 'GET' && part === 'list' && (id === 'rule' || id === 'record'))
    return json(200, { code: 0, msg: 'OK', [`${id}s`]: await store((schema) => rowsOf(schema, table)) });
  if (id !== 'rule') return undefined;
  if (method === 'POST' && part === undefined) {
    const missing = demanded.find((name) => body[name] === undefined);
    if (missing !== undefined) return refused(`invalid param: ${missing} is missed`);
    const row: Row = { ...body, id: uuid(process.random).replaceAll('-', ''), flag: 1 };
    await store((schema) => tableOf(schema, table).set(row['id'] as string, row));
    return done();
  }
  if (part === undefined) return undefined;
  if (method === 'DELETE') {
    await store((schema) => tableOf(schema, table).delete(part));
    return done();
  }
  if (method !== 'GET') return undefined;
  const row = await store((schema) => tableOf(schema, table).get(part));
  return row === undefined ? refused('not found') : json(200, { code: 0, msg: 'OK', rule: row });
}
