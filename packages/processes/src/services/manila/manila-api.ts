import type { HttpReply } from '@openstack-operator/sandbox';
import { headerOf, json, locationOf, plain } from '../../http.ts';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { type Api, apiHandler, type Call } from '../../model/api.ts';
import { commonWords, Fault, namedFault } from '../../model/fault.ts';
import { asked, listed, setEnabled } from '../../model/service-rows.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { isTrue, manilaDatabase, newShare, saveShare } from './manila-store.ts';
import { seesType, shareTypes, typesRoute } from './manila-types.ts';

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

const protocolsOf = ({ config }: ServiceContext): string[] =>
  config.list('DEFAULT', 'enabled_share_protocols').map((name) => name.toUpperCase());

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
      services: (call) => services(context, call),
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
      shares: (call) => shares(context, messaging, call),
    },
  };
}

/** Lists processes, and keeps new shares away from them; for what reason, from 2.83 on (manila.api.v2.services). @throws Fault */
async function services(context: ServiceContext, call: Call): Promise<HttpReply> {
  const { request, identity, id = '', body, query, store } = call;
  if (!identity.roles.includes('admin')) throw new Fault(403, commonWords.forbidden('service:index'));
  if (request.method === 'GET')
    return store((schema) => json(200, { services: asked(listed(context, schema), query) }));
  if (!['enable', 'disable'].includes(id)) throw new Fault(404, `Unknown action '${id}'`);
  const [, minor = '0'] = (headerOf(request, 'x-openstack-manila-api-version') ?? '').split('.');
  if (body['disabled_reason'] !== undefined && Number(minor) < 83)
    throw new Fault(
      400,
      "'disabled_reason' option is not supported by this microversion. Use 2.83 or greater microversion to be able to set 'disabled_reason'.",
    );
  const changed = await store((schema) => setEnabled(schema, body, id === 'enable'));
  if (changed === undefined)
    throw new Fault(404, `Service ${String(body['binary'])} could not be found on host ${String(body['host'])}.`);
  return json(200, changed);
}

/** @throws Fault */
async function shares(context: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply> {
  const { request, id, part, store, identity } = call;
  if (part !== undefined) throw new Fault(404, 'The resource could not be found.');
  if (request.method === 'POST') return create(context, messaging, call);
  const rows = await store((schema) =>
    [...tableOf(schema, 'shares').values()]
      .filter((row) => row['project_id'] === identity.projectId)
      .map((row) => shown(row, schema)),
  );
  if (id === undefined || id === 'detail') return json(200, { shares: rows });
  const share = rows.find((row) => row['id'] === id);
  if (share === undefined) throw new Fault(404, `Share ${id} could not be found.`);
  if (request.method === 'GET') return json(200, { share });
  if (request.method !== 'DELETE') throw new Fault(405, 'The method is not allowed for the requested URL.');
  const { host } = share;
  if (!['available', 'error'].includes(String(share['status'])))
    throw new Fault(403, "Invalid share: Share status must be one of ('available', 'error', 'inactive').");
  await store((schema) => {
    // What no backend has seen is gone at once.
    if (typeof host !== 'string') tableOf(schema, 'shares').delete(id);
    else saveShare(schema, id, { status: 'deleting' });
  });
  if (typeof host === 'string')
    messaging.cast(`manila-share.${host.split('#')[0]}`, 'delete_share_instance', { share: id });
  return { status: 202 };
}

/** Writes a share down, and asks a scheduler for its place. @throws Fault */
async function create(
  context: ServiceContext,
  messaging: Messaging,
  { body, store, identity }: Call,
): Promise<HttpReply> {
  const { name = null, size, share_proto: asked, share_type: wanted } = (body['share'] ?? {}) as Record<string, string>;
  const protocol = String(asked).toUpperCase();
  const protocols = protocolsOf(context);
  if (!protocols.includes(protocol))
    throw new Fault(
      400,
      `Invalid input received: Invalid share protocol provided: ${protocol}. It is either disabled or unsupported. Available protocols: ${protocols.join(', ')}`,
    );
  const share = await store((schema) => {
    const sought = wanted ?? context.config.text('DEFAULT', 'default_share_type');
    // The default is looked up as an administrator, so that one which is not public is everybody's.
    const type = [...tableOf(schema, 'share_types').values()].find(
      (row) => [row['id'], row['name']].includes(sought) && (wanted === undefined || seesType(identity, row)),
    );
    if (type === undefined && wanted !== undefined) throw new Fault(404, 'Share type not found.');
    const { driver_handles_share_servers: servers } = (type?.['extra_specs'] ?? {}) as Row;
    if (isTrue(servers))
      throw new Fault(400, 'Share network must be set when the driver_handles_share_servers is true.');
    const row = newShare(context, {
      name,
      size,
      share_proto: protocol,
      share_type_id: type?.['id'] ?? null,
      project_id: identity.projectId,
    });
    tableOf(schema, 'shares').set(String(row['id']), row);
    return shown(row, schema);
  });
  messaging.cast('manila-scheduler', 'create_share_instance', { share: share['id'] });
  return json(200, { share });
}

function shown({ share_type_id: type, ...row }: Row, schema: Schema): Row {
  const name = tableOf(schema, 'share_types').get(String(type))?.['name'];
  return { ...row, share_type: type, share_type_name: name ?? null };
}
