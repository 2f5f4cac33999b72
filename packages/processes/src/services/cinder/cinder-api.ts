import type { HttpReply } from '@openstack-operator/sandbox';
import { json, locationOf, plain } from '../../http.ts';
import { type Api, apiHandler, type Call, type Route } from '../../model/api.ts';
import { commonWords, Fault, namedFault } from '../../model/fault.ts';
import { ownedRoute } from '../../model/owned.ts';
import { answerQuotas } from '../../model/quotas.ts';
import { asked, listed, setEnabled } from '../../model/service-rows.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { attachmentsRoute } from './cinder-attachments.ts';
import { backups } from './cinder-backups.ts';
import { acceptTransfer, snapshots, transfers } from './cinder-snapshots.ts';
import { cinderDatabase, quotas } from './cinder-store.ts';
import { qosSpecs, typesRoute, volumeTypes } from './cinder-types.ts';
import { volumes } from './cinder-volumes.ts';

/** `cinder.wsgi.api:application`: joins the others, parses the broker's URL, and knows no database before the first request. */
export async function serveCinder(context: ServiceContext): Promise<WsgiHandler> {
  await joinCoordination(context);
  const handler = apiHandler(context, api(context, new Messaging(context)));
  // Paths may have the project behind the version (`project_id_regex`).
  return (request) => {
    const { path } = locationOf(request);
    return handler({
      ...request,
      path: request.path.replace(path, path.replace(/^\/v3\/[0-9a-f-]{32,36}(?=\/)/, '/v3')),
    });
  };
}

function api(context: ServiceContext, messaging: Messaging): Api {
  const transfersRoute: Route = (call) =>
    call.part === 'accept' ? acceptTransfer(context, call) : ownedRoute(transfers(context), call);
  const v3 = { id: 'v3.0', status: 'CURRENT', version: '3.71', min_version: '3.0', links: [] };
  return {
    prefix: 'v3',
    open: {
      '/': json(300, { versions: [v3] }),
      '/v3': json(200, { versions: [v3] }),
      '/v3/': json(200, { versions: [v3] }),
      '/healthcheck': plain(200, 'OK'),
    },
    words: {
      body: namedFault,
      conflict: (_item, { name }) => `Volume Type ${String(name)} already exists.`,
    },
    database: cinderDatabase,
    collections: [volumeTypes, qosSpecs],
    routes: {
      types: typesRoute,
      'qos-specs': onlyAdmin('volume_extension:qos_specs_manage:get_all', () => undefined),
      'os-services': onlyAdmin('volume_extension:services:index', (call) => services(context, call)),
      'os-quota-sets': (call) => answerQuotas(quotas, context, call),
      volumes: (call) => volumes(context, messaging, call),
      snapshots: (call) => ownedRoute(snapshots(context, messaging), call),
      backups: (call) => ownedRoute(backups(context, messaging), call),
      attachments: (call) => attachmentsRoute(context, messaging, call),
      'volume-transfers': transfersRoute,
      'os-volume-transfer': transfersRoute,
    },
  };
}

function onlyAdmin(rule: string, route: Route): Route {
  return (call) => {
    if (!call.identity.roles.includes('admin')) throw new Fault(403, commonWords.forbidden(rule));
    return route(call);
  };
}

/** Lists processes, and keeps new volumes away from them: by one action without a reason, and one with (cinder.api.contrib.services). @throws Fault */
async function services(context: ServiceContext, { request, id = '', body, query, store }: Call): Promise<HttpReply> {
  if (request.method === 'GET')
    return store((schema) => json(200, { services: asked(listed(context, schema), query) }));
  if (!['enable', 'disable', 'disable-log-reason'].includes(id)) throw new Fault(404, 'Unknown action');
  if (id === 'disable-log-reason' && typeof body['disabled_reason'] !== 'string')
    throw new Fault(
      400,
      `Invalid input for field/attribute disabled_reason. Value: ${JSON.stringify(body['disabled_reason'] ?? null)}. 'disabled_reason' is a required property`,
    );
  const { disabled_reason: reason, ...named } = body;
  const changed = await store((schema) =>
    setEnabled(
      schema,
      { ...named, ...(id === 'disable-log-reason' ? { disabled_reason: reason } : {}) },
      id === 'enable',
    ),
  );
  if (changed === undefined)
    throw new Fault(404, `Service ${String(body['binary'])} could not be found on host ${String(body['host'])}.`);
  return json(200, changed);
}
