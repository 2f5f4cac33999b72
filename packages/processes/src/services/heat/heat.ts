import type { HttpReply } from '@openstack-operator/sandbox';
import { json, locationOf, plain } from '../../http.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { revisions, says, sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { statedPolicy } from '../../oslo/policy-file.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { heatDatabase, heatEngine } from './heat-engine.ts';

const { start: takes, dbSync } = startTimes.heatManage;
const paste = '/etc/heat/api-paste.ini';

/** Heat 24: stacks are names whose users have a project; what is in their templates no model knows. */
export const heat = model({
  project: 'heat',
  images: { 'heat-api': { root: true }, 'heat-api-cfn': { root: true }, 'heat-engine': {} },
  files: { [paste]: '[composite:heat-api]\npaste.composite_factory = heat.api:root_app_factory\n' },
  programs: {
    'heat-manage': {
      takes,
      files: ['heat', 'heat-engine'],
      commands: {
        db_sync: sync(heatDatabase, dbSync),
        db_version: revisions(heatDatabase),
        purge_deleted: {
          values: 'granularity g project-id p batch_size b',
          run: async (context) => {
            await new Database(context, heatDatabase).transaction('DELETE', () => undefined);
          },
        },
        'service clean': says('Dead engines are removed.'),
      },
    },
    'heat-status': {
      takes,
      files: ['heat'],
      commands: { 'upgrade check': upgradeCheck({ Placeholder: () => Promise.resolve(undefined) }) },
    },
    'heat-engine': { ...heatEngine, files: ['heat', 'heat-engine'] },
  },
  applications: {
    'heat.wsgi.api:application': { takes: startTimes.heatApi, serves: serveApi },
    'heat.wsgi.cfn:application': { takes: startTimes.heatApi, serves: serveCfn },
  },
});

const open = { '/': versions(300, 'v1.0'), '/healthcheck': plain(200, 'OK') };

/** What both APIs do first: they parse the broker's URL and load their pipeline. @throws PythonError */
function started(context: ServiceContext): Messaging {
  const messaging = new Messaging(context);
  if (context.process.files.exists(paste)) return messaging;
  throw new PythonError('RuntimeError', 'Unable to locate config file [api-paste.ini]');
}

function serveApi(context: ServiceContext): WsgiHandler {
  const messaging = started(context);
  const handler = apiHandler(context, {
    prefix: 'v1',
    open,
    routes: { stacks: (call) => stacks(context, messaging, call) },
  });
  // The project stands behind the version.
  return (request) => handler({ ...request, path: request.path.replace(/^\/v1\/[0-9a-f-]{32,36}(?=\/)/, '/v1') });
}

/** It has no database: an engine answers, or nobody does. @throws Fault, PythonError */
async function stacks(
  context: ServiceContext,
  messaging: Messaging,
  { request, identity, id: name, part: id, query, body }: Call,
): Promise<HttpReply> {
  const ask = (method: string, parameters: Row = {}) =>
    messaging.call('engine', method, { project: identity.projectId, ...parameters }).catch((error: unknown) => {
      if (!(error instanceof PythonError) || !error.type.includes('StackExists')) throw error;
      throw new Fault(409, error.message, 'StackExists');
    });
  if (request.method === 'POST' && name === undefined) {
    const given = body['stack_name'];
    if (typeof given !== 'string' || body['template'] === undefined)
      throw new Fault(400, 'Bad request: No stack name specified', 'HTTPBadRequest');
    return json(201, { stack: await ask('create_stack', { name: given }) });
  }
  const isGlobal = name === undefined && query.get('global_tenant') === 'true';
  // Nobody may list those of all projects, unless the policy file lets him.
  if (isGlobal && !maySeeAll(context, { identity }))
    throw new Fault(403, 'You are not authorized to complete this action.', 'Forbidden');
  const rows = ((await ask('list_stacks', isGlobal ? { project: undefined } : {})) as Row[]).map(
    ({ mark: _mark, ...row }) => row,
  );
  if (name === undefined) return json(200, { stacks: rows });
  const stack = rows.find((row) => row['id'] === id && row['stack_name'] === name);
  if (stack === undefined) throw new Fault(404, `The Stack (${name}) could not be found.`, 'EntityNotFound');
  if (request.method === 'GET') return json(200, { stack });
  if (request.method !== 'DELETE') throw new Fault(405, 'The method specified is not allowed for this resource.');
  await ask('delete_stack', { id });
  return { status: 204 };
}

function maySeeAll(context: ServiceContext, { identity }: Pick<Call, 'identity'>): boolean {
  const request = { method: 'GET', path: `/v1/${String(identity.projectId)}/stacks` };
  const stated = statedPolicy(context, request, identity);
  return stated?.rule === 'stacks:global_index' && stated.passes;
}

/** Signals are signed by users of stacks, whom no model makes: whatever is not, is refused (heat.api.aws.ec2token). */
function serveCfn(context: ServiceContext): WsgiHandler {
  started(context);
  const refused = { ErrorResponse: { Error: { Type: 'Sender', Code: 'IncompleteSignature' } } };
  return (request) => Promise.resolve(open[locationOf(request).path as '/'] ?? json(400, refused));
}
