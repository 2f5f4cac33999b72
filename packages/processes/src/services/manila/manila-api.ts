import type { HttpReply } from '@openstack-operator/sandbox';
import { json, locationOf, plain } from '../../http.ts';
import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import { type Api, apiHandler, type Call } from '../../model/api.ts';
import { commonWords, Fault, namedFault } from '../../model/fault.ts';
import { ownedRoute } from '../../model/owned.ts';
import { answerQuotas } from '../../model/quotas.ts';
import { asked, listed, setEnabled } from '../../model/service-rows.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { rulesRoute } from './manila-rules.ts';
import { protocolsOf, shares } from './manila-shares.ts';
import { snapshots } from './manila-snapshots.ts';
import { manilaDatabase, quotas } from './manila-store.ts';
import { shareTypes, typesRoute } from './manila-types.ts';
import { demandVersion, microversion } from './manila-versions.ts';

/** Protocols that there are (manila.common.constants). */
const supported = ['NFS', 'CIFS', 'GLUSTERFS', 'HDFS', 'CEPHFS', 'MAPRFS'];

/** `manila.wsgi.wsgi:initialize_application()`: knows its protocols, parses the broker's URL and joins the others. */
export async function serveManila(context: ServiceContext): Promise<WsgiHandler> {
  const unknown = protocolsOf(context).find((name) => !supported.includes(name));
  if (unknown !== undefined)
    throw new PythonError(
      'manila.exception.ManilaException',
      `Unsupported share protocol '${unknown}' is set as enabled. Available values are ${supported.join(', ')}. Please specify one or more protocols using configuration option 'enabled_share_protocols'.`,
    );
  const handler = apiHandler(context, api(context, new Messaging(context)));
  await joinCoordination(context);
  // Paths may have the project behind the version (`project_id_regex`).
  return (request) => {
    const { path } = locationOf(request);
    const short = path.replace(/^\/v2\/[0-9a-f-]{32,36}(?=\/)/, '/v2');
    return handler({ ...request, path: request.path.replace(path, short) });
  };
}

function api(context: ServiceContext, messaging: Messaging): Api {
  const v2 = { id: 'v2.0', status: 'CURRENT', version: '2.89', min_version: '2.0', links: [] };
  return {
    prefix: 'v2',
    open: {
      '/': json(300, { versions: [v2] }),
      '/v2': json(200, { versions: [v2] }),
      '/v2/': json(200, { versions: [v2] }),
      '/healthcheck': plain(200, 'OK'),
    },
    words: { body: namedFault, conflict: (_item, { name }) => `Share Type ${String(name)} already exists.` },
    database: manilaDatabase,
    collections: [shareTypes],
    routes: {
      types: typesRoute,
      services: (call) => services(context, messaging, call),
      // A share has one instance here, of its name.
      share_instances: ({ identity, store }) => {
        if (!identity.roles.includes('admin')) throw new Fault(403, commonWords.forbidden('share_instance:index'));
        return store((schema) =>
          json(200, {
            share_instances: [...tableOf(schema, 'shares').values()].map(({ id, status, host = null }) => ({
              id,
              share_id: id,
              status,
              host,
            })),
          }),
        );
      },
      // No driver here makes one.
      'share-servers': () => json(200, { share_servers: [] }),
      shares: (call) => ownedRoute(shares(context, messaging), call),
      snapshots: (call) => ownedRoute(snapshots(context, messaging), call),
      'share-access-rules': rulesRoute,
      'quota-sets': (call) => {
        demandVersion(call, 7);
        return answerQuotas(quotas, context, call);
      },
    },
  };
}

/** Lists processes, keeps new shares away from them, and lets them look after the shares that they have (manila.api.v2.services). @throws Fault */
async function services(context: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply> {
  const { request, identity, id = '', body, query, store } = call;
  if (!identity.roles.includes('admin')) throw new Fault(403, commonWords.forbidden('service:index'));
  if (request.method === 'GET')
    return store((schema) => json(200, { services: asked(listed(context, schema), query) }));
  if (id === 'ensure_shares' && request.method === 'POST') {
    demandVersion(call, 86);
    const isThere = await store((schema) => tableOf(schema, 'services').has(`${String(body['host'])}/manila-share`));
    if (!isThere) throw new Fault(404, `manila-share binary for '${String(body['host'])}' host not found`);
    messaging.cast(`manila-share.${String(body['host'])}`, 'ensure_driver_resources', {});
    return { status: 202 };
  }
  if (!['enable', 'disable'].includes(id)) throw new Fault(404, `Unknown action '${id}'`);
  if (body['disabled_reason'] !== undefined && microversion(call) < 83)
    throw new Fault(
      400,
      "'disabled_reason' option is not supported by this microversion. Use 2.83 or greater microversion to be able to set 'disabled_reason'.",
    );
  const changed = await store((schema) => setEnabled(schema, body, id === 'enable'));
  if (changed === undefined)
    throw new Fault(404, `Service ${String(body['binary'])} could not be found on host ${String(body['host'])}.`);
  return json(200, changed);
}
