import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

test.each([
  [{}, 2 ** 31],
  [{ resources: { limits: { memory: '1Gi' } } }, 2 ** 30],
  [{ resources: { requests: { memory: '1Gi' } } }, 2 ** 31],
  [{ resources: { requests: { cpu: 1 } } }, 2 ** 31],
  [{ components: { server: { resources: { requests: { memory: '8Gi' } } } } }, 2 ** 33],
  [{ resources: { requests: { memory: '8Gi' }, limits: { memory: '4Gi' } } }, 2 ** 32],
])('a broker with %j counts with %d bytes', (spec, bytes) => {
  const base = resource(read('rabbitmq'));
  const files = objectsOf(composed({ ...base, spec: { ...base.spec, ...spec } }, surroundings(read))).flatMap(
    ({ object }) => Object.entries((object as { data?: Record<string, string> }).data ?? {}),
  );
  const configuration = files.find(([name]) => name === 'rabbitmq.conf')?.[1];
  expect(configuration?.split('\n')).toContain(`total_memory_available_override_value = ${bytes}`);
});
