import { expect, test } from 'vitest';
import { cephAddress } from './address.ts';

const address = (users: object) =>
  cephAddress({
    metadata: { name: 'ceph', namespace: 'openstack' },
    spec: { mode: 'external', external: { monitorHosts: '10.0.0.1' }, users },
  } as never);

test('object gateways have a key of their own, unless they have the name of another user', () => {
  expect(address({}).keyring('swift')).toEqual({ secret: 'ceph-cephx-keys-swift', key: 'ceph.client.swift.keyring' });
  const shared = address({ cinder: 'openstack', swift: 'openstack' });
  expect(shared.keyring('swift')).toEqual({ secret: 'ceph-cephx-keys', key: 'ceph.client.openstack.keyring' });
  expect(shared.keyring('swift')).toEqual(shared.keyring('cinder'));
});
