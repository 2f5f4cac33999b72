import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readFileObjects } from './read-resources.ts';

const scratch = mkdtempSync(join(tmpdir(), 'read-resources-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const path = join(scratch, 'cloud.yaml');
const objects = (text: string) => {
  writeFileSync(path, text);
  return readFileObjects(path);
};
const apiVersion = 'openstack.k8s.io/v1alpha1';
const metadata = { name: 'a' };

test('a list is its items, each with its place; what it says of their kind need not be said again', () => {
  const item = { apiVersion, kind: 'Nova', metadata };
  expect(objects(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [item, item] }))).toEqual([
    { object: item, item: 'items[0]' },
    { object: item, item: 'items[1]' },
  ]);
  expect(objects(JSON.stringify({ apiVersion, kind: 'NovaList', items: [{ metadata }] }))).toEqual([
    { object: item, item: 'items[0]' },
  ]);
});

test.each([
  [
    'metadata that is no map',
    { metadata: 'hello' },
    'metadata: expected a map with a name, such as {name: my-cloud}, not a string "hello"',
  ],
  [
    'a kind that is no string',
    { kind: 3 },
    'kind: this is not a Kubernetes object: expected a string such as OpenStackControlPlane; not a number',
  ],
  [
    'no apiVersion',
    { apiVersion: undefined },
    'apiVersion: this is not a Kubernetes object: expected a string such as openstack.k8s.io/v1alpha1; it is missing',
  ],
  ['items that are no list', { items: {} }, 'items: expected a list of objects, not a map'],
  [
    'an item that is no object',
    { items: [3] },
    'items[0]: expected a Kubernetes object with apiVersion and kind, not a number',
  ],
  [
    'an item without a kind',
    { kind: 'List', items: [{ apiVersion }] },
    'items[0].kind: this is not a Kubernetes object: expected a string such as OpenStackControlPlane; it is missing',
  ],
  [
    'a list in a list',
    { items: [{ items: [] }] },
    'items[0]: a list stands in a list, which kubectl does not look into: put its items into the outer one',
  ],
])('%s is told with file, line and field', (_what, change, message) => {
  expect(() => objects(JSON.stringify({ apiVersion, kind: 'Nova', metadata, ...change }))).toThrow(
    `${path}: line 1: ${message}`,
  );
});

test('a document that is no map', () => {
  expect(() => objects('---\na: 1\n---\nhello\n')).toThrow(/document 1, line 2: apiVersion: /);
  expect(() => objects('hello')).toThrow(
    'line 1: (root): expected a Kubernetes object with apiVersion and kind, not a string',
  );
});
