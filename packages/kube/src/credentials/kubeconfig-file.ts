import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { ConfigError } from '../objects/errors.ts';

/** One entry of a kubeconfig: a mapping, and where it stands. */
export interface Entry {
  readonly file: string;
  /** Such as `users[jane].exec`. */
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Several kubeconfig files as one: of entries with the same name, the first one counts. */
export interface Kubeconfig {
  /** For errors that are not about one file. */
  readonly files: readonly string[];
  readonly currentContext?: string;
  readonly contexts: ReadonlyMap<string, Entry>;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
}

/**
 * Reads kubeconfig files (YAML or JSON) and merges them as kubectl does.
 * @param options.skipMissing leaves out files that do not exist, unless none does
 * @throws ConfigError that names the file and the field
 */
export async function readKubeconfig(
  files: readonly string[],
  { skipMissing = false }: { skipMissing?: boolean } = {},
): Promise<Kubeconfig> {
  const contexts = new Map<string, Entry>();
  const clusters = new Map<string, Entry>();
  const users = new Map<string, Entry>();
  let currentContext: string | undefined;
  let found = 0;
  for (const file of files) {
    const root = await readRoot(file, skipMissing);
    if (root === undefined) continue;
    found += 1;
    currentContext ??= text(root, 'current-context');
    addEntries(contexts, root, 'contexts', 'context');
    addEntries(clusters, root, 'clusters', 'cluster');
    addEntries(users, root, 'users', 'user');
  }
  if (found === 0) {
    throw new ConfigError(`kubeconfig ${files.join(', ')}: no such file; name one that exists, or unset KUBECONFIG`);
  }
  return { files, ...(currentContext === undefined ? {} : { currentContext }), contexts, clusters, users };
}

/** Where a field is: for errors. */
export function whereIs({ file, path }: Entry, field: string): string {
  return `${file}: ${path === '' ? field : `${path}.${field}`}`;
}

/**
 * A text; undefined when absent or empty.
 * @throws ConfigError when it is something else
 */
export function text(entry: Entry, field: string): string | undefined {
  const value = entry.fields[field];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new ConfigError(`${whereIs(entry, field)}: ${JSON.stringify(value)}: expected a text; put it in quotes`);
}

/** A flag; false when absent. */
export function flag(entry: Entry, field: string): boolean {
  const value = entry.fields[field];
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw new ConfigError(`${whereIs(entry, field)}: ${JSON.stringify(value)}: expected true or false`);
}

/** A list of texts; empty when absent. */
export function texts(entry: Entry, field: string): string[] {
  const value = entry.fields[field];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new ConfigError(`${whereIs(entry, field)}: expected a list of texts; put each in quotes`);
}

/** A mapping; undefined when absent. */
export function mapping(entry: Entry, field: string): Entry | undefined {
  const value = entry.fields[field];
  if (value === undefined || value === null) return undefined;
  const path = entry.path === '' ? field : `${entry.path}.${field}`;
  return { file: entry.file, path, fields: fieldsOf(value, whereIs(entry, field)) };
}

/** A list of mappings; empty when absent. */
export function mappings(entry: Entry, field: string): Entry[] {
  const value = entry.fields[field];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ConfigError(`${whereIs(entry, field)}: expected a list`);
  const path = entry.path === '' ? field : `${entry.path}.${field}`;
  return value.map((item, index) => ({
    file: entry.file,
    path: `${path}[${index}]`,
    fields: fieldsOf(item, `${entry.file}: ${path}[${index}]`),
  }));
}

/** A path that stands in a kubeconfig is relative to that file. */
export function besides(entry: Entry, path: string): string {
  return isAbsolute(path) ? path : join(dirname(resolve(entry.file)), path);
}

async function readRoot(file: string, skipMissing: boolean): Promise<Entry | undefined> {
  let content: string;
  try {
    content = await readFile(file, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' && skipMissing) return undefined;
    throw new ConfigError(`kubeconfig ${file}: ${message}; name a file that exists and is readable`, { cause });
  }
  try {
    return { file, path: '', fields: fieldsOf(parse(content) ?? {}, file) };
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError(`kubeconfig ${file}: no YAML: ${(cause as Error).message}`, { cause });
  }
}

function addEntries(entries: Map<string, Entry>, root: Entry, list: string, field: string): void {
  for (const item of mappings(root, list)) {
    const name = text(item, 'name');
    if (name === undefined) throw new ConfigError(`${whereIs(item, 'name')}: expected the entry's name`);
    if (entries.has(name)) continue;
    const path = `${list}[${name}]`;
    entries.set(name, mapping({ ...item, path }, field) ?? { file: item.file, path: `${path}.${field}`, fields: {} });
  }
}

function fieldsOf(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ConfigError(`${where}: expected a mapping (field: value)`);
}
