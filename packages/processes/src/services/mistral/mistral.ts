import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json, plain } from '../../http.ts';
import { rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { type Command, revisions, sync } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Database } from '../../oslo/database.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { demandTables } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { mistralDatabase, mistralServer, open } from './mistral-servers.ts';

const { start: takes, dbSync } = startTimes.mistralManage;

/** What comes with Mistral beside the actions of its own code (mistral.services.action_manager.sync_db). */
const populate: Command = {
  run: (context) =>
    new Database(context, mistralDatabase).transaction('INSERT', (schema) => {
      demandTables(schema, 'action_definitions_v2');
      tableOf(schema, 'action_definitions_v2').set('std.wait_ssh', { name: 'std.wait_ssh', scope: 'public' });
    }),
};

/** Mistral 20: a workflow is a name and one action. */
export const mistral = model({
  project: 'mistral',
  images: { 'mistral-api': { root: true }, 'mistral-engine': {}, 'mistral-executor': {}, 'mistral-event-engine': {} },
  programs: {
    'mistral-db-manage': {
      takes,
      files: ['mistral'],
      commands: { 'upgrade head': sync(mistralDatabase, dbSync), current: revisions(mistralDatabase), populate },
    },
    'mistral-server': { ...mistralServer, files: ['mistral'] },
  },
  applications: { 'mistral.api.app:init_wsgi()': { takes: startTimes.mistralApi, files: ['mistral.conf'], serves } },
});

/** The database, then the broker's URL, are looked at when it starts (mistral.api.app.setup_app). @throws PythonError */
async function serves(context: ServiceContext): Promise<WsgiHandler> {
  await open(context);
  const messaging = new Messaging(context);
  const checked = context.config.boolean('healthcheck', 'enabled');
  return apiHandler(context, {
    prefix: 'v2',
    open: { '/': versions(200, 'v2.0'), ...(checked && { '/healthcheck': plain(200, 'OK') }) },
    unauthenticated: (config) => !config.boolean('pecan', 'auth_enable'),
    words: { body: ({ message }) => ({ debuginfo: null, faultcode: 'Client', faultstring: message }) },
    database: mistralDatabase,
    collections: [{ path: 'executions', table: 'workflow_executions_v2' }],
    routes: {
      workflows: addWorkflow,
      executions: (call) => startWorkflow(context, messaging, call),
      cron_triggers: (call) => addTrigger(context, call),
    },
  });
}

/** Definitions come as YAML, which JSON is, too; answers are JSON. */
async function addWorkflow({ request, identity, store }: Call): Promise<HttpReply> {
  if (request.method === 'GET')
    return json(200, { workflows: await store((schema) => rowsOf(schema, 'workflow_definitions_v2')) });
  const definition = request.body ?? '';
  const name = /(?:^|[{,])"?(?!version)([\w-]+)"?:/m.exec(definition)?.[1];
  if (name === undefined) throw new Fault(400, 'Invalid DSL: Workflow list is empty');
  const row = { id: `${identity.projectId}-${name}`, name, definition, project_id: identity.projectId };
  await store((schema) => {
    const rows = tableOf(schema, 'workflow_definitions_v2');
    if (rows.has(row.id)) throw new Fault(409, `Duplicate entry for WorkflowDefinition: ['name']`);
    rows.set(row.id, row);
  });
  return json(201, { workflows: [row] });
}

/** An engine starts it, and answers before it has ended. */
async function startWorkflow(
  { process, config }: ServiceContext,
  messaging: Messaging,
  call: Call,
): Promise<HttpReply | undefined> {
  const { request, identity, body } = call;
  if (request.method !== 'POST') return undefined;
  const workflow = body['workflow_id'] ?? body['workflow_name'];
  if (workflow === undefined) throw new Fault(400, 'Workflow ID or workflow name must be provided.');
  const asked = { id: uuid(process.random), project: identity.projectId, workflow };
  const made = await messaging.call(config.text('engine', 'topic'), 'start_workflow', asked).catch((error: unknown) => {
    if (!(error instanceof PythonError)) throw error;
    if (error.type.includes('EntityNotFound')) throw new Fault(404, error.message);
    throw error.type.endsWith('MessagingTimeout')
      ? new Fault(500, 'This rpc call "start_workflow" took longer than configured 60 seconds.')
      : error;
  });
  return json(201, made);
}

/** Whoever makes one trusts Mistral: Keystone is asked as him, then as the service (mistral.services.security.create_trust). */
async function addTrigger(
  { process, config }: ServiceContext,
  { request, identity, body, store }: Call,
): Promise<HttpReply> {
  if (request.method !== 'POST')
    return json(200, { cron_triggers: await store((schema) => rowsOf(schema, 'cron_triggers_v2')) });
  const session = new KeystoneSession(process, config, 'keystone_authtoken');
  const uri = config.text('keystone_authtoken', 'www_authenticate_uri');
  const known = await session.send('GET', `${uri}/auth/tokens`, {
    'x-auth-token': identity.token,
    'x-subject-token': identity.token,
  });
  if (known.status !== 200) throw httpError(known, uuid(process.random));
  await session.token();
  const row = { ...body, id: uuid(process.random), project_id: identity.projectId };
  await store((schema) => tableOf(schema, 'cron_triggers_v2').set(row.id, row));
  return json(201, row);
}
