import { readFileSync } from 'node:fs';
import type { KubeObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { objectsOf, renderAll } from './render.ts';

const read = (name: string) =>
  parse(readFileSync(new URL(`../../../config/samples/${name}.yaml`, import.meta.url), 'utf8')) as KubeObject;

test('what proxies the APIs of a cloud is rendered with their addresses, whatever comes first in it', () => {
  const rendered = renderAll([read('controlplane_full')], new Set());
  const objects = rendered.flatMap(({ composition }) => objectsOf(composition));
  const texts = objects.flatMap(({ data }) => (data as Record<string, string> | undefined)?.['nginx.conf'] ?? []);
  expect(texts).toHaveLength(1);
  for (const name of ['nova', 'ironic', 'octavia']) expect(texts[0]).toContain(`/api/openstack/regionone/${name}/`);
});
