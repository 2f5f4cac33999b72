import type { HttpMessage, HttpReply, Process, Program } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { type Row, tableOf } from '../infrastructure/mysql-protocol.ts';
import type { Identity } from '../oslo/auth-token.ts';
import { Database } from '../oslo/database.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { osloProgram, type ServiceContext } from '../oslo/service.ts';
import { pause, terminated } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { bindPatiently } from './eventlet-server.ts';
import { type GlanceStores, openStores } from './glance-store.ts';
import { json, plain } from './http.ts';
import { newId } from './keystone-schema.ts';
import type { WsgiHandler } from './uwsgi.ts';
import { apiHandler, notFoundReply, versions } from './wsgi-service.ts';

/** `glance-api`: the eventlet server, with the stores of `enabled_backends`. */
export const glanceApi: Program = osloProgram({
  project: 'glance',
  programs: ['glance-api'],
  run: async (context) => {
    const { process, config, log } = context;
    await pause(process, startTimes.glanceApi);
    const paste = config.text('paste_deploy', 'config_file', '/etc/glance/glance-api-paste.ini');
    if (!process.files.exists(paste))
      throw new SystemExit(
        1,
        `ERROR: Unable to load glance-api-keystone from configuration file ${paste}.\nGot: OSError("No such file or directory: '${paste}'")`,
      );
    const flavor = config.optional('paste_deploy', 'flavor');
    if (
      flavor !== undefined &&
      !['keystone', 'caching', 'keystone+caching', 'cachemanagement', 'keystone+cachemanagement'].includes(flavor)
    ) {
      throw new SystemExit(
        1,
        `ERROR: Unable to load glance-api-${flavor} from configuration file ${paste}.\nGot: LookupError("No section 'glance-api-${flavor}' (prefixed by 'app' or 'application' or 'composite' or 'composit' or 'pipeline' or 'filter-app') found in config ${paste}")`,
      );
    }
    const stores = storesOf(context);
    const port = config.integer('DEFAULT', 'bind_port', 9292);
    const host = config.text('DEFAULT', 'bind_host');
    await bindPatiently(process, { host, port }, images(context, stores, flavor));
    log.info('eventlet.wsgi.server', `(${process.pid}) wsgi starting up on http://${host}:${port}`);
    await terminated(process);
    return 0;
  },
});

/** @throws SystemExit with the words of glance-api's own handler */
function storesOf({ process, config, log }: ServiceContext): GlanceStores {
  try {
    return openStores(process, config, log);
  } catch (error) {
    if (error instanceof PythonError && error.type === 'RuntimeError')
      throw new SystemExit(1, `ERROR: ${error.message}`);
    throw error;
  }
}

/** Without a flavor the pipeline has no authentication: everybody is an administrator (`unauthenticated-context`). */
const everybody: Identity = { userId: '', projectId: undefined, roles: ['admin'], token: '', catalog: [] };

function images(context: ServiceContext, stores: GlanceStores, flavor: string | undefined): WsgiHandler {
  const { process, config, log } = context;
  const database = new Database({ process, config, log });
  return apiHandler(context, {
    ...(flavor === undefined && { everybody }),
    open: (_request, path): HttpReply | undefined => {
      if (path === '/' || path === '') return versions(300, ['v2.17']);
      if (path === '/versions') return versions(200, ['v2.17']);
      return path === '/healthcheck' ? plain(200, 'OK') : undefined;
    },
    routes: (request, path, identity) => {
      const [, version, kind, id, part] = path.split('/');
      if (version === 'v2' && kind === 'metadefs' && id === 'namespaces' && part === undefined) {
        return database.transaction('SELECT', (schema) =>
          json(200, { namespaces: [...tableOf(schema, 'metadef_namespaces').values()] }),
        );
      }
      if (version !== 'v2' || kind !== 'images') return notFoundReply();
      return database.transaction('UPDATE', (schema) => {
        const table = tableOf(schema, 'images');
        if (request.method === 'POST') {
          const row: Row = {
            ...(JSON.parse(request.body) as Row),
            id: newId(process.random),
            status: 'queued',
            owner: identity.projectId,
          };
          table.set(String(row['id']), row);
          return json(201, row);
        }
        if (id === undefined)
          return json(200, { images: [...table.values()], schema: '/v2/schemas/images', first: '/v2/images' });
        const row = table.get(id);
        if (row === undefined)
          return json(404, { message: `No image found with ID ${id}`, code: '404 Not Found', title: 'Not Found' });
        if (part === 'file') return file(process, stores, row, request);
        if (request.method !== 'DELETE') return json(200, row);
        table.delete(id);
        return { status: 204 };
      });
    },
  });
}

/** An image's data, in the default store. */
function file(process: Process, stores: GlanceStores, row: Row, request: HttpMessage): HttpReply {
  if (request.method === 'GET') {
    const { location } = row as { location?: string };
    return location === undefined ? { status: 204 } : plain(200, process.files.read(location));
  }
  const directory = stores.directory(stores.fallback);
  if (directory === undefined)
    return plain(410, '410 Gone: Error in store configuration. Adding images to store is disabled.');
  const location = `${directory}/${String(row['id'])}`;
  try {
    process.files.write(location, request.body, { mode: 0o640 });
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return error.code === 'ENOSPC'
      ? plain(413, '413 Request Entity Too Large: Image storage media is full')
      : plain(503, '503 Service Unavailable: Insufficient permissions on image storage media');
  }
  Object.assign(row, { status: 'active', size: request.body.length, location });
  return { status: 204 };
}
