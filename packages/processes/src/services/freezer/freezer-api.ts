import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { type Api, apiHandler, type Call, type Route, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Database } from '../../oslo/database.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

/** What alembic makes of Freezer's database. */
export const freezerDatabase: ProjectDatabase = {
  heads: ['23c8ad2655a6'],
  tables: 'action_reports actions backups clients jobs sessions',
};

/** The database of the storage's driver (freezer_api.db.manager). @throws PythonError */
export function databaseOf(context: ServiceContext): Database {
  const driver = context.config.text('storage', 'driver');
  if (driver === 'elasticsearch') throw new PythonError('NotImplementedError', `no model knows the driver ${driver}`);
  if (driver === 'sqlalchemy') return new Database(context, freezerDatabase);
  context.log.error('freezer_api.db.manager', 'Error loading class by alias');
  throw new PythonError('ImportError', 'Class not found.');
}

/** What a client can do unless it says otherwise, and what an action of a job asks of it (freezer_api.common.check). */
const supported: Readonly<Record<string, readonly string[]>> = {
  supported_actions: ['backup', 'restore', 'info', 'admin', 'exec'],
  supported_modes: ['fs', 'mongo', 'mysql', 'sqlserver', 'cinder', 'glance', 'cindernative', 'nova'],
  supported_storages: ['local', 'swift', 'ssh', 's3', 'ftp', 'ftps'],
  supported_engines: ['tar', 'rsync', 'rsyncv2', 'nova', 'osbrick', 'glance'],
};

/** By status (freezer_api.common.exceptions). */
const titles: Readonly<Record<number, string>> = {
  400: 'Bad request format',
  403: 'Access Forbidden',
  409: 'Document already existing',
  500: 'Internal Storage Error',
};

/** A transaction whose failure is one of the storage. @throws Fault */
type Stored = <T>(run: (schema: Schema) => T) => Promise<T>;

/** Somebody's request for a collection: what is there belongs to one user in one project. */
interface Asked extends Call {
  readonly whose: Row;
  readonly stored: Stored;
}

/** Opens the database before it serves, and reads no table of it then. @throws PythonError */
export async function serveVersion2(context: ServiceContext, open: Api['open']): Promise<WsgiHandler> {
  await databaseOf(context).transaction('SELECT', () => undefined);
  const route =
    (answer: (asked: Asked) => Promise<HttpReply | undefined>): Route =>
    (call) => {
      const project = call.query.get('of_project');
      // Freezer takes the project of the path, whatever the token is for.
      if (project !== call.identity.projectId)
        throw new PythonError('NotImplementedError', 'no model knows a path with another project than the token');
      const stored: Stored = async (run) => {
        try {
          return await call.store(run);
        } catch (error) {
          if (!(error instanceof PythonError)) throw error;
          context.log.error('root', `Mysql operation failed ${error.lastLine}`);
          throw new Fault(500, `Mysql operation failed ${error.message}`);
        }
      };
      return answer({ ...call, stored, whose: { project_id: project, user_id: call.identity.userId } });
    };
  const handler = apiHandler(context, {
    prefix: 'v2',
    open: { '/': versions(300, 'v2'), ...open },
    words: {
      body: ({ status, title, message, type }) =>
        type === 'HTTPNotFound'
          ? { title: '404 Not Found' }
          : { title: titles[status] ?? `${status} ${title}`, description: message },
      forbidden: () => 'You are not allowed to access this resource',
    },
    database: freezerDatabase,
    routes: {
      clients: route(async (asked) => (await found('clients', 'client_id', asked)) ?? addClient(context, asked)),
      jobs: route(async (asked) => (await found('jobs', 'job_id', asked)) ?? changeJobs(context, asked)),
      actions: route((asked) => found('actions', 'action_id', asked)),
      backups: route((asked) => found('backups', 'backup_id', asked)),
      sessions: route((asked) => found('sessions', 'session_id', asked)),
    },
  });
  // The project stands behind the version.
  return (request) => {
    const [path = '', query = ''] = request.path.split(/\?(.*)/su);
    const [, project, rest] = /^\/v2\/([^/]+)(\/.*)/u.exec(path) ?? [];
    return handler(project === undefined ? request : { ...request, path: `/v2${rest}?${query}&of_project=${project}` });
  };
}

const keyOf = ({ project_id, user_id }: Row, id: unknown): string => [project_id, user_id, id].join(' ');

/** A list, of ten unless more is asked for, an item, or its deletion, which nobody need have; undefined: another request. */
async function found(
  table: string,
  id: string,
  { request, id: wanted, query, stored, whose }: Asked,
): Promise<HttpReply | undefined> {
  if (request.method === 'DELETE' && wanted !== undefined) {
    await stored((schema) => tableOf(schema, table).delete(keyOf(whose, wanted)));
    return { status: 204 };
  }
  if (request.method !== 'GET') return undefined;
  const rows = await stored((schema) => rowsOf(schema, table, whose).map((row) => ({ ...row })));
  if (wanted === undefined) return json(200, { [table]: rows.slice(0, Number(query.get('limit') ?? 10)) });
  const row = rows.find((one) => (isRow(one['client']) ? one['client'] : one)[id] === wanted);
  return row === undefined ? { status: 404 } : json(200, row);
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null;

async function addClient({ process }: ServiceContext, { request, id, body, stored, whose }: Asked) {
  if (request.method !== 'POST' || id !== undefined) return undefined;
  if (Object.keys(body).length === 0) throw new Fault(400, 'Missing request body');
  const { client_id: name } = body as { client_id?: string };
  if (name === undefined) throw new Fault(400, "'client_id' is a required property");
  await stored((schema) => {
    const rows = tableOf(schema, 'clients');
    if (rows.has(keyOf(whose, name))) throw new Fault(409, `Client already registered with ID ${name}`);
    rows.set(keyOf(whose, name), { ...whose, client: { ...supported, uuid: uuid(process.random), ...body } });
  });
  return json(201, { client_id: name });
}

interface Job extends Row {
  readonly client_id?: string;
  readonly job_actions?: readonly { readonly freezer_action?: Readonly<Record<string, string>> }[];
  readonly job_schedule?: Row;
}

async function changeJobs(context: ServiceContext, { request, id, part, body, stored, whose }: Asked) {
  if (request.method !== 'POST') return undefined;
  const { random } = context.process;
  if (id !== undefined)
    return part === 'event'
      ? json(202, { result: await stored((schema) => eventOf(tableOf(schema, 'jobs').get(keyOf(whose, id)), body)) })
      : undefined;
  const { job_actions: actions, job_schedule = {}, ...rest } = body as Job;
  const job_id = uuid(random).replaceAll('-', '');
  const reason = await stored((schema) => {
    // Actions are there before anybody looks at the job.
    const rows = (actions ?? []).map((action) => ({
      ...action,
      ...whose,
      action_id: uuid(random).replaceAll('-', ''),
    }));
    for (const row of rows) tableOf(schema, 'actions').set(keyOf(whose, row.action_id), row);
    for (const name of ['job_actions', 'client_id'])
      if (body[name] === undefined) throw new Fault(400, `'${name}' is a required property`);
    const client = tableOf(schema, 'clients').get(keyOf(whose, rest.client_id))?.['client'];
    const problem = isRow(client) ? unsupported(client, actions) : `Client not found with ID ${rest.client_id}`;
    if (problem === undefined)
      tableOf(schema, 'jobs').set(keyOf(whose, job_id), { job_id, ...whose, ...rest, job_schedule, job_actions: rows });
    return problem;
  });
  if (reason === undefined) return json(201, { job_id });
  // Meant to be 422; no handler of the API knows the exception, and Falcon's own fails over it: the connection is dropped.
  context.log.error('root', reason);
  context.process.stderr("AttributeError: 'UnprocessableEntity' object has no attribute 'status'\n");
  return { status: 500 };
}

/** What an action of a job asks that its client cannot do. */
function unsupported(client: Row, actions: Job['job_actions']): string | undefined {
  for (const { freezer_action: action = {} } of actions ?? [])
    for (const capability of ['action', 'mode', 'storage', 'engine']) {
      const option = action[capability];
      const known = client[`supported_${capability}s`] as readonly string[];
      if (option !== undefined && !known.includes(option)) return `Client does not support ${capability}: ${option}`;
    }
  return undefined;
}

/** A wish that the scheduler finds in the job when it asks for it the next time. @throws Fault */
function eventOf(job: Row | undefined, body: Row): string {
  const [event = ''] = Object.keys(body);
  if (job === undefined || !['start', 'stop', 'abort'].includes(event)) throw new Fault(400, 'Bad Action Method');
  const schedule = job['job_schedule'] as Row;
  if (schedule['event'] === event) return `${event} already requested`;
  job['job_schedule'] = { ...schedule, event };
  return 'success';
}
