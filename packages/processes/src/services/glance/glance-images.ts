import type { HttpReply } from '@openstack-operator/sandbox';
import { plain } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call, Route } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import type { GlanceStores } from './glance-store.ts';
import { StoreFault } from './image-store.ts';

/** How an image is not found, in the API's words. */
export const noImage = (id: string): string => `No image found with ID ${id}`;

/** Images' data: read, written down, and removed before the image is; all else about images is rows. */
export const imagesRoute =
  (context: ServiceContext, stores: GlanceStores): Route =>
  async (call) => {
    const { request, id, part } = call;
    const isDeletion = request.method === 'DELETE' && part === undefined;
    if (id === undefined || !(part === 'file' || isDeletion)) return undefined;
    const row = await call.store((schema) => tableOf(schema, 'images').get(id));
    if (row === undefined) throw new Fault(404, noImage(id));
    if (isDeletion) {
      await remove(context, stores, row);
      return undefined;
    }
    return request.method === 'GET' ? await download(context, stores, row) : await upload(context, stores, call, row);
  };

async function download({ log }: ServiceContext, stores: GlanceStores, row: Row): Promise<HttpReply> {
  const place = stores.of(row);
  if (place === undefined) return { status: 204 };
  try {
    return plain(200, await place.read(row));
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    const id = String(row['id']);
    log.warning('glance.location', `Get image ${id} data failed: ${error.message}.`);
    log.error('glance.location', `Glance tried all active locations to get data for image ${id} but all have failed.`);
    if (error.type === 'glance_store.exceptions.NotFound') return { status: 204 };
    throw error;
  }
}

async function upload(
  { log }: ServiceContext,
  stores: GlanceStores,
  { request, store }: Call,
  row: Row,
): Promise<HttpReply> {
  const place = stores.place(stores.fallback);
  if (place === undefined)
    return plain(410, '410 Gone: Error in store configuration. Adding images to store is disabled.');
  const id = String(row['id']);
  try {
    const where = await place.add(id, request.body);
    const columns = { status: 'active', size: request.body.length, ...where };
    await store((schema) => Object.assign(tableOf(schema, 'images').get(id) ?? {}, columns));
    return { status: 204 };
  } catch (error) {
    if (error instanceof StoreFault) return error.reply;
    if (error instanceof PythonError)
      log.error('glance.api.v2.image_data', 'Failed to upload image data due to internal error');
    throw error;
  }
}

async function remove({ log }: ServiceContext, stores: GlanceStores, row: Row): Promise<void> {
  try {
    await stores.of(row)?.remove(row);
  } catch (error) {
    if (!(error instanceof PythonError) || error.type !== 'glance_store.exceptions.NotFound') throw error;
    log.warning(
      'glance.common.store_utils',
      `The image data for ${String(row['id'])} was not found in the store. The image record has been updated to reflect this.`,
    );
  }
}
