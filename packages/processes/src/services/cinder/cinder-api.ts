import type { HttpReply } from '@openstack-operator/sandbox';
import { json, locationOf, plain } from '../../http.ts';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { type Api, apiHandler, type Call, type Route } from '../../model/api.ts';
import { commonWords, Fault, namedFault } from '../../model/fault.ts';
import { asked, listed, setEnabled } from '../../model/service-rows.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { backupsRoute } from './cinder-backups.ts';
import { evict, imageOf } from './cinder-images.ts';
import { cinderDatabase, newVolume, quotaOf, saveVolume } from './cinder-store.ts';
import { qosSpecs, typesRoute, volumeTypes } from './cinder-types.ts';

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
      'os-quota-sets': (call) => quotas(context, call),
      volumes: (call) => volumes(context, messaging, call),
      backups: (call) => backupsRoute(context, messaging, call),
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

const ofQuotas = ['volumes', 'snapshots', 'gigabytes', 'backups', 'backup_gigabytes'];

/** Quotas of a project, whether Keystone knows it or not. @throws Fault */
async function quotas(context: ServiceContext, { request, id = '', body, store, identity }: Call): Promise<HttpReply> {
  if (!['GET', 'PUT'].includes(request.method))
    throw new Fault(405, 'The method is not allowed for the requested URL.');
  if (request.method === 'PUT' && !identity.roles.includes('admin'))
    throw new Fault(403, commonWords.forbidden('volume_extension:quotas:update'));
  const { quota_set: wanted = {} } = body as { quota_set?: Row };
  const unknown = Object.keys(wanted).find((name) => !ofQuotas.includes(name));
  if (unknown !== undefined) throw new Fault(400, `Bad key(s) in quota set: ${unknown}`);
  const set = await store((schema) => {
    for (const [resource, limit] of Object.entries(wanted))
      tableOf(schema, 'quotas').set(`${id}/${resource}`, { project_id: id, resource, hard_limit: limit });
    return Object.fromEntries(ofQuotas.map((name) => [name, quotaOf(context, schema, id, name)]));
  });
  return json(200, { quota_set: request.method === 'GET' ? { ...set, id } : set });
}

/** @throws Fault */
async function volumes(context: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply | undefined> {
  const { request, id, part, store, identity, query } = call;
  if (part === 'action' && request.method === 'POST') return extend(messaging, call);
  if (part !== undefined) throw new Fault(404, 'The resource could not be found.');
  if (request.method === 'POST') return create(context, messaging, call);
  const isList = id === undefined || id === 'detail';
  // One of another project an administrator finds by its identifier alone.
  const isAll = identity.roles.includes('admin') && (!isList || query.get('all_tenants') === '1');
  const rows = await store((schema) =>
    [...tableOf(schema, 'volumes').values()]
      .filter((row) => isAsked(row, isAll ? undefined : identity.projectId, query.get('host')))
      .map((row) => shown(row, schema)),
  );
  if (isList) return json(200, { volumes: rows });
  const volume = rows.find((row) => row['id'] === id);
  if (volume === undefined) throw new Fault(404, `Volume ${id} could not be found.`);
  if (request.method === 'GET') return json(200, { volume });
  if (request.method !== 'DELETE') throw new Fault(405, 'The method is not allowed for the requested URL.');
  const host = volume['os-vol-host-attr:host'];
  if (!['available', 'error'].includes(String(volume['status'])))
    throw new Fault(
      400,
      'Invalid volume: Volume status must be available or error or error_restoring or error_extending or error_managing and must not be migrating, attached, belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after volume transfer.',
    );
  await store((schema) => {
    evict(schema, id);
    // What no backend has seen is gone at once.
    if (typeof host !== 'string') tableOf(schema, 'volumes').delete(id);
    else saveVolume(schema, id, { status: 'deleting' });
  });
  if (typeof host === 'string') messaging.cast(`cinder-volume.${host.split('#')[0]}`, 'delete_volume', { volume: id });
  return { status: 202 };
}

/** Whether a volume is in a list. A backend's name finds those of all its pools (cinder.db.sqlalchemy.api._filter_host). */
function isAsked(row: Row, project: string | undefined, host: string | null): boolean {
  const own = typeof row['host'] === 'string' ? row['host'] : '';
  const isThere = host === null || own === host || own.startsWith(`${host}#`) || own.startsWith(`${host}@`);
  return isThere && (project === undefined || row['project_id'] === project);
}

/** `os-extend`: a volume that nobody has attached grows, by its backend's process. Other actions no model knows yet. @throws Fault */
async function extend(messaging: Messaging, { id = '', body, store, identity }: Call): Promise<HttpReply> {
  const { 'os-extend': asked } = body as { 'os-extend'?: { new_size?: number } };
  if (asked === undefined)
    throw new Fault(400, `this simulated Cinder knows no action ${Object.keys(body).join(', ')} of volumes`);
  const size = Number(asked.new_size);
  const host = await store((schema) => {
    const volume = tableOf(schema, 'volumes').get(id);
    if (volume === undefined || volume['project_id'] !== identity.projectId)
      throw new Fault(404, `Volume ${id} could not be found.`);
    if (!(size > Number(volume['size'])))
      throw new Fault(
        400,
        `Invalid input received: New size for extend must be greater than current size. (current: ${String(volume['size'])}, extended: ${size}).`,
      );
    if (volume['status'] !== 'available')
      throw new Fault(
        400,
        `Invalid volume: Volume ${id} status must be '{'status': 'available'}' to extend, currently ${String(volume['status'])}.`,
      );
    saveVolume(schema, id, { status: 'extending' });
    return String(volume['host']);
  });
  messaging.cast(`cinder-volume.${host.split('#')[0]}`, 'extend_volume', { volume: id, size });
  return { status: 202 };
}

/** Writes a volume down, and asks a scheduler for its place. @throws Fault */
async function create(
  context: ServiceContext,
  messaging: Messaging,
  { body, store, identity }: Call,
): Promise<HttpReply> {
  const {
    name = null,
    size,
    volume_type: asked,
    imageRef,
  } = (body['volume'] ?? {}) as Row & { volume_type?: string; imageRef?: string };
  if (!Number.isInteger(size) || Number(size) <= 0)
    throw new Fault(
      400,
      `Invalid input received: Volume size '${JSON.stringify(size)}' must be an integer and greater than 0`,
    );
  const image = imageRef === undefined ? {} : { image: await imageOf(context, identity, imageRef) };
  const fallback = context.config.text('DEFAULT', 'default_volume_type');
  const volume = await store((schema) => {
    const wanted = asked ?? fallback;
    const type = [...tableOf(schema, 'volume_types').values()].find(
      ({ id, name, is_public: isPublic }) =>
        [id, name].includes(wanted) && (isPublic !== false || identity.roles.includes('admin')),
    );
    if (type === undefined)
      throw asked === undefined
        ? new Fault(500, `The request cannot be fulfilled as the default volume type ${fallback} cannot be found.`)
        : new Fault(404, `Volume type with name ${asked} could not be found.`);
    if (type['encryption'] !== undefined) throw new Fault(400, 'this simulated Cinder knows no encrypted volumes');
    const most = quotaOf(context, schema, identity.projectId, 'volumes');
    const has = [...tableOf(schema, 'volumes').values()].filter((one) => one['project_id'] === identity.projectId);
    if (most >= 0 && has.length >= most)
      throw new Fault(
        413,
        `VolumeLimitExceeded: Maximum number of volumes allowed (${most}) exceeded for quota 'volumes'.`,
      );
    const row = newVolume(context, { name, size, volume_type_id: type['id'], project_id: identity.projectId });
    tableOf(schema, 'volumes').set(String(row['id']), row);
    return shown(row, schema);
  });
  messaging.cast('cinder-scheduler', 'create_volume', { volume: volume['id'], ...image });
  return json(202, { volume });
}

function shown({ host, volume_type_id: type, project_id: project, ...row }: Row, schema: Schema): Row {
  return {
    ...row,
    volume_type: tableOf(schema, 'volume_types').get(String(type))?.['name'] ?? null,
    'os-vol-tenant-attr:tenant_id': project,
    'os-vol-host-attr:host': host ?? null,
  };
}
