import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A field of a Go struct as its declaration says. */
export interface GoField {
  readonly type: string;
  readonly options: readonly string[];
  /** Protobuf field numbers, outermost first: more than one where structs are embedded. */
  readonly numbers: readonly string[];
}

const moduleDirectories = new Map<string, string>();

function moduleDirectory(module: string): string {
  const known = moduleDirectories.get(module);
  if (known) return known;
  const options = { cwd: join(import.meta.dirname, '../kubernetes'), encoding: 'utf8' } as const;
  const directory = execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', module], options).trim();
  moduleDirectories.set(module, directory);
  return directory;
}

/** `io.k8s.api.apps.v1.Deployment` -> module, folder within it, package alias, type name. */
export function locate(definition: string): { module: string; folder: string; alias: string; name: string } {
  const parts = definition.split('.');
  const name = parts.pop() ?? '';
  const alias = parts.at(-1) ?? '';
  return { module: `k8s.io/${parts[2]}`, folder: parts.slice(3).join('/'), alias, name };
}

const packages = new Map<string, Map<string, Map<string, GoField>>>();

function structsOf(module: string, folder: string): Map<string, Map<string, GoField>> {
  const key = `${module}/${folder}`;
  const known = packages.get(key);
  if (known) return known;
  const structs = new Map<string, Map<string, GoField>>();
  const directory = join(moduleDirectory(module), folder);
  for (const file of readdirSync(directory).filter((name) => /^(.*_)?types(_.*)?\.go$/.test(name))) {
    let current: Map<string, GoField> | undefined;
    for (const line of readFileSync(join(directory, file), 'utf8').split('\n')) {
      const start = /^type (\w+) struct \{/.exec(line) ?? /^\t(\w+) struct \{/.exec(line);
      if (start?.[1]) structs.set(start[1], (current = new Map()));
      else if (line.startsWith('}')) current = undefined;
      const field = /^\t(?:(\w+)\s+)?([\w.*[\]]+)\s+`.*json:"([^"]*)"/.exec(line);
      if (!current || !field) continue;
      const [, , type = '', tag = ''] = field;
      const [json = '', ...options] = tag.split(',');
      const [, number] = /protobuf:"\w+,(\d+)/.exec(line) ?? [];
      current.set(json === '' ? `inline ${type}` : json, { type, options, numbers: number ? [number] : [] });
    }
  }
  packages.set(key, structs);
  return structs;
}

/** The struct's field of that JSON name, looked up through embedded structs. */
export function goField(definition: string, name: string): GoField {
  const { module, folder, name: struct } = locate(definition);
  const find = (structName: string): GoField | undefined => {
    const fields = structsOf(module, folder).get(structName);
    if (!fields) return undefined;
    const direct = fields.get(name);
    if (direct) return direct;
    for (const [key, { type, numbers }] of fields) {
      const found = key.startsWith('inline ') && !type.includes('.') ? find(type.replace('*', '')) : undefined;
      if (found) return { ...found, numbers: [...numbers, ...found.numbers] };
    }
    return undefined;
  };
  const found = find(struct);
  // TypeMeta is embedded from another package.
  if (!found && (name === 'kind' || name === 'apiVersion'))
    return { type: 'string', options: ['omitempty'], numbers: [] };
  if (!found) throw new Error(`${definition}: the Go struct ${struct} has no field ${name}`);
  return found;
}
