import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { resolveReferences, secretReference } from '../oslo/references.ts';
import type { Data, DataMap } from './data.ts';
import { writeData } from './write-data.ts';

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/).filter((key) => !(key in Object.prototype));
const { data } = fc.letrec<{ data: Data }>((tie) => ({
  data: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('data'), { maxLength: 3 }),
    fc.dictionary(name, tie('data'), { maxKeys: 3 }),
  ) as fc.Arbitrary<Data>,
}));
const map = fc.dictionary(name, data, { maxKeys: 4 }) as fc.Arbitrary<DataMap>;

test('YAML and JSON are read back as they were said', () => {
  fc.assert(
    fc.property(data, (data) => {
      expect(parse(writeData('yaml', data))).toEqual(data);
      expect(JSON.parse(writeData('json', data))).toEqual(data);
    }),
  );
});

test('Python reads settings back as they were said', () => {
  const samples = fc.sample(map, { numRuns: 50, seed: 1 });
  const program =
    'import json, sys\nfor text in json.load(sys.stdin):\n  names = {}\n  exec(text, {"__builtins__": {}}, names)\n  print(json.dumps(names))';
  const input = JSON.stringify(samples.map((sample) => writeData('python', sample)));
  const lines = execFileSync('python3', ['-c', program], { input, encoding: 'utf8' }).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(samples);
});

test.each(['yaml', 'json', 'python'] as const)('in %s a secret is a text of its own, whatever it holds', (format) => {
  const text = writeData(format, { KEY: `x ${secretReference('s', 'k')}`, other: 1 });
  const value = 'a"b\\c\nd: #';
  const resolved = resolveReferences(text, () => value);
  if (format === 'python') expect(resolved).toContain(`KEY = ${JSON.stringify(`x ${value}`)}\n`);
  else expect(parse(resolved)).toEqual({ KEY: `x ${value}`, other: 1 });
});

test('an ini file has sections, by name', () => {
  expect(writeData('ini', { pipeline: { z: true, a: 'x y' }, DEFAULT: { port: 1 } })).toBe(
    '[DEFAULT]\nport = 1\n\n[pipeline]\na = x y\nz = true\n',
  );
});

test.each([
  ['ini', { a: 1 }, 'a: expected the options of a section'],
  ['ini', { a: { b: ['x'] } }, 'a.b: expected a text, a number, true or false'],
  ['ini', { a: { b: 'x\ny' } }, 'a.b: a value may not hold a line break'],
  ['ini', { a: { 'b = c': 'x' } }, 'a.b = c: not the name of an option'],
  ['python', { 'import os': 1 }, 'import os: not the name of a setting'],
  ['python', ['x'], 'expected names of settings'],
] as const)('as %s %j is refused', (format, data, message) => {
  expect(() => writeData(format, data)).toThrow(message);
});
