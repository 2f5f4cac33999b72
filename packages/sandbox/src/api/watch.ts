import { ConnectionError, type KubeObject, type StoredObject, type Timer } from '@openstack-operator/kube';
import { ByteStream } from './byte-stream.ts';
import { type Core, inVersion } from './core.ts';
import type { Faults } from './faults.ts';
import { checkWatchOptions, numberOf, parseVersion, selectionOf, tooLarge } from './list.ts';
import type { Wanted } from './negotiation.ts';
import type { ServedType } from './registry.ts';
import { type IncludeObject, representObject } from './representation.ts';
import { isTrue, type RequestInfo } from './request-info.ts';
import { StatusError } from './status.ts';
import type { StoreEvent } from './store.ts';

/** How long before the end of a watch a real server sends its version, in seconds. */
const LAST_BOOKMARK_S = 2;

/** How a watch is served. */
export interface WatchServing {
  readonly wanted: Wanted;
  readonly include: IncludeObject;
  readonly faults: Faults | undefined;
  /** Between two bookmarks. */
  readonly bookmarkMs: number;
}

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** GET with `watch=true`: the body never ends by itself, unless `timeoutSeconds` is given. @throws StatusError */
export function watch(core: Core, served: ServedType, info: RequestInfo, serving: WatchServing): ByteStream {
  const { query } = info;
  checkWatchOptions(query);
  const matches = selectionOf(served, info);
  const stream = new ByteStream();
  const asked = query.get('resourceVersion') ?? '';
  const streamsList = query.has('sendInitialEvents') && isTrue(query.get('sendInitialEvents'));
  const bookmarks = isTrue(query.get('allowWatchBookmarks'));
  const sender = eventSender(core, served, info, serving, stream);
  const from = asked === '' || asked === '0' ? 0 : parseVersion(asked, true);
  if (streamsList && from > core.store.version) throw tooLarge(from, core.store.version);

  const inScope = (object: KubeObject) =>
    !info.namespace || object.metadata.namespace === info.namespace || isNamespace(served);
  const passes = (object: KubeObject | undefined) => object !== undefined && inScope(object) && matches(object);
  const onEvent = (event: StoreEvent) => {
    if (event.version <= from && from > 0) return;
    const now = event.type !== 'DELETED' && passes(event.object);
    const before = passes(event.old);
    if (now) sender.send(before ? 'MODIFIED' : 'ADDED', event.object);
    else if (before && event.old) sender.send('DELETED', at(event.old, event.version));
  };

  if (streamsList || (from === 0 && !query.has('sendInitialEvents'))) {
    for (const object of core.store.list(served.id)) if (passes(object)) sender.send('ADDED', object);
    if (streamsList && bookmarks) sender.bookmark({ 'k8s.io/initial-events-end': 'true' });
  } else if (from > 0) {
    try {
      for (const event of core.store.since(served.id, from)) onEvent(event);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      sender.error(error);
      stream.close();
      return stream;
    }
  }
  const unsubscribe = core.store.subscribe(served.id, onEvent);
  stream.onEnd(unsubscribe);
  if (bookmarks) sendBookmarks(core, serving, stream, () => sender.bookmark());
  const timeout = numberOf(query, 'timeoutSeconds');
  if (timeout > 0) {
    const timer = core.clock.after(timeout * 1000, () => stream.close(), { ref: false });
    stream.onEnd(() => timer.cancel());
    // So that who goes on from here need not begin far back.
    if (bookmarks && timeout > LAST_BOOKMARK_S) {
      const last = core.clock.after((timeout - LAST_BOOKMARK_S) * 1000, () => sender.bookmark(), { ref: false });
      stream.onEnd(() => last.cancel());
    }
  }
  return stream;
}

function isNamespace(served: ServedType): boolean {
  return served.id === 'namespaces';
}

function sendBookmarks(core: Core, serving: WatchServing, stream: ByteStream, bookmark: () => void): void {
  let timer: Timer;
  const next = () => {
    timer = core.clock.after(
      serving.bookmarkMs,
      () => {
        bookmark();
        next();
      },
      { ref: false },
    );
  };
  next();
  stream.onEnd(() => timer.cancel());
}

function at(object: StoredObject, version: number): StoredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
}

/** Writes events, as faults allow. */
function eventSender(core: Core, served: ServedType, info: RequestInfo, serving: WatchServing, stream: ByteStream) {
  const { apiVersion, type } = served;
  let first = true;
  let hanging = false;
  const waiting: (() => void)[] = [];
  let timer: Timer | undefined;
  stream.onEnd(() => timer?.cancel());

  const line = (event: EventType, object: unknown) =>
    stream.write(() => `${JSON.stringify({ type: event, object })}\n`);
  const write = (event: EventType, object: KubeObject) => {
    line(event, representObject(object, served, serving.wanted, serving.include, core.clock, { noHeaders: !first }));
    first = false;
  };
  const drain = () => {
    timer = undefined;
    // An event that is sent may be delayed in its turn; the rest then waits for it.
    for (let send = waiting.shift(); send; send = timer ? undefined : waiting.shift()) send();
  };
  const emit = (event: EventType, object: KubeObject, resourceVersion: string) => {
    if (hanging || stream.closed) return;
    const fault = serving.faults?.event?.(info, { type: event, resourceVersion });
    switch (fault?.kind) {
      case undefined:
        return write(event, object);
      case 'drop':
        return undefined;
      case 'repeat':
        write(event, object);
        return write(event, object);
      case 'close':
        return stream.close();
      case 'break':
        return stream.close(new ConnectionError('ECONNRESET', 'the sandbox broke the connection of a watch'));
      case 'hang':
        hanging = true;
        return undefined;
      case 'status': {
        const { code, reason = 'InternalError', message = 'a fault was injected' } = fault;
        line('ERROR', new StatusError(code, reason, message).status);
        return stream.close();
      }
      case 'delay':
        timer = core.clock.after(fault.ms, () => {
          write(event, object);
          drain();
        });
        return undefined;
      default:
        return fault satisfies never;
    }
  };
  const later = (send: () => void) => {
    if (timer) waiting.push(send);
    else send();
  };
  return {
    send: (event: EventType, object: StoredObject) =>
      later(() => emit(event, inVersion(object, apiVersion), object.metadata.resourceVersion)),
    bookmark: (annotations?: Record<string, string>) =>
      later(() => {
        const resourceVersion = String(core.store.version);
        const metadata = { resourceVersion, ...(annotations && { annotations }) };
        const object = { kind: type.kind.kind, apiVersion, metadata } as unknown as KubeObject;
        if (serving.wanted.as === 'object') emit('BOOKMARK', object, resourceVersion);
        else emitBookmarkAs(object);
      }),
    error: (error: StatusError) => line('ERROR', error.status),
  };

  function emitBookmarkAs(object: KubeObject): void {
    if (serving.wanted.as !== 'Table') return emit('BOOKMARK', object, object.metadata.resourceVersion ?? '');
    // A row of a bare bookmark has no cells worth printing: the table is empty, its metadata says the version.
    const table = {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: object.metadata.resourceVersion },
      columnDefinitions: null,
      rows: [{ cells: [], object: { ...object, kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' } }],
    };
    if (!hanging && !stream.closed) line('BOOKMARK', table);
  }
}
