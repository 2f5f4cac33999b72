import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { composed, resource, samples, surroundings } from '../testing/compositions.ts';

const folder = new URL('../../../../config/samples/', import.meta.url);
const read = (name: string) => readFileSync(new URL(`${name}.yaml`, folder), 'utf8');

/** Everything that a sample leads to, to be read in reviews. `vitest run packages/openstack/src/golden -u` writes it anew. */
test.each(samples)('%s', async (name) => {
  const { steps, status } = composed(resource(read(name)), surroundings(read));
  const header = `# What config/samples/${name}.yaml leads to; written by: vitest run packages/openstack/src/golden -u\n`;
  const plain = steps.map((step) => ({ ...step, awaits: step.awaits.map(({ kind, name }) => `${kind.kind} ${name}`) }));
  const text = stringify({ steps: plain, status }, { lineWidth: 0, aliasDuplicateObjects: false });
  await expect(header + text).toMatchFileSnapshot(`${name}.golden.yaml`);
});

test('no sample is left out', () => {
  const files = [...samples, 'gateway', 'kustomization'].map((name) => `${name}.yaml`);
  expect(new Set(readdirSync(folder))).toEqual(new Set(files));
});
