import type { Kind, StoredObject } from '@openstack-operator/kube';
import { Glance, Keystone, MariaDB } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { gather } from './gather.ts';
import type { Pass } from './pass.ts';

/** How often the cache is listed for a Glance in a namespace with as many of each kind, none of which names another. */
function listsWith(count: number): number {
  const named = ({ kind }: Kind, index: number): StoredObject => ({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind,
    metadata: { name: `${kind}-${index}`, namespace: 'ns', uid: `${kind}-${index}`, resourceVersion: '1' },
    spec: {},
  });
  const all = new Map(
    [Glance, Keystone, MariaDB].map((kind) => [kind.kind, Array.from({ length: count }, (_, at) => named(kind, at))]),
  );
  let lists = 0;
  const list = ({ kind }: Kind) => {
    lists++;
    return all.get(kind) ?? [];
  };
  const none = () => undefined;
  const cache = {
    list,
    get: none,
    has: () => false,
    served: () => false,
    synced: () => true,
    byIndex: () => [],
    controlledBy: () => [],
  };
  const pass = {
    cache,
    object: named(Glance, 0),
    digestKey: { id: 'a', bytes: new Uint8Array(1) },
    clusterDomain: 'c',
  };
  const { twins, references } = gather(
    pass as unknown as Pass,
    { references: ['databaseRef', 'keystoneRef'] } as never,
  );
  expect(twins).toEqual([]);
  expect(JSON.stringify(references).length).toBeLessThan(2000);
  return lists;
}

test('a namespace with thousands of resources is listed as often as one with few', () => {
  expect(listsWith(2000)).toBe(listsWith(20));
});
