import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sampleObjects } from '../../testing/sample-objects.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
/** Objects of a Nova with these fields. */
const objects = (spec: object) => sampleObjects(read, 'nova', spec);

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
    // A volume without a list of keys has them all.
    expect(text).not.toMatch(/"secretName":"nova-console-tls"(?![^}]*"items")/);
    if (name.startsWith('DaemonSet')) expect(text).not.toContain('client.key');
  }
});
