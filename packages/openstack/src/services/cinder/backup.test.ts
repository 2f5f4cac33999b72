import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import type { Cinder } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('cinder')) as Cinder & ReturnType<typeof resource>;

test('backups in the Swift of the cloud trust its authority, one by an address is trusted as its options say', () => {
  const known = surroundings(read);
  const keystone = resource(read('keystone'));
  const keystoneRef = { found: { ...keystone, spec: { ...keystone.spec, tls: { enabled: true } } } };
  const backups = (options: object, references = { ...known.references, keystoneRef }) => {
    const config = {
      'cinder.conf': { DEFAULT: { backup_driver: 'cinder.backup.drivers.swift.SwiftBackupDriver', ...options } },
    };
    const spec = { ...sample.spec, backup: { type: 'custom', config } };
    return JSON.stringify(objectsOf(composed({ ...sample, spec }, { ...known, references })));
  };
  expect(backups({})).toContain('backup_swift_ca_cert_file = /etc/openstack/trust/identity/ca.crt');
  expect(backups({ backup_swift_ca_cert_file: '/mine.crt' })).toContain('backup_swift_ca_cert_file = /mine.crt');
  for (const elsewhere of ['backup_swift_url', 'backup_swift_auth_url'])
    expect(backups({ [elsewhere]: 'https://swift.example.com/v3' })).not.toContain('backup_swift_ca_cert_file');
  expect(backups({ backup_driver: 'cinder.backup.drivers.s3.S3BackupDriver' })).not.toContain('backup_swift');
  expect(backups({}, known.references as never)).not.toContain('backup_swift_ca_cert_file');
});
