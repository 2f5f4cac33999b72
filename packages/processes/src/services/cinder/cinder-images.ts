import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { Fault } from '../../model/fault.ts';
import { oversOf } from '../../model/quotas.ts';
import { now } from '../../model/service-rows.ts';
import type { Identity } from '../../oslo/auth-token.ts';
import type { Database } from '../../oslo/database.ts';
import { type Catalog, endpointOf, httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { newVolume, quotas } from './cinder-store.ts';

/** An image that a volume is made of, and who asks for it: both travel with messages. */
export interface OfImage {
  readonly id: string;
  readonly token: string;
  readonly catalog: Catalog;
}

/** The image that somebody names, if it can be used (cinder.volume.volume_utils.check_image_metadata). @throws Fault, PythonError */
export async function imageOf(context: ServiceContext, { token, catalog }: Identity, id: string): Promise<OfImage> {
  const image = { id, token, catalog };
  const reply = await askGlance(context, image, '');
  if (reply.status === 404) throw new Fault(404, `Image ${id} could not be found.`);
  if (reply.status !== 200) throw httpError(reply, uuid(context.process.random));
  if ((JSON.parse(reply.body ?? '{}') as Row)['status'] !== 'active')
    throw new Fault(400, `Invalid input received: Image ${id} is not active.`);
  return image;
}

/**
 * Asks Glance in the name of who asks Cinder: at the first endpoint of the catalogue, whatever its region
 * (cinder.image.glance.get_api_servers). @throws PythonError of keystoneauth
 */
async function askGlance(
  { process, config }: ServiceContext,
  { id, token, catalog }: OfImage,
  path: '' | '/file',
  { method = 'GET', body }: { method?: string; body?: unknown } = {},
): Promise<HttpReply> {
  const [type = '', , kind = ''] = config.text('DEFAULT', 'glance_catalog_info').split(':');
  const base = endpointOf(catalog, { type, interfaces: [kind.replace('URL', '')], region: undefined });
  const headers: Record<string, string> = { 'x-auth-token': token };
  if (config.boolean('service_user', 'send_service_user_token'))
    headers['x-service-token'] = (await new KeystoneSession(process, config, 'service_user').token()).id;
  const cafile = config.optional('DEFAULT', 'glance_ca_certificates_file');
  const options = { optional: (_group: string, name: string) => (name === 'cafile' ? cafile : undefined) };
  if (path === '/file' && method === 'PUT') headers['content-type'] = 'application/octet-stream';
  const url = `${base}/v2/images${id && `/${id}`}${path}`;
  return new KeystoneSession(process, options, 'glance').send(method, url, headers, body);
}

/** An image without data, of whoever asks. @throws PythonError */
export async function newImage(context: ServiceContext, { token, catalog }: Identity, columns: Row): Promise<OfImage> {
  const reply = await askGlance(context, { id: '', token, catalog }, '', { method: 'POST', body: columns });
  if (reply.status !== 201) throw httpError(reply, uuid(context.process.random));
  return { id: (JSON.parse(reply.body ?? '{}') as { id: string }).id, token, catalog };
}

/** Fills an image with what a volume has. @throws PythonError */
export async function fillImage(context: ServiceContext, image: OfImage, volume: string): Promise<void> {
  const reply = await askGlance(context, image, '/file', { method: 'PUT', body: `volume ${volume}` });
  if (reply.status !== 204) throw httpError(reply, uuid(context.process.random));
}

/** What a backend's process makes volumes of images with. */
export interface Filling {
  readonly context: ServiceContext;
  readonly database: Database;
  /** Section of the backend. */
  readonly backend: string;
}

/**
 * Fills a volume with an image: of the volume that the backend keeps of it, else what Glance gives, of which one is kept then
 * (cinder.volume.flows.manager.create_volume, CreateVolumeFromSpecTask). @throws PythonError
 */
export async function fill(filling: Filling, volume: string, image: OfImage): Promise<void> {
  const { context, database, backend } = filling;
  const { config, log } = context;
  const tenant = config.boolean(backend, 'image_volume_cache_enabled') ? internalTenant(context) : undefined;
  const isKept =
    tenant !== undefined &&
    (await database.transaction('UPDATE', (schema) => useEntry(context, schema, volume, image)));
  if (isKept) return;
  if (await isClone(filling, volume, image)) return;
  const reply = await askGlance(context, image, '/file');
  if (![200, 204].includes(reply.status)) throw httpError(reply, uuid(context.process.random));
  const bytes = (reply.body ?? '').length;
  log.info('cinder.image.image_utils', `Image download ${(bytes / 2 ** 20).toFixed(2)} MB at 100.00 MB/s`);
  if (tenant === undefined) return;
  const words = await database.transaction('INSERT', (schema) => {
    const row = tableOf(schema, 'volumes').get(volume) ?? {};
    return keep(filling, schema, { row, image: image.id, size: Math.max(1, Math.ceil(bytes / 2 ** 30)), tenant });
  });
  if (words !== undefined) log.warning('cinder.volume.manager', words);
}

/**
 * Whether the image is a volume of the same backend, of which a raw one is a clone: Glance shows where it is, and the options
 * allow for it (`_clone_image_volume`). @throws PythonError
 */
async function isClone({ context, database }: Filling, id: string, image: OfImage): Promise<boolean> {
  if (!context.config.list('DEFAULT', 'allowed_direct_url_schemes').includes('cinder')) return false;
  const shown = JSON.parse((await askGlance(context, image, '')).body ?? '{}') as Row;
  if (shown['container_format'] !== 'bare' || shown['disk_format'] !== 'raw') {
    context.log.info('cinder.volume.flows.manager.create_volume', `Requested image ${image.id} is not in raw format.`);
    return false;
  }
  const source = /^cinder:\/\/(?:.*\/)?([^/]+)$/u.exec(String(shown['direct_url']))?.[1];
  const cloned = await database.transaction('UPDATE', (schema) => {
    const [from, volume] = [source ?? '', id].map((one) => tableOf(schema, 'volumes').get(one));
    if (from === undefined || volume === undefined || from['host'] !== volume['host']) return false;
    volume['source_volid'] = source;
    return true;
  });
  if (cloned)
    context.log.info(
      'cinder.volume.flows.manager.create_volume',
      `Will clone a volume from the image volume ${source}.`,
    );
  return cloned;
}

interface Tenant {
  readonly project: string;
  readonly user: string;
}

/** In whose name Cinder keeps volumes; it looks neither of them up (cinder.context.get_internal_tenant_context). */
function internalTenant({ config, log }: ServiceContext): Tenant | undefined {
  const project = config.optional('DEFAULT', 'cinder_internal_tenant_project_id');
  const user = config.optional('DEFAULT', 'cinder_internal_tenant_user_id');
  if (project !== undefined && user !== undefined) return { project, user };
  log.warning('cinder.context', 'Unable to get internal tenant context: Missing required config parameters.');
  return undefined;
}

const entriesOf = (schema: Schema, host: unknown): Row[] => rowsOf(schema, 'image_volume_cache_entries', { host });

/** Whether the backend keeps a volume of the image, which is used then. */
function useEntry(context: ServiceContext, schema: Schema, volume: string, { id }: OfImage): boolean {
  const host = tableOf(schema, 'volumes').get(volume)?.['host'];
  const entry = entriesOf(schema, host).find((one) => one['image_id'] === id);
  if (entry !== undefined) entry['last_used'] = now(context);
  return entry !== undefined;
}

/** A volume that is filled, and what it is filled with. */
interface Filled {
  readonly row: Row;
  readonly image: string;
  /** GiB of the image. */
  readonly size: number;
  readonly tenant: Tenant;
}

/** Keeps a copy, where there is room; gives why not (`_create_image_cache_volume_entry`, cinder.image.cache). */
function keep({ context, backend }: Filling, schema: Schema, { row, image, size, tenant }: Filled): string | undefined {
  const { config } = context;
  const [most, count] = [
    config.integer(backend, 'image_volume_cache_max_size_gb', 0),
    config.integer(backend, 'image_volume_cache_max_count', 0),
  ];
  const entries = entriesOf(schema, row['host']).sort((one, other) => (age(one) < age(other) ? 1 : -1));
  const isFull = () =>
    (most > 0 && entries.reduce((sum, one) => sum + Number(one['size']), size) > most) ||
    (count > 0 && entries.length + 1 > count);
  if (most > 0 && size > most)
    return `Unable to ensure space for image-volume in cache. Will skip creating entry for image ${image} on ${String(row['host'])}.`;
  for (; isFull(); entries.pop()) {
    const oldest = String(entries.at(-1)?.['volume_id']);
    tableOf(schema, 'volumes').delete(oldest);
    evict(schema, oldest);
  }
  const overs = oversOf(quotas, context, schema, tenant.project, { gigabytes: size, volumes: 1 });
  if (overs.length > 0)
    return `Failed to create new image-volume cache entry. Error: Quota exceeded for resources: ${JSON.stringify(overs).replaceAll('"', "'")}`;
  const kept = newVolume(context, {
    name: `image-${image}`,
    size,
    status: 'available',
    host: row['host'],
    volume_type_id: row['volume_type_id'],
    source_volid: row['id'],
    project_id: tenant.project,
    user_id: tenant.user,
  });
  tableOf(schema, 'volumes').set(String(kept['id']), kept);
  const entry = { host: row['host'], image_id: image, volume_id: kept['id'], size, last_used: now(context) };
  tableOf(schema, 'image_volume_cache_entries').set(String(kept['id']), entry);
  return undefined;
}

const age = ({ last_used: used }: Row): string => String(used);

/** A volume that goes is kept for nothing (cinder.volume.api.API.delete). */
export function evict(schema: Schema, volume: string): void {
  tableOf(schema, 'image_volume_cache_entries').delete(volume);
}

/** Fails a volume as its process does. @throws others than PythonError */
export function failed({ log }: ServiceContext, volume: string, error: unknown): Row {
  if (!(error instanceof PythonError)) throw error;
  log.exception('cinder.volume.manager', `Volume ${volume}: create failed`, error);
  return { status: 'error' };
}
