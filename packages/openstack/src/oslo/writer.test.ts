import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type OsloFile, writeOsloFile } from './writer.ts';

/** Reads a file as oslo.config does (oslo_config/iniparser.py and cfg.py): values as text, `$$` is a dollar. */
function readOsloFile(text: string): Record<string, Record<string, string[]>> {
  const file: Record<string, Record<string, string[]>> = {};
  let section: Record<string, string[]> | undefined;
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const heading = /^\[(.*)\]$/.exec(line.trimEnd());
    if (heading !== null) {
      section = file[heading[1] ?? ''] ??= {};
      continue;
    }
    const at = line.search(/[=:]/);
    const name = line.slice(0, at).trim();
    const raw = line.slice(at + 1).trim();
    const bare = raw.length > 1 && raw[0] === raw.at(-1) && /^["']/.test(raw) ? raw.slice(1, -1) : raw;
    if (section === undefined) throw new Error(`an option outside of any section: ${line}`);
    (section[name] ??= []).push(bare.replaceAll('$$', '$'));
  }
  return file;
}

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,11}$/);
/** What Python's readline and strip take for the end of a line, or for a blank. */
const breaks = /[\n\r\u0085\u2028\u2029\v\f]|\p{Cc}/u;
const text = fc.string({ unit: 'grapheme', maxLength: 24 }).filter((value) => !breaks.test(value));
const value = fc.oneof(text, fc.integer(), fc.boolean(), fc.array(text, { minLength: 1, maxLength: 4 }));
const file = fc.dictionary(name, fc.dictionary(name, value, { minKeys: 1, maxKeys: 4 }), { maxKeys: 4 });

describe('writeOsloFile', () => {
  test('oslo.config reads back what was written', () => {
    fc.assert(
      fc.property(file, (file) => {
        const expected = Object.fromEntries(
          Object.entries(file).map(([section, options]) => [
            section,
            Object.fromEntries(
              Object.entries(options).map(([name, value]) => [name, Array.isArray(value) ? value : [String(value)]]),
            ),
          ]),
        );
        expect(readOsloFile(writeOsloFile(file as OsloFile))).toEqual(expected);
      }),
    );
  });

  test('DEFAULT comes first, the rest by name, whatever the order was', () => {
    const written = writeOsloFile({ b: { y: 1, x: true }, DEFAULT: { debug: false }, a: { z: ['1', '2'] } });
    expect(written).toBe('[DEFAULT]\ndebug = false\n\n[a]\nz = 1\nz = 2\n\n[b]\nx = true\ny = 1\n');
  });

  test.each([
    [{ DEFAULT: { option: 'two\nlines' } }, 'neither a line break'],
    [{ 'a]b': { option: '1' } }, 'section name'],
    [{ 'a\rb': { option: '1' } }, 'section name'],
    [{ 'a{{b': { option: '1' } }, 'section name'],
    [{ a: { option: 'x\u0085' } }, 'control character'],
    [{ DEFAULT: { 'an option': '1' } }, 'not the name of an option'],
  ])('%j is refused', (file, message) => {
    expect(() => writeOsloFile(file as OsloFile)).toThrow(message);
  });
});
