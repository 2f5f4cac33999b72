import type { HttpRequest, HttpResponse, KubeObject, Transport } from '@openstack-operator/kube';
import { type Mutant, targetOf } from './mutant.ts';
import { changedAt, type Path } from './text-edits.ts';

/** What the operator has written, by kind and name: the last of each. */
export type Written = Map<string, KubeObject>;

/** Notes the objects that pass on their way to the API server. */
export function noting(transport: Transport, written: Written): Transport {
  return {
    request(request, signal) {
      const object = writtenBy(request);
      if (object !== undefined) {
        const generated = request.method === 'POST' && object.kind === 'Secret';
        const { kind, name } = targetOf(object);
        const known = written.get(`${kind} ${name}`);
        if (known?.['generated'] !== true)
          written.set(`${kind} ${name}`, generated ? { ...object, generated } : object);
      }
      return transport.request(request, signal);
    },
    close: () => transport.close(),
  };
}

/**
 * A wire that lies: one object arrives changed at the API server, and the operator reads it back as it wrote it. So it
 * is as if compose had made the mistake, without touching compose. `hits` counts the writes that were changed.
 */
export function lying(transport: Transport, { target, lie }: Mutant, told: { hits: number }): Transport {
  const isTarget = (object: KubeObject) => {
    const { kind, name } = targetOf(object);
    return kind === target.kind && name === target.name;
  };
  /** Full name -> what the operator meant to be at the path, and whether it was left out. */
  const meant = new Map<string, { value: unknown; leftOut: boolean }>();
  const restore = (object: KubeObject): KubeObject => {
    // What a resource of ours says is read by the operator itself: there the mistake is to take effect.
    if (!isTarget(object) || object.apiVersion?.startsWith('openstack.k8s.io/')) return object;
    const name = object.metadata.name ?? '';
    const original = meant.get(name);
    const right = original === undefined ? object : (putBack(object, lie.path, original) as KubeObject);
    return lie.pretend === undefined ? right : lie.pretend(right);
  };
  const falsified = (request: HttpRequest): HttpRequest => {
    const object = writtenBy(request);
    if (object === undefined || !isTarget(object)) return request;
    const changed = changedAt(object, lie.path, lie.change);
    if (JSON.stringify(changed) === JSON.stringify(object)) return request;
    const value = valueAt(object, lie.path);
    meant.set(object.metadata.name ?? '', { value, leftOut: lie.change(value) === undefined });
    told.hits++;
    return { ...request, body: JSON.stringify(changed) };
  };
  const plural = `/${target.kind.toLowerCase()}`;
  return {
    async request(request, signal) {
      const response = await transport.request(falsified(request), signal);
      return request.path.includes(plural.replace(/y$/, '')) ? restored(response, restore) : response;
    },
    close: () => transport.close(),
  };
}

/** The whole object that a request writes: created, applied or replaced, but no status. */
function writtenBy({ method, path, body }: HttpRequest): KubeObject | undefined {
  if (typeof body !== 'string' || !['POST', 'PATCH', 'PUT'].includes(method)) return undefined;
  if (/\/(status|eviction|scale)(\?|$)/.test(path)) return undefined;
  const object = JSON.parse(body) as Partial<KubeObject>;
  return object.kind === undefined || object.metadata?.name === undefined || object.kind === 'Event'
    ? undefined
    : (object as KubeObject);
}

/** Objects, lists and watch events, with each object adjusted. Lines may be cut anywhere. */
function restored(response: HttpResponse, restore: (object: KubeObject) => KubeObject): HttpResponse {
  const put = (value: unknown): unknown => {
    const { items, object, kind, metadata } = value as {
      items?: KubeObject[];
      object?: KubeObject;
      kind?: string;
      metadata?: { name?: string };
    };
    if (items !== undefined && items !== null) {
      const itemKind = kind?.replace(/List$/, '') ?? '';
      return {
        ...(value as object),
        items: items.map((item) => restore({ ...item, kind: item.kind ?? itemKind })),
      };
    }
    if (object?.metadata?.name !== undefined) return { ...(value as object), object: restore(object) };
    return metadata?.name === undefined ? value : restore(value as KubeObject);
  };
  const line = (text: string) => (text.trim() === '' ? text : JSON.stringify(put(JSON.parse(text))));
  return { ...response, body: lines(response.body, line) };
}

async function* lines(body: AsyncIterable<Uint8Array>, map: (line: string) => string): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  for await (const chunk of body) {
    const [...whole] = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = whole.pop() ?? '';
    if (whole.length > 0) yield encoder.encode(whole.map((line) => `${map(line)}\n`).join(''));
  }
  if (rest !== '') yield encoder.encode(map(rest));
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Record<string | number, unknown> | undefined)?.[step], value);
}

/** A copy with that value at the path again; where not even its parent is there, nothing is. */
function putBack(object: unknown, path: Path, { value, leftOut }: { value: unknown; leftOut: boolean }): unknown {
  const parent = path.slice(0, -1);
  const last = path.at(-1);
  if (last === undefined) return value;
  const holder = valueAt(object, parent);
  if (typeof holder !== 'object' || holder === null) return object;
  return changedAt(object, parent, (found) => {
    if (Array.isArray(found)) return found.toSpliced(Number(last), leftOut ? 0 : 1, value);
    const { [last]: _old, ...others } = found as Record<string, unknown>;
    return value === undefined ? others : { ...others, [last]: value };
  });
}
