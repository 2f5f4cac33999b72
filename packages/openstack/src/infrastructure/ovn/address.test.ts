import { expect, test } from 'vitest';
import { ovnAddress } from './address.ts';

const ovn = (spec: object = {}) => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OVNNetwork',
  metadata: { name: 'ovn', namespace: 'ns', uid: 'ovn', resourceVersion: '1' },
  spec,
});
const clusterDomain = 'cluster.local';

test("the addresses of the members' Services, all of them; names only where there are none yet", () => {
  const addresses: Record<string, string> = { 'ovn-nb-db-0': '10.96.0.1', 'ovn-sb-db-0': 'fd00::1' };
  const address = (_owner: unknown, name: string) => addresses[name];
  expect(ovnAddress(ovn(), { clusterDomain, address })).toEqual({
    northbound: 'tcp:10.96.0.1:6641',
    southbound: 'tcp:[fd00::1]:6642',
  });
  Object.assign(addresses, { 'ovn-sb-db-1': 'fd00::2', 'ovn-sb-db-2': 'fd00::3' });
  const three = 'tcp:[fd00::1]:6642,tcp:[fd00::2]:6642,tcp:[fd00::3]:6642';
  expect(ovnAddress(ovn({ southboundDBReplicas: 3 }), { clusterDomain, address }).southbound).toBe(three);
  // Members never become fewer, whatever is stated.
  expect(ovnAddress(ovn(), { clusterDomain, address }).southbound).toBe(three);
  expect(ovnAddress(ovn({ northboundDBReplicas: 3 }), { clusterDomain, address }).northbound).toBe(
    'tcp:ovn-nb-db.ns.svc.cluster.local:6641',
  );
});
