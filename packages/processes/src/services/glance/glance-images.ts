import type { HttpReply } from '@openstack-operator/sandbox';
import { headerOf, json, plain } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call, Route } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import type { ImageCache } from './glance-cache.ts';
import { importImage, importMethods, stageImage } from './glance-import.ts';
import type { ProjectLimits } from './glance-limits.ts';
import { type GlanceStores, unknownStore } from './glance-store.ts';
import { locationsOf, StoreFault } from './image-store.ts';

/** How an image is not found, in the API's words. */
export const noImage = (id: string): string => `No image found with ID ${id}`;

/**
 * An image as the API shows it: locations are shown to nobody, nor who has staged it; the names of stores are. `places`: where
 * it is, of what the model knows the URL of.
 */
export function shownImage(row: Row, places: boolean): Row {
  const stores = locationsOf(row).map(({ store }) => store);
  const shown = Object.entries(row).filter(([name]) => name !== 'locations' && name !== 'os_glance_stage_host');
  const direct = locationsOf(row).find(({ location }) => /^\w+:\/\//u.test(String(location)))?.['location'];
  return {
    ...Object.fromEntries(shown),
    ...(stores.length > 0 && { stores: stores.join(',') }),
    ...(places && direct !== undefined && { direct_url: direct }),
  };
}

/** Images' data: read, written down, copied, and removed before the image is; all else about images is rows. */
export const imagesRoute =
  (
    context: ServiceContext,
    stores: GlanceStores,
    { cache, limits }: { readonly cache: ImageCache | undefined; readonly limits: ProjectLimits },
  ): Route =>
  async (call) => {
    const { request, id, part } = call;
    if (id === undefined && request.method === 'POST') await limits.enforce(call, 'image_count_total', { delta: 1 });
    const isDeletion = request.method === 'DELETE' && part === undefined;
    const isImport = request.method === 'POST' && part === 'import';
    if (id === undefined || !(part === 'file' || part === 'stage' || isImport || isDeletion)) return undefined;
    const row = await call.store((schema) => tableOf(schema, 'images').get(id));
    if (row === undefined) throw new Fault(404, noImage(id));
    if (isDeletion) {
      for (const location of locationsOf(row)) await remove(context, stores, row, location);
      await cache?.remove(call.store, id);
      return undefined;
    }
    if (isImport) return importImage(context, { stores, limits }, call, row);
    if (part === 'stage') return stageImage(context, { stores, limits }, call, row);
    if (request.method !== 'GET') {
      await limits.enforce(call, 'image_size_total');
      await limits.enforce(call, 'image_count_uploading', { entering: id });
      return upload(context, stores, call, row);
    }
    const copy = await cache?.read(call.store, id);
    if (copy !== undefined) return plain(200, copy);
    const reply = await download(context, stores, row);
    if (reply.status === 200) await cache?.write(call.store, id, reply.body ?? '');
    return reply;
  };

/** What there is to choose from, and to use up (`GET /v2/info/stores`, `/v2/info/import`, `/v2/info/usage`). */
export const infoRoute =
  ({ config }: ServiceContext, stores: GlanceStores, limits: ProjectLimits): Route =>
  async (call) => {
    const { request, id } = call;
    if (request.method !== 'GET') return undefined;
    if (id === 'usage') return json(200, { usage: await limits.usage(call) });
    if (id === 'import') {
      const methods = { description: 'Import methods available.', type: 'array', value: importMethods({ config }) };
      return json(200, { 'import-methods': methods });
    }
    if (id !== 'stores') return undefined;
    const shown = stores.ids.map((store) => {
      const description = config.text(store, 'store_description');
      return { id: store, ...(description && { description }), ...(store === stores.fallback && { default: 'true' }) };
    });
    return json(200, { stores: shown });
  };

/** Removes an image from one of its stores (`DELETE /v2/stores/<store>/<image>`), but from the last one. */
export const storesRoute =
  (context: ServiceContext, stores: GlanceStores): Route =>
  async ({ request, id: store, part: id, store: transaction }) => {
    if (request.method !== 'DELETE' || store === undefined || id === undefined) return undefined;
    const row = await transaction((schema) => tableOf(schema, 'images').get(id));
    if (row === undefined) throw new Fault(404, noImage(id));
    const all = locationsOf(row);
    if (all.length === 1)
      throw new Fault(
        403,
        'Cannot delete image data from the only store containing it. Consider deleting the image instead.',
      );
    const location = all.find((one) => one['store'] === store);
    if (location === undefined) throw new Fault(404, `Image ${id} is not stored in store ${store}.`);
    await remove(context, stores, row, location);
    await transaction((schema) =>
      Object.assign(tableOf(schema, 'images').get(id) ?? {}, { locations: all.filter((one) => one !== location) }),
    );
    return { status: 204 };
  };

/** From the location whose store has the greatest weight; where that fails, from the next one. */
async function download({ config, log }: ServiceContext, stores: GlanceStores, row: Row): Promise<HttpReply> {
  const weight = ({ store }: Row): number =>
    stores.ids.includes(String(store)) ? config.integer(String(store), 'weight') : 0;
  const locations = locationsOf(row).toSorted((one, other) => weight(other) - weight(one));
  const id = String(row['id']);
  let failure: PythonError | undefined;
  for (const location of locations) {
    try {
      return plain(200, await stores.of(location).read(location));
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.warning('glance.location', `Get image ${id} data failed: ${error.message}.`);
      failure = error;
    }
  }
  if (failure === undefined) return { status: 204 };
  log.error('glance.location', `Glance tried all active locations to get data for image ${id} but all have failed.`);
  if (failure.type === 'glance_store.exceptions.NotFound') return { status: 204 };
  throw failure;
}

async function upload(
  { log }: ServiceContext,
  stores: GlanceStores,
  { request, store: transaction }: Call,
  row: Row,
): Promise<HttpReply> {
  const store = headerOf(request, 'x-image-meta-store') ?? stores.fallback;
  const id = String(row['id']);
  try {
    const place = stores.place(store);
    if (place === undefined)
      return plain(410, '410 Gone: Error in store configuration. Adding images to store is disabled.');
    const location = { store, ...(await place.add(id, request.body)) };
    const columns = { status: 'active', size: request.body.length, locations: [location] };
    await transaction((schema) => Object.assign(tableOf(schema, 'images').get(id) ?? {}, columns));
    return { status: 204 };
  } catch (error) {
    if (error instanceof StoreFault) return error.reply;
    if (!(error instanceof PythonError)) throw error;
    if (error.type === unknownStore) return plain(400, `400 Bad Request: ${error.message}`);
    log.error('glance.api.v2.image_data', 'Failed to upload image data due to internal error');
    throw error;
  }
}

async function remove({ log }: ServiceContext, stores: GlanceStores, row: Row, location: Row): Promise<void> {
  try {
    await stores.of(location).remove(location);
  } catch (error) {
    if (!(error instanceof PythonError) || error.type !== 'glance_store.exceptions.NotFound') throw error;
    log.warning(
      'glance.common.store_utils',
      `The image data for ${String(row['id'])} was not found in the store. The image record has been updated to reflect this.`,
    );
  }
}
