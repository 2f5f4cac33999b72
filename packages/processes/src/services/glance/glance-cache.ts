import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { CommandContext, ServiceProgram } from '../../model/program.ts';
import { Database } from '../../oslo/database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { makeDirectories } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

/** Runs something in the API's database. */
type Store = <T>(run: (schema: Schema) => T) => Promise<T>;

/** Copies of images in `image_cache_dir`, of which the database knows by `worker_self_reference_url` (the driver centralized_db). */
export interface ImageCache {
  /** A copy, which counts as used then. */
  read(store: Store, id: string): Promise<string | undefined>;
  write(store: Store, id: string, data: string): Promise<void>;
  remove(store: Store, id: string): Promise<void>;
  /** Removes what was used longest ago, until what is left has room (glance.image_cache, `prune`). */
  prune(store: Store): Promise<void>;
}

/** The cache of a process that the filter `cache` is in the pipeline of. @throws PythonError without a directory */
export function openCache({ process, config }: ServiceContext): ImageCache {
  const directory = config.text('DEFAULT', 'image_cache_dir');
  if (directory === '')
    throw new PythonError(
      'BadDriverConfiguration',
      'Driver glance.image_cache.drivers.sqlite could not be configured correctly. Reason: Failed to read image_cache_dir from config',
    );
  if (config.text('DEFAULT', 'image_cache_driver') !== 'centralized_db')
    throw new PythonError('NotImplementedError', 'no model knows another image_cache_driver than centralized_db');
  makeDirectories(process, directory);
  const node = config.text('DEFAULT', 'worker_self_reference_url');
  const path = (id: string): string => `${directory}/${id}`;
  const rows = (schema: Schema): Map<string, Row> => tableOf(schema, 'cached_images');
  const remove = async (store: Store, id: string): Promise<void> => {
    if (process.files.exists(path(id))) process.files.remove(path(id));
    await store((schema) => rows(schema).delete(`${node} ${id}`));
  };
  return {
    read: async (store, id) => {
      if (!process.files.exists(path(id))) return undefined;
      const used = process.clock.now();
      await store((schema) => Object.assign(rows(schema).get(`${node} ${id}`) ?? {}, { used }));
      return process.files.read(path(id));
    },
    write: async (store, id, data) => {
      if (node === '')
        throw new PythonError('glance.common.exception.NotFound', 'The node reference None could not be found.');
      process.files.write(path(id), data);
      const row = { id: `${node} ${id}`, node, image: id, used: process.clock.now() };
      await store((schema) => rows(schema).set(row.id, row));
    },
    remove,
    prune: async (store) => {
      const most = config.integer('DEFAULT', 'image_cache_max_size');
      const sizeOf = (id: string): number => (process.files.exists(path(id)) ? process.files.read(path(id)).length : 0);
      let size = process.files.list(directory).reduce((sum, id) => sum + sizeOf(id), 0);
      const known = await store((schema) => [...rows(schema).values()].filter((row) => row['node'] === node));
      for (const { image } of known.toSorted((one, other) => Number(one['used']) - Number(other['used']))) {
        if (size <= most) return;
        const id = String(image);
        size -= sizeOf(id);
        await remove(store, id);
      }
    },
  };
}

const program = (run: (context: CommandContext) => Promise<void>): ServiceProgram => ({
  takes: startTimes.glanceManage.start,
  files: ['glance-api', 'glance-cache'],
  run: async (context) => {
    await run(context);
    return 0;
  },
});

/** Programs that see after the cache: they have to run where its files are. */
export const cachePrograms = {
  'glance-cache-pruner': program((context) => {
    const database = new Database(context);
    return openCache(context).prune((run) => database.transaction('DELETE', run));
  }),
  // It removes what was fetched halfway: here nothing is.
  'glance-cache-cleaner': program((context) => Promise.resolve(void openCache(context))),
};
