import { type HttpMessage, type HttpReply, type Process, SystemError } from '@openstack-operator/sandbox';
import { plain } from '../../http.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import type { GlanceStores } from './glance-store.ts';

/** An image's data, in the default store: read, or written down. */
export function imageData(process: Process, stores: GlanceStores, row: Row, request: HttpMessage): HttpReply {
  if (request.method === 'GET') {
    const { location, data } = row as { location?: string; data?: string };
    if (data !== undefined) return plain(200, data);
    return location === undefined ? { status: 204 } : plain(200, process.files.read(location));
  }
  const place = stores.place(stores.fallback);
  if (place === undefined)
    return plain(410, '410 Gone: Error in store configuration. Adding images to store is disabled.');
  if (place === 'cluster') {
    Object.assign(row, { status: 'active', size: request.body.length, data: request.body });
    return { status: 204 };
  }
  const location = `${place.directory}/${String(row['id'])}`;
  try {
    process.files.write(location, request.body, { mode: 0o640 });
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return error.code === 'ENOSPC'
      ? plain(413, '413 Request Entity Too Large: Image storage media is full')
      : plain(503, '503 Service Unavailable: Insufficient permissions on image storage media');
  }
  Object.assign(row, { status: 'active', size: request.body.length, location });
  return { status: 204 };
}
