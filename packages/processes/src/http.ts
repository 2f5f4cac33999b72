import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';

/** A JSON answer. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

/** A plain text answer. */
export function plain(status: number, body: string): HttpReply {
  return { status, headers: { 'content-type': 'text/plain; charset=UTF-8' }, body };
}

/** A header's value; names are compared without case. */
export function headerOf(
  message: { readonly headers?: Readonly<Record<string, string>> },
  name: string,
): string | undefined {
  const wanted = name.toLowerCase();
  return Object.entries(message.headers ?? {}).find(([key]) => key.toLowerCase() === wanted)?.[1];
}

/** Path without query, and the query. */
export function locationOf(message: HttpMessage): { path: string; query: URLSearchParams } {
  const [path = '', query = ''] = message.path.split(/\?(.*)/s);
  return { path: path.replace(/(?<=.)\/+$/, ''), query: new URLSearchParams(query) };
}

/** The URL under which the client sees the service, from the scheme and the Host header. */
export function selfUrl(message: HttpMessage): string {
  return `${message.scheme ?? 'http'}://${headerOf(message, 'host') ?? 'localhost'}`;
}

/** The JSON object in a body, none for an empty one; undefined for what is no JSON. */
export function bodyOf({ body }: HttpMessage): Record<string, unknown> | undefined {
  try {
    return JSON.parse(body || '{}') as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
