import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { headerOf, locationOf, plain } from '../../http.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { bracketed, changeImage, type Import, runImport, staging } from './glance-import-task.ts';
import type { ProjectLimits } from './glance-limits.ts';
import { type GlanceStores, unknownStore } from './glance-store.ts';
import { locationsOf, StoreFault } from './image-store.ts';

interface Body {
  readonly method?: { readonly name?: string };
  readonly stores?: readonly string[];
  readonly all_stores?: boolean;
  readonly all_stores_must_succeed?: boolean;
}

/** What images take up. */
interface Resources {
  readonly stores: GlanceStores;
  readonly limits: ProjectLimits;
}

/** `PUT /v2/images/<id>/stage`: keeps the data until they are imported, and records which process has them. @throws Fault */
export async function stageImage(
  { config }: ServiceContext,
  { stores, limits }: Resources,
  call: Call,
  row: Row,
): Promise<HttpReply> {
  await limits.enforce(call, 'image_stage_total');
  if (row['status'] !== 'queued')
    throw new Fault(409, `Image status transition from ${String(row['status'])} to uploading is not allowed`);
  await limits.enforce(call, 'image_count_uploading', { entering: call.id });
  const { body } = call.request;
  const self = config.text('DEFAULT', 'worker_self_reference_url');
  try {
    await stores.place(staging)?.add(String(row['id']), body);
  } catch (error) {
    if (error instanceof StoreFault) return error.reply;
    throw error;
  }
  const host = self === '' ? {} : { os_glance_stage_host: self };
  await changeImage(call, row, { status: 'uploading', size: body.length, ...host });
  return { status: 204 };
}

/**
 * The interoperable import of Glance 30: what was staged goes into stores (glance-direct), or an image from one store into
 * others (copy-image). It is answered at once, and done later (glance/api/v2/images.py, `import_image`).
 * @throws Fault
 */
export async function importImage(
  context: ServiceContext,
  { stores, limits }: Resources,
  call: Call,
  row: Row,
): Promise<HttpReply> {
  await limits.enforce(call, 'image_size_total');
  const body = call.body as Body;
  const copies = methodOf(context, body) === 'copy-image';
  demandState(call, row, copies);
  const wanted = storesOf(stores, call, body);
  const present = copies ? locationsOf(row).map(({ store }) => String(store)) : [];
  const there = wanted.find((store) => present.includes(store));
  if (there !== undefined && body.all_stores !== true)
    throw new Fault(400, `Image is already present at store '${there}'`);
  const host = row['os_glance_stage_host'];
  if (!copies && typeof host === 'string' && host !== context.config.text('DEFAULT', 'worker_self_reference_url'))
    return proxy(context, call, host);
  if (row['os_glance_import_task'] !== undefined)
    throw new Fault(
      409,
      `New operation on image '${String(row['id'])}' is not permitted as prior operation is still in progress`,
    );
  const lacking = wanted.filter((store) => !present.includes(store));
  if (lacking.length === 0) return { status: 202 };
  const task = uuid(context.process.random);
  const status = copies ? 'active' : 'importing';
  await changeImage(call, row, {
    status,
    os_glance_import_task: task,
    os_glance_importing_to_stores: lacking.join(','),
  });
  const strict = body.all_stores_must_succeed ?? true;
  const delta = Math.floor(Number(row['size'] ?? 0) / 2 ** 20);
  // Copies go by the staging area, and what is there already becomes an image of a size that is known.
  const demand = async (): Promise<void> => {
    if (!copies) return limits.enforce(call, 'image_size_total', { delta });
    await limits.enforce(call, 'image_stage_total', { delta });
    await limits.enforce(call, 'image_count_uploading');
  };
  const started: Import = { row: { ...row, status }, lacking, task, strict, copies, demand };
  void runImport(context, stores, call, started);
  return { status: 202 };
}

/** What an import does. @throws Fault, PythonError for what no model knows */
function methodOf(context: ServiceContext, { method }: Body): 'copy-image' | 'glance-direct' {
  const name = method?.name;
  if (name === undefined) throw new Fault(400, "Import request requires a 'name' field.");
  if (!importMethods(context).includes(name)) throw new Fault(400, `Unknown import method name '${name}'.`);
  if (name === 'copy-image' || name === 'glance-direct') return name;
  throw new PythonError('NotImplementedError', `no model knows the import method ${name}`);
}

function demandState({ identity }: Call, row: Row, copies: boolean): void {
  if (copies && row['status'] !== 'active')
    throw new Fault(409, 'Only images with status active can be targeted for copying');
  if (!copies && row['status'] === 'active')
    throw new Fault(409, 'Image with status active cannot be target for import');
  if (!copies && row['status'] !== 'uploading')
    throw new Fault(409, "Image needs to be staged before 'glance-direct' method can be used");
  for (const format of ['container_format', 'disk_format'])
    if (row[format] === undefined) throw new Fault(409, `'${format}' needs to be set before import`);
  if (copies && !identity.roles.includes('admin'))
    throw new Fault(403, 'You are not authorized to complete copy_image action.');
}

/** What `enabled_import_methods` lists. */
export const importMethods = (context: Pick<ServiceContext, 'config'>): readonly string[] =>
  bracketed(context, 'DEFAULT', 'enabled_import_methods');

/** The stores that a request names. @throws Fault */
function storesOf(stores: GlanceStores, { request }: Call, body: Body): readonly string[] {
  if (body.all_stores === true) return stores.ids;
  const wanted = body.stores ?? [headerOf(request, 'x-image-meta-store') ?? stores.fallback];
  for (const store of wanted) {
    try {
      stores.place(store);
    } catch (error) {
      if (error instanceof PythonError && error.type === unknownStore) throw new Fault(409, error.message);
      throw error;
    }
  }
  return wanted;
}

/** Asks the process that has staged the image, with the caller's token. */
async function proxy(context: ServiceContext, { request, body }: Call, host: string): Promise<HttpReply> {
  const { log, process, config } = context;
  log.info('glance.api.v2.images', `Proxying POST request to host ${host} which has image staged`);
  const url = `${host}${locationOf(request).path}`;
  const token = headerOf(request, 'x-auth-token') ?? '';
  try {
    const reply = await new KeystoneSession(process, config, 'keystone_authtoken').send(
      request.method,
      url,
      { 'x-auth-token': token },
      body,
    );
    return reply.status < 300 ? { status: 202 } : reply;
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    log.error('glance.api.v2.images', `Failed to proxy to '${url}': ${error.message}`);
    return plain(504, '504 Gateway Timeout: Stage host is unavailable');
  }
}
