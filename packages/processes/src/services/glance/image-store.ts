import type { HttpReply } from '@openstack-operator/sandbox';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import type { Log } from '../../oslo/log.ts';

/** Where data of images are. */
export interface ImageStore {
  /** How its locations begin, unless these are paths. */
  readonly scheme?: 'swift+config';
  /** Keeps an image's data, and gives the columns that say where: a location. @throws StoreFault, PythonError */
  add(id: string, data: string): Promise<Row>;
  /** The data of an image. @throws PythonError */
  read(location: Row): Promise<string>;
  /** Removes an image's data. @throws PythonError */
  remove(location: Row): Promise<void>;
}

/** A store takes no data, and the API has an answer to that. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
  readonly reply: HttpReply;

  constructor(reply: HttpReply) {
    super(reply.body ?? '');
    this.reply = reply;
  }
}

/** A store that is not configured well only loses its add method (glance_store.driver, `configure`). */
export function disabled(log: Log, reason: string): undefined {
  log.warning('glance_store.driver', `Failed to configure store correctly: ${reason} Disabling add method.`);
  return undefined;
}

/** Where the data of an image are: in each location's `store`, what that store's columns say. */
export const locationsOf = (image: Row): readonly Row[] => (image['locations'] ?? []) as readonly Row[];
