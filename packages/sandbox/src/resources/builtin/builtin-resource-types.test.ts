import { describe, expect, test } from 'vitest';
import { samples } from '../../../../../test/kubernetes/conformance/builtin-objects.ts';
import { fieldErrorMessage } from '../field-error.ts';
import type { ResourceType } from '../resource-type.ts';
import { builtinResourceTypes } from './builtin-resource-types.ts';

const types = builtinResourceTypes();

function typeOf(apiVersion: string, kind: string): ResourceType {
  const [version, group = ''] = apiVersion.split('/').reverse();
  const found = types.find(
    (type) => type.kind.kind === kind && type.kind.group === group && type.kind.version === version,
  );
  if (!found) throw new Error(`no type of ${apiVersion} ${kind}`);
  return found;
}

test('no kind is served twice', () => {
  const names = types.map(({ kind }) => `${kind.group}/${kind.version}/${kind.plural}`);
  expect(new Set(names).size).toBe(names.length);
});

describe('a new object', () => {
  test.each(Object.entries(samples))('%s', (_name, sample) => {
    const type = typeOf(sample.object.apiVersion, sample.object.kind);
    const object = JSON.parse(JSON.stringify(sample.object).replaceAll('<namespace>', 'here'));
    object.metadata.uid = '11111111-1111-4111-8111-111111111111';
    if (type.kind.namespaced) object.metadata.namespace = 'here';
    expect(type.decode(object)).toBeUndefined();
    type.prepareForCreate(object);
    expect(type.validateCreate(object).map(fieldErrorMessage)).toEqual([]);
    expect(type.row(object, 0)).toHaveLength(type.columns.length);

    // What is stored stays as it is: read again, defaulted again, and put back unchanged.
    object.metadata.resourceVersion = '1';
    const stored = structuredClone(object);
    expect(type.decode(object)).toBeUndefined();
    expect(object).toEqual(stored);
    type.prepareForUpdate(object, stored);
    expect(object).toEqual(stored);
    expect(type.validateUpdate(object, stored).map(fieldErrorMessage)).toEqual([]);
  });
});
