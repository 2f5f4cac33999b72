import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type JsonObject, object, word } from './json.ts';

const tools = join(import.meta.dirname, '../kubernetes');

/** GETs a path of the running API server. */
type Get = (path: string, accept?: string) => Promise<JsonObject>;

/** Lends a real API server of its own, which ends afterwards. */
export async function withServer<T>(use: (get: Get) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'builtin-schemas-'));
  execFileSync(join(tools, 'up'), ['--api-only', '--dir', directory], { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    const read = (file: string) => readFileSync(join(directory, file));
    const [, port] = /server: https:\/\/127\.0\.0\.1:(\d+)/.exec(read('kubeconfig').toString()) ?? [];
    const tls = { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key'), host: '127.0.0.1', port };
    return await use(async (path, accept = 'application/json') => {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        get({ ...tls, path: `/${path}`, headers: { accept }, agent: false }, resolve).on('error', reject);
      });
      return JSON.parse(await text(response)) as JsonObject;
    });
  } finally {
    execFileSync(join(tools, 'down'), ['--dir', directory], { stdio: 'ignore' });
  }
}

/** What the server says of these kinds of a group version in discovery, and in the heads of their tables. */
export async function describeKinds(
  get: Get,
  path: string,
  kinds: readonly string[],
): Promise<Record<string, JsonObject>> {
  const list = await get(path);
  const resources = (Array.isArray(list.resources) ? list.resources : []).map(object);
  const result: Record<string, JsonObject> = {};
  for (const resource of resources) {
    const { name, kind, singularName, namespaced, verbs, shortNames = [], categories = [] } = resource;
    if (word(name).includes('/') || !kinds.includes(word(kind)) || !Array.isArray(verbs)) continue;
    const subresources = resources
      .map((other) => word(other.name))
      .filter((other) => other.startsWith(`${word(name)}/`))
      .map((other) => other.slice(word(name).length + 1));
    const table = verbs.includes('list')
      ? await get(`${path}/${word(name)}`, 'application/json;as=Table;g=meta.k8s.io;v=v1')
      : {};
    result[`${path.replace(/^apis?\//, '')}/${word(kind)}`] = {
      plural: name ?? '',
      singular: singularName ?? '',
      namespaced: namespaced ?? false,
      shortNames,
      categories,
      verbs,
      subresources,
      columns: table.columnDefinitions ?? [],
    };
  }
  return result;
}
