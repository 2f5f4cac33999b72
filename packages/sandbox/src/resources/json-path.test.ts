import { expect, test } from 'vitest';
import { compileJsonPath, printValues } from './json-path.ts';

const object = {
  metadata: { labels: { 'a.b/c': 'x' } },
  spec: {
    replicas: 3,
    ports: [
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', message: 'fine' },
      { type: 'Other', status: 'False' },
    ],
  },
};

test.each([
  ['.spec.replicas', [3]],
  ['.spec.nothing.more', []],
  [".metadata.labels['a.b/c']", ['x']],
  ['.metadata.labels.a\\.b/c', ['x']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type=='Ready')].message", ['fine']],
  ['.status.conditions[?(@.status!="True")].type', ['Other']],
  ['.status.conditions[?(@.message)].type', ['Ready']],
  ['.spec.ports[?(@.port>1)].name', ['b']],
  ['.spec.ports[0].name', ['a']],
  ['.spec.ports[-1].name', ['b']],
  ['.spec.ports[*].port', [1, 2]],
  ['.spec.ports[0:1].port', [1]],
  ['..port', [1, 2]],
])('%s finds %j', (path, found) => {
  expect(compileJsonPath(path)(object)).toEqual(found);
});

test.each(['.spec.ports[', '.spec.ports[x]', '.spec.ports[?(@.a ~ 1)]'])('%s is refused', (path) => {
  expect(() => compileJsonPath(path)).toThrow();
});

test('a text column shows texts bare and the rest as JSON', () => {
  expect(printValues(['a', { b: [1] }])).toBe('a {"b":[1]}');
});
