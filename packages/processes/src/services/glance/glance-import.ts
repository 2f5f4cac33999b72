import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { headerOf } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { type GlanceStores, unknownStore } from './glance-store.ts';
import { locationsOf, StoreFault } from './image-store.ts';

interface Import {
  readonly method?: { readonly name?: string };
  readonly stores?: readonly string[];
  readonly all_stores?: boolean;
  readonly all_stores_must_succeed?: boolean;
}

const executor = 'glance.async_.taskflow_executor';

/** How long a copy takes, in milliseconds: guessed. */
const takes = 1000;

/**
 * The interoperable import of Glance 30 by the method copy-image, from one store into others: it is answered at once, and
 * done later (glance/api/v2/images.py `import_image`, glance/async_/flows/api_image_import.py).
 * @throws Fault
 */
export async function importImage(
  context: ServiceContext,
  stores: GlanceStores,
  call: Call,
  row: Row,
): Promise<HttpReply> {
  const body = call.body as Import;
  const method = body.method?.name;
  if (method === undefined) throw new Fault(400, "Import request requires a 'name' field.");
  if (!importMethods(context).includes(method)) throw new Fault(400, `Unknown import method name '${method}'.`);
  if (method !== 'copy-image')
    throw new PythonError('NotImplementedError', `no model knows the import method ${method}`);
  if (row['status'] !== 'active') throw new Fault(409, 'Only images with status active can be targeted for copying');
  for (const format of ['container_format', 'disk_format'])
    if (row[format] === undefined) throw new Fault(409, `'${format}' needs to be set before import`);
  if (!call.identity.roles.includes('admin'))
    throw new Fault(403, 'You are not authorized to complete copy_image action.');
  const wanted = storesOf(stores, call, body);
  const present = locationsOf(row).map(({ store }) => String(store));
  const there = wanted.find((store) => present.includes(store));
  if (there !== undefined && body.all_stores !== true)
    throw new Fault(400, `Image is already present at store '${there}'`);
  if (row['os_glance_import_task'] !== undefined)
    throw new Fault(
      409,
      `New operation on image '${String(row['id'])}' is not permitted as prior operation is still in progress`,
    );
  const lacking = wanted.filter((store) => !present.includes(store));
  if (lacking.length === 0) return { status: 202 };
  const task = uuid(context.process.random);
  await change(call, row, { os_glance_import_task: task, os_glance_importing_to_stores: lacking.join(',') });
  const copying = { row, lacking, task, strict: body.all_stores_must_succeed ?? true };
  void copy(context, stores, call, copying).catch((error: unknown) => {
    if (!(error instanceof PythonError)) throw error;
    context.log.error(executor, `Failed to execute task ${task}: ${error.message}`);
  });
  return { status: 202 };
}

/** What `enabled_import_methods` lists, in brackets. */
export const importMethods = ({ config }: Pick<ServiceContext, 'config'>): readonly string[] =>
  config.list('DEFAULT', 'enabled_import_methods').map((method) => method.replaceAll(/^\[|\]$/gu, ''));

/** The stores that a request names. @throws Fault */
function storesOf(stores: GlanceStores, { request }: Call, body: Import): readonly string[] {
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

interface Copying {
  readonly row: Row;
  readonly lacking: readonly string[];
  readonly task: string;
  /** One store that fails undoes the others. */
  readonly strict: boolean;
}

/** Reads the image once, and writes it into each store; what fails is logged, and told by the image. */
async function copy(context: ServiceContext, stores: GlanceStores, call: Call, copying: Copying): Promise<void> {
  const { row, lacking, task, strict } = copying;
  if (!(await pause(context.process, takes))) return;
  const made: Row[] = [];
  const failed: string[] = [];
  try {
    const data = await read(stores, row);
    for (const store of lacking) {
      try {
        made.push({ store, ...(await add(stores, store, String(row['id']), data)) });
      } catch (error) {
        if (!(error instanceof PythonError || error instanceof StoreFault)) throw error;
        failed.push(store);
        if (strict) throw error;
        context.log.warning(
          'glance.async_.flows.api_image_import',
          `${task} of api_image_import failed but since all_stores_must_succeed is set to false, continue.`,
        );
      }
    }
  } catch (error) {
    if (!(error instanceof PythonError || error instanceof StoreFault)) throw error;
    context.log.error(executor, `Failed to execute task ${task}: ${error.message}`);
    for (const location of made.splice(0)) await stores.of(location).remove(location);
  }
  await change(call, row, {
    locations: [...locationsOf(row), ...made],
    os_glance_import_task: undefined,
    os_glance_importing_to_stores: '',
    os_glance_failed_import: failed.join(','),
  });
}

async function add(stores: GlanceStores, store: string, id: string, data: string): Promise<Row> {
  const place = stores.place(store);
  if (place !== undefined) return place.add(id, data);
  throw new PythonError(
    'glance_store.exceptions.StoreAddDisabled',
    'Configuration for store failed. Adding images to this store is disabled.',
  );
}

/** From the default store where the image is there, else from the first one. @throws PythonError */
async function read(stores: GlanceStores, row: Row): Promise<string> {
  const all = locationsOf(row);
  const from = all.find(({ store }) => store === stores.fallback) ?? all[0];
  if (from === undefined)
    throw new PythonError('glance.common.exception.NotFound', 'Image not found in any configured store');
  return stores.of(from).read(from);
}

async function change({ store }: Call, { id }: Row, columns: Row): Promise<void> {
  await store((schema) => Object.assign(tableOf(schema, 'images').get(String(id)) ?? {}, columns));
}
