import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  acceptLossAnnotation,
  annotations,
  cloudLabel,
  nodeGroupLabel,
  retainedForLabel,
} from '@openstack-operator/openstack';
import { expect, test } from 'vitest';

const page = readFileSync(join(import.meta.dirname, '../../../docs/annotations.md'), 'utf8');
const names = [...Object.values(annotations), acceptLossAnnotation, cloudLabel, nodeGroupLabel, retainedForLabel];

test.each(names)('docs/annotations.md has a row for %s', (name) => {
  const rows = [...page.matchAll(/^\| (?:label )?`(?:openstack\.k8s\.io\/)?([a-z-]+)/gm)].map(
    ([, documented]) => documented,
  );
  expect(rows).toContain(name.replace('openstack.k8s.io/', ''));
});
