import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** Objects of a Nova with these fields, by kind and name without the digest at its end, as text. */
function objects(spec: object): Map<string, string> {
  const nova = resource(read('nova'));
  const all = objectsOf(composed({ ...nova, spec: { ...nova.spec, ...spec } }, surroundings(read)));
  return new Map(
    all.map((desired) => {
      const { kind, metadata } = desired.object;
      return [
        `${kind} ${kind === 'ConfigMap' ? metadata.name?.replace(/-[a-z0-5]{10}$/, '') : metadata.name}`,
        JSON.stringify(desired),
      ];
    }),
  );
}

function changed(before: Map<string, string>, after: Map<string, string>): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.filter((name) => before.get(name) !== after.get(name)).toSorted();
}

test('proxies are able to first; then libvirt alone is told', () => {
  const [before, able, enabled] = [{}, { tls: { enabled: false } }, { tls: { enabled: true } }].map(objects) as [
    Map<string, string>,
    Map<string, string>,
    Map<string, string>,
  ];
  expect(changed(before, able)).toEqual([
    'ConfigMap nova-cell1-config',
    'Deployment nova-cell1-novncproxy',
    'Secret nova-console-tls',
  ]);
  expect(changed(able, enabled)).toEqual([
    'ConfigMap nova-libvirt-compute-start',
    'ConfigMap nova-libvirt-config',
    'DaemonSet nova-libvirt-compute',
  ]);
  // The key of the authority is in no pod, and that of the proxies on no node.
  for (const [name, text] of enabled) {
    if (/^(DaemonSet|Deployment|Job)/.test(name)) expect(text).not.toContain('ca.key');
    if (name.startsWith('DaemonSet')) expect(text).not.toContain('client.key');
  }
});
