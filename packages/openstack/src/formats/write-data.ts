import { Document, Scalar, visit } from 'yaml';
import { referencesIn, withFilter } from '../oslo/references.ts';
import { type Data, isMap } from './data.ts';

/** What a file of data is written as. `python`: settings of Django, one assignment for each key. */
export type Format = 'yaml' | 'json' | 'ini' | 'python';

/**
 * A file of data as text, keys by name. References to Secrets stay in it: their values are encoded for the place where they
 * are put.
 * @throws Error when the format has no way to say it; the message names where
 */
export function writeData(format: Format, data: Data): string {
  switch (format) {
    case 'yaml':
      return yaml(data);
    case 'json':
      return `${JSON.stringify(escaped(sorted(data)), undefined, 2)}\n`;
    case 'ini':
      return ini(data);
    case 'python':
      return python(data);
  }
}

/** The data with their keys by name: the same data are the same file. */
function sorted(data: Data): Data {
  if (Array.isArray(data)) return data.map(sorted);
  if (!isMap(data)) return data;
  const entries = Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, value]) => [key, sorted(value)]));
}

/** Texts that stand between double quotes, with what their references will come to escaped as JSON has it. */
function escaped(data: Data): Data {
  if (typeof data === 'string') return withFilter(data, 'quoted');
  if (Array.isArray(data)) return data.map(escaped);
  return isMap(data) ? Object.fromEntries(Object.entries(data).map(([key, value]) => [key, escaped(value)])) : data;
}

function yaml(data: Data): string {
  const document = new Document(escaped(sorted(data)), { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      // Other styles know no escapes.
      if (typeof node.value === 'string' && referencesIn(node.value).length > 0) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** As Python's configparser reads it; `%` is as it is: some programs interpolate it, and others do not. */
function ini(data: Data): string {
  if (!isMap(data)) throw new Error('expected sections');
  return Object.entries(sorted(data) as typeof data)
    .map(([section, options]) => {
      if (!isMap(options)) throw new Error(`${section}: expected the options of a section`);
      if (!/^[^\]\n\r]+$/.test(section))
        throw new Error(`${section}: a section name may hold neither "]" nor a line break`);
      return `[${section}]\n${Object.entries(options)
        .map(([name, value]) => `${name} = ${iniValue(`${section}.${name}`, name, value)}\n`)
        .join('')}`;
    })
    .join('\n');
}

function iniValue(path: string, name: string, value: Data): string {
  if (!/^[^\s=:[#;][^=:\n\r]*$/.test(name)) throw new Error(`${path}: not the name of an option`);
  if (typeof value === 'object') throw new Error(`${path}: expected a text, a number, true or false`);
  if (/[\n\r]/.test(String(value))) throw new Error(`${path}: a value may not hold a line break`);
  return String(value);
}

function python(data: Data): string {
  if (!isMap(data)) throw new Error('expected names of settings');
  return Object.entries(sorted(data) as typeof data)
    .map(([name, value]) => {
      if (!/^[A-Za-z_]\w*$/.test(name)) throw new Error(`${name}: not the name of a setting`);
      return `${name} = ${literal(value)}\n`;
    })
    .join('');
}

/** A literal of Python. Its texts have the escapes of JSON, but for those of surrogates, which JSON.stringify pairs. */
function literal(value: Data): string {
  if (typeof value === 'string') return JSON.stringify(withFilter(value, 'quoted'));
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (isMap(value))
    return `{${Object.entries(value)
      .map(([key, inner]) => `${JSON.stringify(key)}: ${literal(inner)}`)
      .join(', ')}}`;
  return value === null ? 'None' : `[${value.map(literal).join(', ')}]`;
}
