import { expect, test } from 'vitest';
import { certificateOptions, externalOvn, ovnAddress } from './address.ts';

const ovn = (spec: object = {}) => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OVNNetwork',
  metadata: { name: 'ovn', namespace: 'ns', uid: 'ovn', resourceVersion: '1' },
  spec,
});
const clusterDomain = 'cluster.local';

test("the addresses of the members' Services, all that there are; names only where there are none yet", () => {
  const addresses: Record<string, string> = {};
  const address = (_owner: unknown, name: string) => addresses[name];
  expect(ovnAddress(ovn(), { clusterDomain, address })).toEqual({
    northbound: 'tcp:ovn-nb-db.ns.svc.cluster.local:6641',
    southbound: 'tcp:ovn-sb-db.ns.svc.cluster.local:6642',
  });
  Object.assign(addresses, { 'ovn-nb-db-0': '10.96.0.1', 'ovn-sb-db-0': 'fd00::1' });
  const one = { northbound: 'tcp:10.96.0.1:6641', southbound: 'tcp:[fd00::1]:6642' };
  expect(ovnAddress(ovn(), { clusterDomain, address })).toEqual(one);
  // Of a database that is to grow, its clients keep the one that runs.
  expect(ovnAddress(ovn({ northboundDBReplicas: 3 }), { clusterDomain, address })).toEqual(one);
  Object.assign(addresses, { 'ovn-sb-db-1': 'fd00::2', 'ovn-sb-db-2': 'fd00::3' });
  expect(ovnAddress(ovn(), { clusterDomain, address }).southbound).toBe(
    'tcp:[fd00::1]:6642,tcp:[fd00::2]:6642,tcp:[fd00::3]:6642',
  );
});

test('external databases that want a certificate get the one of the Secret', () => {
  const external = { northbound: 'ssl:192.0.2.1:6641', southbound: 'ssl:192.0.2.1:6642' };
  const { trust, ...address } = externalOvn({ ...external, certificateSecretName: 'ovn-client' });
  expect(address).toEqual(external);
  expect(certificateOptions({ ...external, trust: trust as NonNullable<typeof trust> }, 'sb')).toEqual({
    ovn_sb_ca_cert: '/etc/openstack/trust/virtualNetwork/ca.crt',
    ovn_sb_certificate: '/etc/openstack/trust/virtualNetwork/tls.crt',
    ovn_sb_private_key: '/etc/openstack/trust/virtualNetwork/tls.key',
  });
  expect(certificateOptions(external, 'sb')).toEqual({});
});
