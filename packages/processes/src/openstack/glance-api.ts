import type { HttpReply, Program } from '@openstack-operator/sandbox';
import { type Row, tableOf } from '../infrastructure/mysql-protocol.ts';
import { Database } from '../oslo/database.ts';
import { SystemExit } from '../oslo/python-error.ts';
import { osloProgram, type ServiceContext } from '../oslo/service.ts';
import { pause, terminated } from '../program-support.ts';
import { bindPatiently } from './eventlet-server.ts';
import { openStores } from './glance-store.ts';
import { json, plain } from './http.ts';
import { newId } from './keystone-schema.ts';
import type { WsgiHandler } from './uwsgi.ts';
import { apiHandler, notFoundReply, versions } from './wsgi-service.ts';

/** `glance-api`: the eventlet server, with the stores of `enabled_backends`. Ready after about 3 s. */
export const glanceApi: Program = osloProgram({
  project: 'glance',
  programs: ['glance-api'],
  run: async (context) => {
    const { process, config, log } = context;
    await pause(process, 2500);
    const paste = config.text('paste_deploy', 'config_file', '/etc/glance/glance-api-paste.ini');
    if (!process.files.exists(paste))
      throw new SystemExit(
        1,
        `ERROR: Unable to load glance-api-keystone from configuration file ${paste}.\nGot: OSError("No such file or directory: '${paste}'")`,
      );
    const flavor = config.text('paste_deploy', 'flavor');
    if (
      flavor !== undefined &&
      !['keystone', 'caching', 'keystone+caching', 'cachemanagement', 'keystone+cachemanagement'].includes(flavor)
    ) {
      throw new SystemExit(
        1,
        `ERROR: Unable to load glance-api-${flavor} from configuration file ${paste}.\nGot: LookupError("No section 'glance-api-${flavor}' (prefixed by 'app' or 'application' or 'composite' or 'composit' or 'pipeline' or 'filter-app') found in config ${paste}")`,
      );
    }
    openStores(process, config, log);
    const port = config.integer('DEFAULT', 'bind_port', 9292);
    const host = config.text('DEFAULT', 'bind_host', '0.0.0.0');
    await bindPatiently(process, { host, port }, images(context));
    log.info('eventlet.wsgi.server', `(${process.pid}) wsgi starting up on http://${host}:${port}`);
    await terminated(process);
    return 0;
  },
});

function images(context: ServiceContext): WsgiHandler {
  const { process, config, log } = context;
  const database = new Database({ process, config, log });
  return apiHandler(context, {
    open: (_request, path): HttpReply | undefined => {
      if (path === '/' || path === '') return versions(300, ['v2.17']);
      if (path === '/versions') return versions(200, ['v2.17']);
      return path === '/healthcheck' ? plain(200, 'OK') : undefined;
    },
    routes: (request, path, identity) => {
      const [, version, kind, id] = path.split('/');
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
        if (request.method !== 'DELETE') return json(200, row);
        table.delete(id);
        return { status: 204 };
      });
    },
  });
}
