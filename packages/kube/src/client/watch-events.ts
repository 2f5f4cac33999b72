import { ApiError, ConnectionError } from '../objects/errors.ts';
import type { KubeObject, Status, StoredObject } from '../objects/objects.ts';
import type { WatchEvent } from './api.ts';

/** Marks the bookmark that ends the initial events of a streamed list (KEP-3157). */
const initialEventsEnd = 'k8s.io/initial-events-end';

/**
 * Makes one line of a watch an event.
 * @throws ApiError for an ERROR event; ConnectionError for what is no event
 */
export function parseWatchEvent<T extends KubeObject>(line: string, context: string): WatchEvent<T> {
  const { type, object } = parseLine(line, context);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: object as StoredObject<T> };
    case 'BOOKMARK': {
      const { resourceVersion = '', annotations } = (object as KubeObject).metadata;
      return { type, resourceVersion, initialEventsEnd: annotations?.[initialEventsEnd] === 'true' };
    }
    case 'ERROR':
      throw new ApiError(object as Status, context);
    default:
      throw new ConnectionError('EPROTO', `${context}: unknown watch event type ${JSON.stringify(type)}`);
  }
}

function parseLine(line: string, context: string): { type?: unknown; object?: unknown } {
  try {
    return JSON.parse(line) as { type?: unknown; object?: unknown };
  } catch (cause) {
    // A server that goes away may end the stream in the middle of a line.
    throw new ConnectionError('ECONNRESET', `${context}: the watch broke off in the middle of an event`, { cause });
  }
}
