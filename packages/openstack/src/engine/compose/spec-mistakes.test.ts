import { expect, test } from 'vitest';
import type { ServiceSpec } from '../vocabulary/surroundings.ts';
import { specMistakes } from './spec-mistakes.ts';

test.each<[string, ServiceSpec, readonly string[]]>([
  ['a toleration of every taint', { tolerations: [{ operator: 'Exists' }] }, []],
  ['a toleration of nothing', { tolerations: [{ value: 'a' }] }, ['spec.tolerations[0]: without a key']],
  [
    'a value that nothing compares',
    { tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] },
    ['spec.tolerations[0].value: operator Exists compares no value'],
  ],
  [
    'a span without eviction',
    { components: { api: { tolerations: [{ key: 'a', tolerationSeconds: 3 }] } } },
    ['spec.components.api.tolerations[0].tolerationSeconds: is for effect NoExecute alone'],
  ],
  ['a key that no taint has', { tolerations: [{ key: 'a b' }] }, ['spec.tolerations[0]["a b"]: no label has']],
  [
    'a resource that no container has',
    { resources: { requests: { memry: '1Gi' } } },
    ['spec.resources.requests.memry: no container has such a resource'],
  ],
  [
    'resources of devices and pages',
    { resources: { limits: { 'example.com/gpu': 1, 'hugepages-2Mi': '1Gi', 'ephemeral-storage': '1Gi' } } },
    [],
  ],
])('%s', (_, spec, beginnings) => {
  const mistakes = specMistakes(spec);
  expect(mistakes).toHaveLength(beginnings.length);
  for (const [index, beginning] of beginnings.entries()) expect(mistakes[index]).toContain(beginning);
});
