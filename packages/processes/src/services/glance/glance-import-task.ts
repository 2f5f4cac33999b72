import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import type { GlanceStores } from './glance-store.ts';
import { locationsOf, StoreFault } from './image-store.ts';

/** An import that was started. */
export interface Import {
  /** The image as it was when the import began. */
  readonly row: Row;
  /** Stores that it is to go into. */
  readonly lacking: readonly string[];
  readonly task: string;
  /** One store that fails undoes the others. */
  readonly strict: boolean;
  /** It comes from another store, and was not staged. */
  readonly copies: boolean;
  /** Whether there is room for it. @throws Fault, PythonError */
  readonly demand: () => Promise<void>;
}

/** The store of what was staged. */
export const staging = 'os_glance_staging_store';

/** How long an import takes, in milliseconds: guessed. */
const takes = 1000;

/**
 * Reads the image once, and writes it into each store; what fails is logged, and told by the image
 * (glance/async_/flows/api_image_import.py). Nobody waits for the end.
 */
export async function runImport(context: ServiceContext, stores: GlanceStores, call: Call, one: Import): Promise<void> {
  if (!(await pause(context.process, takes))) return;
  const made: Row[] = [];
  const failed: string[] = [];
  let columns: Row = {};
  const caught = (error: unknown): void => {
    if (!(error instanceof PythonError || error instanceof StoreFault || error instanceof Fault)) throw error;
    context.log.error('glance.async_.taskflow_executor', `Failed to execute task ${one.task}: ${error.message}`);
  };
  try {
    await one.demand();
    const { data, ...more } = one.copies ? await present(stores, one) : await staged(context, stores, one, failed);
    for (const store of one.lacking) {
      try {
        made.push({ store, ...(await add(stores, store, String(one.row['id']), data)) });
      } catch (error) {
        if (!(error instanceof PythonError || error instanceof StoreFault)) throw error;
        failed.push(store);
        if (one.strict) throw error;
        context.log.warning(
          'glance.async_.flows.api_image_import',
          `${one.task} of api_image_import failed but since all_stores_must_succeed is set to false, continue.`,
        );
      }
    }
    columns = one.copies || made.length === 0 ? {} : { ...more, size: data.length, status: 'active' };
  } catch (error) {
    caught(error);
    for (const location of made.splice(0)) await stores.of(location).remove(location);
  }
  const undone = one.copies || made.length > 0 ? {} : { status: 'queued' };
  await changeImage(call, one.row, {
    ...undone,
    ...columns,
    locations: [...locationsOf(one.row), ...made],
    os_glance_stage_host: undefined,
    os_glance_import_task: undefined,
    os_glance_importing_to_stores: '',
    os_glance_failed_import: failed.join(','),
  }).catch(caught);
}

/** Columns of an image, in the API's database. @throws PythonError */
export async function changeImage({ store }: Call, { id }: Row, columns: Row): Promise<void> {
  await store((schema) => Object.assign(tableOf(schema, 'images').get(String(id)) ?? {}, columns));
}

/** What an option lists in brackets. */
export const bracketed = ({ config }: Pick<ServiceContext, 'config'>, group: string, name: string): readonly string[] =>
  config.list(group, name).map((entry) => entry.replaceAll(/^\[|\]$/gu, ''));

interface Data extends Row {
  readonly data: string;
}

/** From the default store where the image is there, else from the first one. @throws PythonError */
async function present(stores: GlanceStores, { row }: Import): Promise<Data> {
  const all = locationsOf(row);
  const from = all.find(({ store }) => store === stores.fallback) ?? all[0];
  if (from === undefined)
    throw new PythonError('glance.common.exception.NotFound', 'Image not found in any configured store');
  return { data: await stores.of(from).read(from) };
}

/** What was staged, which is gone then, as plug-ins have made it. A plug-in that fails, fails all stores. @throws PythonError */
async function staged(context: ServiceContext, stores: GlanceStores, one: Import, failed: string[]): Promise<Data> {
  const { process, config } = context;
  const path = `${config.text(staging, 'filesystem_store_datadir')}/${String(one.row['id'])}`;
  const location = { location: path };
  const data = process.files.exists(path) ? await stores.of(location).read(location) : undefined;
  if (data === undefined) throw new PythonError('glance.common.exception.NotFound', `No such file: ${path}`);
  process.files.remove(path);
  let made: Data = { data };
  try {
    for (const plugin of bracketed(context, 'image_import_opts', 'image_import_plugins')) {
      if (plugin === 'no_op') continue;
      if (plugin !== 'image_conversion')
        throw new PythonError('NotImplementedError', `no model knows the import plug-in ${plugin}`);
      made = converted(context, one.row, made.data);
    }
  } catch (error) {
    failed.push(...one.lacking);
    throw error;
  }
  return made;
}

/** How the data of a format other than raw begin. */
const magic: Readonly<Record<string, string>> = { qcow2: 'QFI', vmdk: 'KDMV', raw: '' };

/**
 * Data in another format (glance/async_/flows/plugins/image_conversion.py): they have to be of the format that the image
 * claims. @throws PythonError
 */
function converted({ config, log }: ServiceContext, row: Row, data: string): Data {
  const source = String(row['disk_format']);
  const target = config.text('image_conversion', 'output_format');
  const found = ['qcow2', 'vmdk'].find((format) => data.startsWith(magic[format] ?? '')) ?? 'raw';
  if (found !== source) {
    log.error(
      'glance.async_.flows.plugins.image_conversion',
      `Image claimed to be ${source} format failed format inspection`,
    );
    throw new PythonError('RuntimeError', 'Image format mismatch');
  }
  if (source === target) return { data };
  const bare = data.slice((magic[source] ?? '').length);
  return { data: `${magic[target] ?? ''}${bare}`, disk_format: target, container_format: 'bare' };
}

async function add(stores: GlanceStores, store: string, id: string, data: string): Promise<Row> {
  const place = stores.place(store);
  if (place !== undefined) return place.add(id, data);
  throw new PythonError(
    'glance_store.exceptions.StoreAddDisabled',
    'Configuration for store failed. Adding images to this store is disabled.',
  );
}
