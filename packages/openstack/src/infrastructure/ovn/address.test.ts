import { expect, test } from 'vitest';
import { ovnAddress } from './address.ts';

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
