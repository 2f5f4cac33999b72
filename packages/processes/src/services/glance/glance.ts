import { plain } from '../../http.ts';
import { type Api, apiHandler, versions } from '../../model/api.ts';
import { bindPatiently } from '../../model/eventlet-server.ts';
import { upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { CommandContext } from '../../model/program.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { cachePrograms, type ImageCache, openCache } from './glance-cache.ts';
import { imagesRoute, infoRoute, noImage, shownImage, storesRoute } from './glance-images.ts';
import { projectLimits } from './glance-limits.ts';
import { glanceDatabase, glanceManage } from './glance-manage.ts';
import { type GlanceStores, openStores } from './glance-store.ts';

const flavors = ['', '-caching', '-cachemanagement', '-keystone', '-keystone+caching', '-keystone+cachemanagement'];

/** Glance 30: the eventlet server, with the stores of `enabled_backends`. */
export const glance = model({
  project: 'glance',
  images: { 'glance-api': {} },
  files: {
    '/etc/glance/glance-api-paste.ini': flavors
      .map((flavor) => `[composite:glance-api${flavor}]\npaste.composite_factory = glance.api:root_app_factory\n`)
      .join('\n'),
    // One of the dozens.
    '/etc/glance/metadefs/compute-libvirt.json':
      '{ "namespace": "OS::Compute::Libvirt", "display_name": "libvirt Driver Options", "visibility": "public" }\n',
  },
  programs: {
    ...cachePrograms,
    'glance-manage': glanceManage,
    'glance-status': {
      takes: startTimes.glanceManage.start,
      commands: { 'upgrade check': upgradeCheck({ 'Sheepdog Driver Removal': () => Promise.resolve(undefined) }) },
    },
    'glance-api': { takes: startTimes.glanceApi, run: serve },
  },
});

async function serve(context: CommandContext): Promise<number> {
  const { process, config, log } = context;
  demandPipeline(context);
  const stores = await openStores(context);
  const cache = cacheOf(context);
  const port = config.integer('DEFAULT', 'bind_port', 9292);
  const host = config.text('DEFAULT', 'bind_host');
  await bindPatiently(process, { host, port }, apiHandler(context, images(context, stores, cache)));
  log.info('eventlet.wsgi.server', `(${process.pid}) wsgi starting up on http://${host}:${port}`);
  await terminated(process);
  return 0;
}

/** @throws SystemExit when the paste file is not there, or has no pipeline for the flavor */
function demandPipeline({ process, config }: CommandContext): void {
  const file = config.text('paste_deploy', 'config_file', '/etc/glance/glance-api-paste.ini');
  const flavor = config.text('paste_deploy', 'flavor');
  const fail = (name: string, reason: string): never => {
    throw new SystemExit(1, `ERROR: Unable to load ${name} from configuration file ${file}.\nGot: ${reason}`);
  };
  if (!process.files.exists(file)) fail('glance-api-keystone', `OSError("No such file or directory: '${file}'")`);
  const name = `glance-api${flavor && '-'}${flavor}`;
  if (!flavors.some((known) => `glance-api${known}` === name))
    fail(
      name,
      `LookupError("No section '${name}' (prefixed by 'app' or 'application' or 'composite' or 'composit' or 'pipeline' or 'filter-app') found in config ${file}")`,
    );
}

/** The cache, where the pipeline has one. @throws SystemExit where it cannot be */
function cacheOf(context: CommandContext): ImageCache | undefined {
  const flavor = context.config.text('paste_deploy', 'flavor');
  if (!flavor.includes('cach')) return undefined;
  try {
    return openCache(context);
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    throw new SystemExit(1, `ERROR: Unable to load glance-api-${flavor}.\nGot: ${error.type}('${error.message}')`);
  }
}

function images(context: CommandContext, stores: GlanceStores, cache: ImageCache | undefined): Api {
  const limits = projectLimits(context);
  return {
    prefix: 'v2',
    open: { '/': versions(300, 'v2.17'), '/versions': versions(200, 'v2.17'), '/healthcheck': plain(200, 'OK') },
    // Without a flavor the pipeline has no authentication: everybody is an administrator (`unauthenticated-context`).
    unauthenticated: (config) => config.text('paste_deploy', 'flavor') === '',
    words: {
      body: ({ status, title, message }) => ({ message, code: `${status} ${title}`, title }),
      notFound: (_item, id) => noImage(id),
    },
    database: glanceDatabase,
    collections: [
      {
        path: 'images',
        notifies: 'image.create',
        defaults: { os_hidden: false },
        asked: (query) => {
          if (query.get('visibility') === 'all') query.delete('visibility');
          if (!query.has('os_hidden')) query.set('os_hidden', 'false');
        },
        saving: (row, { project }, before) => {
          if (before === undefined) Object.assign(row, { status: 'queued', owner: project });
        },
        shown: (row) => shownImage(row, context.config.boolean('DEFAULT', 'show_image_direct_url')),
        listed: () => ({ schema: '/v2/schemas/images', first: '/v2/images' }),
      },
      { path: 'metadefs/namespaces', table: 'metadef_namespaces', readOnly: true },
    ],
    routes: {
      images: imagesRoute(context, stores, { cache, limits }),
      info: infoRoute(context, stores, limits),
      stores: storesRoute(context, stores),
    },
  };
}
