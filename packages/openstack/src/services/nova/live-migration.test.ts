import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sampleObjects } from '../../testing/sample-objects.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
/** Objects of a Nova with these fields. */
const objects = (spec: object) => sampleObjects(read, 'nova', spec);

const groups = [{ name: 'default' }, { name: 'edge', nodeSelector: { role: 'edge' } }];

test('each group of hosts has a headless Service that names them, all of which one certificate is for', () => {
  const all = objects({ nodeGroups: groups, liveMigration: { enabled: true } });
  for (const name of ['nova-libvirt', 'nova-libvirt-edge']) {
    expect(all.get(`Service ${name}`)).toContain('"clusterIP":"None"');
    expect(all.get('Secret nova-migration-tls')).toContain(`*.${name}.openstack.svc`);
  }
  expect(all.get('DaemonSet nova-compute-edge')).toContain('"nova-libvirt-edge.openstack.svc"');
  // The key of the authority is in no pod.
  expect([...all].filter(([name, text]) => name.startsWith('DaemonSet') && text.includes('ca.key'))).toEqual([]);
});

test('it concerns agents of hypervisors, and nothing else of a Nova', () => {
  const [before, after] = [objects({}), objects({ liveMigration: { enabled: true } })];
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  );
  expect(changed.toSorted()).toEqual([
    'ConfigMap nova-compute-compute-config',
    'ConfigMap nova-compute-compute-start',
    'ConfigMap nova-libvirt-compute-start',
    'ConfigMap nova-libvirt-config',
    'DaemonSet nova-compute-compute',
    'DaemonSet nova-libvirt-compute',
    'Secret nova-migration-tls',
    'Service nova-libvirt-compute',
  ]);
  expect(objects({ liveMigration: { enabled: false } })).toEqual(before);
});
