import { type StoredObject, timestamp } from '@openstack-operator/kube';
import { ByteStream } from './byte-stream.ts';
import type { Core } from './core.ts';
import { isTrue, type RequestInfo } from './request-info.ts';
import type { Reply } from './resource-handler.ts';
import { badRequest, methodNotAllowed, notFound, notOffered } from './status.ts';

/** A request for lines of a container's log. */
export interface LogRequest {
  readonly pod: StoredObject;
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number;
  /** RFC 3339: only what was written at or after it. */
  readonly sinceTime?: string;
  readonly limitBytes?: number;
}

/**
 * Gives a container's log in pieces of text; goes on while followed. The call throws a `StatusError` (400) when there
 * is none: `container "x" in pod "y" is waiting to start: ContainerCreating`.
 */
export type LogSource = (request: LogRequest, signal: AbortSignal) => AsyncIterable<string>;

interface PodSpec {
  readonly containers?: readonly { readonly name: string }[];
  readonly initContainers?: readonly { readonly name: string }[];
}

/** GET of `pods/x/log`. @throws StatusError */
export function handleLog(core: Core, source: LogSource | undefined, info: RequestInfo, signal?: AbortSignal): Reply {
  const resource = { group: '', resource: 'pods' };
  if (info.verb !== 'get') throw methodNotAllowed();
  const pod = core.store.get('pods', `${info.namespace}/${info.name}`);
  if (!pod) throw notFound(resource, info.name);
  if (!source) throw notOffered('logs: no node runs in it');
  const { query } = info;
  const number = (name: string) => {
    const value = query.get(name);
    return value === null ? {} : { [name]: Number(value) };
  };
  const request: LogRequest = {
    pod,
    container: containerOf(pod, query.get('container') ?? ''),
    follow: isTrue(query.get('follow')),
    previous: isTrue(query.get('previous')),
    timestamps: isTrue(query.get('timestamps')),
    ...number('tailLines'),
    ...since(core, query),
    ...number('limitBytes'),
  };
  const stream = new ByteStream();
  const abort = new AbortController();
  signal?.addEventListener('abort', () => stream.close(), { once: true });
  stream.onEnd(() => abort.abort());
  copy(source(request, abort.signal), stream).catch((error: unknown) => stream.close(error as Error));
  return { status: 200, headers: { 'content-type': 'text/plain' }, body: stream };
}

function since({ clock }: Core, query: URLSearchParams): { sinceTime?: string } {
  const seconds = query.get('sinceSeconds');
  const sinceTime =
    seconds === null ? query.get('sinceTime') : timestamp({ now: () => clock.now() - Number(seconds) * 1000 });
  return sinceTime === null ? {} : { sinceTime };
}

async function copy(pieces: AsyncIterable<string>, stream: ByteStream): Promise<void> {
  for await (const piece of pieces) stream.write(piece);
  stream.close();
}

function containerOf(pod: StoredObject, asked: string): string {
  const { containers = [], initContainers = [] } = (pod['spec'] ?? {}) as PodSpec;
  const { name } = pod.metadata;
  const [first] = containers;
  if (asked !== '') {
    if ([...containers, ...initContainers].some((container) => container.name === asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  if (containers.length === 1 && first && initContainers.length === 0) return first.name;
  const annotated = pod.metadata.annotations?.['kubectl.kubernetes.io/default-container'];
  if (annotated) return annotated;
  const list = (names: readonly { readonly name: string }[]) => `[${names.map((one) => one.name).join(' ')}]`;
  const init = initContainers.length > 0 ? ` or one of the init containers: ${list(initContainers)}` : '';
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: ${list(containers)}${init}`);
}
