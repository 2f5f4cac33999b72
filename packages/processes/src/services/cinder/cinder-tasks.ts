import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Database } from '../../oslo/database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { connectionOf } from './cinder-drivers.ts';
import { type Filling, failed, fill, fillImage, type OfImage } from './cinder-images.ts';
import { withdraw } from './cinder-lvm.ts';
import { saveVolume, statusByAttachments } from './cinder-store.ts';

/** A backend's process, and what it works with. */
export interface Work extends Filling {
  /** Of its service. */
  readonly host: string;
}

/** What a message is of. */
export interface Message {
  readonly volume: string;
  readonly snapshot?: string;
  readonly attachment?: string;
  readonly image?: OfImage;
  readonly size?: number;
  readonly connector?: Row;
}

/** What is done by a message. */
interface Task {
  /** Of whom it is, where others of the process clean up after it when it was cut off (`set_workers`). */
  readonly cleans?: 'volume' | 'snapshot';
  /** What is asked of others before anything is written down. */
  readonly before?: (work: Work, message: Message) => Promise<Row>;
  /** What is written down at the end, and answered to who calls. */
  readonly end: (schema: Schema, message: Message, found: Row) => unknown;
}

/** What the process of a backend does (cinder.volume.manager). */
const tasks: Readonly<Record<string, Task>> = {
  create_volume: {
    cleans: 'volume',
    before: filled,
    end: (schema, { volume }, found) => saveVolume(schema, volume, { status: 'available', ...found }),
  },
  delete_volume: { cleans: 'volume', end: (schema, { volume }) => tableOf(schema, 'volumes').delete(volume) },
  extend_volume: {
    end: (schema, { volume, size }) =>
      saveVolume(schema, volume, { status: tableOf(schema, 'volumes').get(volume)?.['previous_status'], size }),
  },
  copy_volume_to_image: {
    cleans: 'volume',
    before: uploaded,
    end: (schema, { volume }) => saveVolume(schema, volume, { status: statusByAttachments(schema, volume) }),
  },
  create_snapshot: {
    cleans: 'snapshot',
    end: (schema, { snapshot = '' }) =>
      void Object.assign(tableOf(schema, 'snapshots').get(snapshot) ?? {}, { status: 'available' }),
  },
  delete_snapshot: {
    cleans: 'snapshot',
    end: (schema, { snapshot = '' }) => tableOf(schema, 'snapshots').delete(snapshot),
  },
  // A call: who asks waits for how the volume is reached.
  attachment_update: {
    before: ({ context, backend }, { volume, connector = {} }) => connectionOf(context, backend, volume, connector),
    end(schema, { volume, attachment = '', connector = {} }, found) {
      const { host, mountpoint } = connector;
      const change = { attach_status: 'attaching', attached_host: host, mountpoint };
      Object.assign(tableOf(schema, 'volume_attachment').get(attachment) ?? {}, change);
      saveVolume(schema, volume, { status: 'attaching' });
      return found;
    },
  },
  attachment_delete: {
    async before(work, { volume }) {
      await withdraw(work, volume);
      return {};
    },
    end: () => undefined,
  },
};

async function filled(work: Work, { volume, image }: Message): Promise<Row> {
  if (image === undefined) return {};
  try {
    await work.database.transaction('UPDATE', (schema) => saveVolume(schema, volume, { status: 'downloading' }));
    await fill(work, volume, image);
    return { bootable: 'true', volume_image_metadata: { image_id: image.id } };
  } catch (error) {
    return failed(work.context, volume, error);
  }
}

/** An image that cannot be filled stays queued; the volume is as before. */
async function uploaded({ context }: Work, { volume, image }: Message): Promise<Row> {
  try {
    if (image !== undefined) await fillImage(context, image, volume);
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    context.log.exception('cinder.volume.manager', `Upload volume to image encountered an error`, error);
  }
  return {};
}

/** Does what a message asks for; until that is done, a row says who is at it. @throws PythonError */
export async function runTask({ ...work }: Work, method: string, message: Message): Promise<unknown> {
  const { context, database, host } = work;
  const task = tasks[method];
  if (task === undefined) throw new PythonError('NotImplementedError', `no model knows ${method}`);
  const { cleans, before, end } = task;
  const id = cleans === undefined ? undefined : String(message[cleans]);
  if (id !== undefined) await mark(database, (rows) => rows.set(id, { resource_id: id, resource_type: cleans, host }));
  await pause(context.process, startTimes.cinderVolume);
  const found = (await before?.(work, message)) ?? {};
  const answer = await database.transaction('UPDATE', (schema) => {
    if (id !== undefined) tableOf(schema, 'workers').delete(id);
    return end(schema, message, found);
  });
  context.log.info('cinder.volume.manager', `${method} of ${id ?? message.volume} on ${host} completed successfully.`);
  return answer;
}

function mark(database: Database, change: (rows: Map<string, Row>) => unknown): Promise<unknown> {
  return database.transaction('INSERT', (schema) => change(tableOf(schema, 'workers')));
}

/**
 * What a process that was killed had begun: what was made is in error, what was deleted goes, what was read is as it was
 * (cinder.volume.manager.VolumeManager._do_cleanup). Attachments and volumes that grew stay as they are.
 */
export async function cleanUp({ database, host }: Work): Promise<void> {
  await database.transaction('UPDATE', (schema) => {
    for (const { resource_id: id, resource_type: type } of rowsOf(schema, 'workers', { host })) {
      const row = tableOf(schema, `${String(type)}s`).get(String(id)) ?? {};
      if (['creating', 'downloading'].includes(String(row['status']))) row['status'] = 'error';
      if (row['status'] === 'uploading') row['status'] = statusByAttachments(schema, String(id));
      if (row['status'] === 'deleting' && type === 'volume') tableOf(schema, 'volumes').delete(String(id));
      tableOf(schema, 'workers').delete(String(id));
    }
  });
}
