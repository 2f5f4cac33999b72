import { appended, type Edit, otherValue, partEdits, valueEdits, without } from './value-edits.ts';

/** Everything that can be wrong in a file, judged by its name and its look: an ini file, JSON, SQL, a script, a plain value. */
export function textEdits(name: string, text: string): Edit[] {
  if (name.endsWith('.json')) return jsonEdits(JSON.parse(text));
  if (name.endsWith('.sql')) return lineEdits(text, sqlEdits);
  if (name.endsWith('.sh')) return lineEdits(text, scriptEdits);
  if (/\.(conf|ini|cnf)$/.test(name)) return iniEdits(text, strict.has(name));
  if (text.trim().includes('\n')) return lineEdits(text, (line) => [dropped, ...partEdits(line)]);
  return valueEdits(text);
}

/**
 * Files in which a misspelt option is another mistake than a missing one: their programs refuse what they do not know.
 * oslo.config and uwsgi ignore it, so that it is the same; keystone.conf is among these to prove that.
 */
const strict = new Set(['my.cnf', 'client.cnf', 'rabbitmq.conf', 'keystone.conf']);

const dropped: Edit = { what: 'left out', apply: () => undefined };

/** `[section]` and `option = value` (`option: value`, `option` alone). */
function iniEdits(text: string, misspell: boolean): Edit[] {
  let section = '';
  return lineEdits(text, (line) => {
    const header = /^\[(.+)\]\s*$/.exec(line);
    if (header !== null) {
      section = `[${header[1]}] `;
      return [{ what: `[${header[1]}]: section misspelt`, apply: (text) => text.replace(']', 'x]') }];
    }
    const [, option = '', equals = '', value = ''] = /^\s*([^=:\s]+)(\s*[=:]\s*)?(.*)$/.exec(line) ?? [];
    const title = (what: string) => `${section}${option}: ${what}`;
    const set = (change: (value: string) => string | undefined) => (text: string) => {
      const start = text.indexOf(equals, option.length) + equals.length;
      return text.slice(0, start) + (change(text.slice(start)) ?? '');
    };
    return [
      { what: title('left out'), apply: () => undefined },
      ...(misspell ? [{ what: title('misspelt'), apply: (text: string) => text.replace(option, `${option}x`) }] : []),
      ...(value === '' ? [] : valueEdits(value).map(({ what, apply }) => ({ what: title(what), apply: set(apply) }))),
    ];
  });
}

/** Statements that are left out; users, databases and hosts of accounts that are others. */
function sqlEdits(line: string): Edit[] {
  const names: Edit[] = [...line.matchAll(/`([^`]+)`|'([^']+)'(?=@)|(?<=@)'([^']+)'/g)].map((match) => ({
    what: `other name than ${match[0]}`,
    apply: (text) => text.replace(match[0], appended(match[0].slice(0, -1)) + match[0].slice(-1)),
  }));
  const password: Edit[] = /IDENTIFIED BY (PASSWORD )?'/.test(line)
    ? [{ what: 'other password', apply: (text) => text.replace(/.';$/, (end) => (end === "0';" ? "1';" : "0';")) }]
    : [];
  return titled(line.replace(/IDENTIFIED BY (PASSWORD )?'.*'/, "IDENTIFIED BY '...'"), [
    dropped,
    ...names,
    ...password,
  ]);
}

/** Lines that are left out, and hosts and ports in them; what only opens or closes a block is no instruction. */
function scriptEdits(line: string): Edit[] {
  if (/^\s*(fi|done|else|esac|do|then|END|\)|;;)\s*$/.test(line)) return [];
  return titled(line.trim(), [dropped, ...partEdits(line)]);
}

function titled(title: string, edits: readonly Edit[]): Edit[] {
  const short = title.length > 100 ? `${title.slice(0, 97)}...` : title;
  return edits.map(({ what, apply }) => ({ what: `${short}: ${what}`, apply }));
}

/** Edits of single lines as edits of the text; comments and empty lines are left out. Lines are known by their number. */
function lineEdits(text: string, editsOf: (line: string) => readonly Edit[]): Edit[] {
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*([#;]|$)/.test(line)) return [];
    return editsOf(line).map(({ what, apply }) => ({
      what,
      apply: (whole: string) => {
        const lines = whole.split('\n');
        const changed = apply(lines[index] ?? '');
        return (changed === undefined ? without(lines, index) : lines.with(index, changed)).join('\n');
      },
    }));
  });
}

/** Every value of a JSON document that is another one, every field and element that is missing. */
function jsonEdits(document: unknown): Edit[] {
  return treeEdits(document).map(({ title, path, change }) => ({
    what: title,
    apply: (text) => `${JSON.stringify(changedAt(JSON.parse(text), path, change), null, 2)}\n`,
  }));
}

/** One place of a tree, and what becomes of it; undefined: it is left out. */
export interface TreeEdit {
  readonly title: string;
  readonly path: Path;
  readonly change: (value: unknown) => unknown;
}

/** Where something stands in a JSON value. */
export type Path = readonly (string | number)[];

function treeEdits(value: unknown, path: Path = []): TreeEdit[] {
  const title = shown(path);
  const leftOut: TreeEdit[] = path.length === 0 ? [] : [{ title: `${title}: left out`, path, change: () => undefined }];
  // Texts for people.
  if (path.at(-1) === 'description') return [];
  if (Array.isArray(value)) return value.flatMap((element, index) => treeEdits(element, [...path, index]));
  if (typeof value === 'object' && value !== null) {
    const inner = Object.entries(value).flatMap(([key, field]) => treeEdits(field, [...path, key]));
    return typeof path.at(-1) === 'number' ? [...leftOut, ...inner] : inner;
  }
  const edits = typeof value === 'string' ? valueEdits(value) : [{ what: 'other value', apply: otherValue }];
  return [
    ...leftOut,
    ...edits.map(({ what, apply }) => ({
      title: `${title}: ${what}`,
      path,
      change: (found: unknown) =>
        typeof found === 'string' ? apply(found) : JSON.parse(apply(String(found)) ?? 'null'),
    })),
  ];
}

/** `spec.containers[0].name`. */
export function shown(path: Path): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');
}

/** A copy in which what stands at a path is changed; undefined takes it out. A path that is not there changes nothing. */
export function changedAt(value: unknown, path: Path, change: (value: unknown) => unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return change(value);
  if (Array.isArray(value)) {
    const index = Number(step);
    if (index >= value.length) return value;
    const inner = changedAt(value[index], rest, change);
    return inner === undefined ? without(value, index) : value.with(index, inner);
  }
  if (typeof value !== 'object' || value === null || !(step in value)) return value;
  const fields = value as Record<string, unknown>;
  const inner = changedAt(fields[step], rest, change);
  if (inner !== undefined) return { ...fields, [step]: inner };
  const { [step]: _left, ...others } = fields;
  return others;
}
