import { expect, test } from 'vitest';
import type { Data } from '../../formats/data.ts';
import type { DataSource } from '../vocabulary/config-files.ts';
import { userData } from './user-data.ts';

const source: DataSource = {
  format: 'yaml',
  data: { DATABASES: { default: { HOST: 'db' } }, DEBUG: false },
  owned: { 'DATABASES.default': 'spec.databaseRef', '*.PORT': 'spec.port', 'CACHE:*': 'nothing: it is fixed' },
};
const deep = (levels: number): Data => (levels === 0 ? 1 : [deep(levels - 1)]);

test.each<[string, Data, string]>([
  ['what is owned', { DATABASES: { default: { HOST: 'x' } } }, '.DATABASES.default: this follows from other fields'],
  ['what is above it', { DATABASES: null }, '.DATABASES.default: this follows'],
  ['all of the file', [1], '.DATABASES.default: this follows'],
  [
    'what is owned wherever it stands',
    { OTHER: { PORT: 1 } },
    '.OTHER.PORT: this follows from other fields: set spec.port',
  ],
  [
    'what is owned by its beginning',
    { 'CACHE:x': { a: 1 } },
    '.CACHE:x: the operator sets this itself: it is fixed; remove',
  ],
  ['a name that objects have', JSON.parse('{"__proto__": {"a": 1}}'), '.__proto__: no key is named __proto__'],
  ['more than can be followed', deep(40), 'maps and lists may be 32 levels deep'],
])('%s is refused', (_, layer, message) => {
  const { problems, layer: taken } = userData(source, layer, 'spec.config["x"]');
  expect(problems.map((problem) => problem.message).join()).toContain(message);
  expect(taken).toBeUndefined();
});

test('what stands beside it is taken', () => {
  const layer = { DATABASES: { other: {} }, DEBUG: true, OTHER: null, PORT: 1, CACHE: 1 };
  expect(userData(source, layer, 'spec.config["x"]')).toEqual({ layer, problems: [] });
});
