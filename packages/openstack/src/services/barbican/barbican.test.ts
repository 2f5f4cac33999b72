import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

test('as many workers run as the spec says by either of its fields', () => {
  const sample = resource(read('barbican'));
  const replicas = (spec: object) => {
    const composition = composed({ ...sample, spec: { ...sample.spec, ...spec } }, surroundings(read));
    const worker = objectsOf(composition).find(
      ({ object: { kind, metadata } }) => kind === 'Deployment' && metadata.name === 'barbican-worker',
    );
    return (worker?.object as { spec?: { replicas?: number } } | undefined)?.spec?.replicas;
  };
  expect(replicas({ components: {} })).toBe(1);
  expect(replicas({ components: {}, workerReplicas: 3 })).toBe(3);
  expect(replicas({ components: { worker: { replicas: 2 } }, workerReplicas: 3 })).toBe(2);
});
