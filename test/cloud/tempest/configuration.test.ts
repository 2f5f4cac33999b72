import { expect, test } from 'vitest';
import { type Facts, tempestConfiguration, testsOf } from './configuration.ts';

const base: Facts = {
  authUrl: 'http://keystone.example.com/v3',
  password: 'secret',
  region: 'RegionOne',
  images: ['image-1', 'image-2'],
  flavors: ['flavor-1', 'flavor-2'],
  network: { id: 'network-1', name: 'outside' },
  extensions: ['router'],
  diskFormats: ['raw', 'qcow2'],
  computeMicroversion: '2.100',
  services: ['identity', 'image', 'network', 'compute', 'placement'],
};
const ceph = {
  microversion: '3.71',
  storageProtocol: 'ceph',
  vendorName: 'Open Source',
  hasBackup: true,
  typeOfSeveral: 'several',
};

/** The lines of a section. */
const section = (facts: Facts, name: string): string[] | undefined =>
  tempestConfiguration(facts, '/tmp/run')
    .split('\n\n')
    .find((text) => text.startsWith(`[${name}]\n`))
    ?.trim()
    .split('\n')
    .slice(1);

test('the tests are those of the services in the catalogue', () => {
  expect(testsOf(base.services)).toBe('^tempest\\.api\\.(identity|image|network|compute)\\.');
  expect(testsOf([...base.services, 'block-storage', 'volumev3'])).toContain('|volume)');
  expect('tempest.api.object_storage.test_object_slo.ObjectSloTest.test_list').toMatch(new RegExp(testsOf()));
});

test('a cloud without volumes and objects has no section of them', () => {
  expect(section(base, 'service_available')).toEqual(expect.arrayContaining(['cinder = false', 'swift = false']));
  const text = tempestConfiguration(base, '/tmp/run');
  expect(text).not.toMatch(/^\[(volume|object-storage)/m);
});

test('of a Cinder it is said what its first pool is, and what that can', () => {
  const facts: Facts = { ...base, services: [...base.services, 'block-storage'], volumes: ceph };
  expect(section(facts, 'service_available')).toContain('cinder = true');
  expect(section(facts, 'volume')).toEqual(
    expect.arrayContaining([
      'max_microversion = 3.71',
      'storage_protocol = ceph',
      'volume_type_multiattach = several',
      'manage_snapshot_ref = source-name,snapshot-%s',
    ]),
  );
  expect(section(facts, 'volume-feature-enabled')).toEqual(
    expect.arrayContaining(['backup = true', 'manage_volume = true']),
  );
  const other: Facts = { ...facts, volumes: { ...ceph, storageProtocol: 'iSCSI', hasBackup: false } };
  expect(section(other, 'volume')?.join()).not.toContain('manage_snapshot_ref');
  expect(section(other, 'volume-feature-enabled')).toEqual(
    expect.arrayContaining(['backup = false', 'manage_volume = false']),
  );
});

test('of a Swift it is said what its proxies have', () => {
  const facts: Facts = {
    ...base,
    services: [...base.services, 'object-store'],
    objectFeatures: ['slo', 'versioned_writes'],
  };
  expect(section(facts, 'object-storage-feature-enabled')).toEqual([
    'discoverable_apis = slo,versioned_writes',
    'container_sync = false',
    'object_versioning = true',
  ]);
});
