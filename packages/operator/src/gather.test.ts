import type { Kind, StoredObject } from '@openstack-operator/kube';
import { Glance, Keystone, MariaDB, services } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import type { ComposeContext } from './context.ts';
import { gather } from './gather.ts';

/** What is gathered for the youngest of so many Glances of a namespace with as many of each kind, and its number of lists. */
function gatherAmong(count: number, spec: object) {
  const named = ({ kind }: Kind, index: number): StoredObject => ({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind,
    metadata: { name: `${kind}-${index}`, namespace: 'ns', uid: `${kind}-${index}`, resourceVersion: '1' },
    spec,
  });
  const all = new Map(
    [Glance, Keystone, MariaDB].map((kind) => [kind.kind, Array.from({ length: count }, (_, at) => named(kind, at))]),
  );
  let lists = 0;
  const cache = {
    list({ kind }: Kind) {
      lists++;
      return all.get(kind) ?? [];
    },
    get: ({ kind }: Kind, { name }: { name: string }) => all.get(kind)?.find(({ metadata }) => metadata.name === name),
    has: () => false,
    served: () => false,
    synced: () => true,
    byIndex: () => [],
    controlledBy: () => [],
  };
  const context = {
    cache,
    object: named(Glance, count - 1),
    digestKey: { id: 'a', bytes: new Uint8Array(1) },
    clusterDomain: 'c',
  };
  const service = services.find(({ name }) => name === 'glance');
  const { twins, reference } = gather(context as unknown as ComposeContext, service);
  return { twins: twins(), references: [reference('databaseRef'), reference('keystoneRef')], lists };
}

test('a namespace with thousands of resources is listed as often as one with few', () => {
  const { twins, references, lists } = gatherAmong(2000, {});
  expect(twins).toEqual([]);
  expect(JSON.stringify(references).length).toBeLessThan(2000);
  expect(lists).toBe(gatherAmong(20, {}).lists);
});

test('of thousands of resources with one database few are told of, older ones', () => {
  const { twins } = gatherAmong(2000, { databaseRef: { name: 'MariaDB-0' } });
  expect(twins).toHaveLength(2);
  expect(twins.every(({ isOlder }) => isOlder)).toBe(true);
  expect(twins[0]?.shared).toEqual(['database']);
});

test('a peer tells what it remembers, unless its ConfigMap is not its own', () => {
  const named = (kind: string, name: string, more: object = {}): StoredObject => ({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind,
    metadata: { name, namespace: 'ns', uid: name, resourceVersion: '1', ...more },
  });
  const entry = { name: 'fast', type: 'ceph' };
  const field = 'spec.backends[name=fast]';
  const memory = JSON.stringify({ [field]: { is: 'ceph', entry } });
  const remembered = (owner: string, lasting?: object) => {
    const controller = {
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'Cinder',
      name: 'cinder',
      uid: owner,
      controller: true,
    };
    const objects = [
      { ...named('Cinder', 'cinder'), status: { lasting } },
      { ...named('ConfigMap', 'cinder-lasting', { ownerReferences: [controller] }), data: { 'lasting.json': memory } },
    ];
    const cache = {
      list: ({ kind }: Kind) => objects.filter((one) => one.kind === kind),
      get: ({ kind }: Kind, { name }: { name: string }) =>
        objects.find((one) => one.kind === kind && one.metadata.name === name),
    };
    const context = { cache, object: named('Nova', 'nova'), digestKey: {} } as unknown as ComposeContext;
    const nova = services.find(({ name }) => name === 'nova');
    return gather(context, nova).peerRemembered('Cinder');
  };
  expect(remembered('cinder', { [field]: 'ceph' })).toEqual({ [field]: entry });
  expect(remembered('cinder', {})).toEqual({});
  expect(remembered('somebody')).toEqual({});
});

test('what a child remembers that was disabled, its ConfigMap tells its peers and its root', () => {
  const apiVersion = 'openstack.k8s.io/v1alpha1';
  const named = (kind: string, name: string, more: object = {}) => ({
    apiVersion,
    kind,
    metadata: { name, namespace: 'ns', uid: name, resourceVersion: '1', ...more },
  });
  const field = 'spec.backends[name=fast]';
  const entry = { name: 'fast', type: 'ceph' };
  const root = { ...named('OpenStackControlPlane', 'cloud'), spec: { cinder: { enabled: false } } };
  const controller = { apiVersion, kind: root.kind, name: 'cloud', uid: 'cloud', controller: true };
  const nova = named('Nova', 'cloud-nova', { ownerReferences: [controller] });
  const remembered = (object: object, label: string) => {
    const labels = { 'app.kubernetes.io/managed-by': 'openstack-operator', 'openstack.k8s.io/retained-for': label };
    const memory = {
      ...named('ConfigMap', 'cloud-cinder-lasting', { labels }),
      data: { 'lasting.json': JSON.stringify({ [field]: { is: 'ceph', entry } }) },
    };
    const objects = [root, nova, memory];
    const cache = {
      has: () => true,
      list: ({ kind }: Kind) => objects.filter((one) => one.kind === kind),
      get: ({ kind }: Kind, { name }: { name: string }) =>
        objects.find((one) => one.kind === kind && one.metadata.name === name),
    };
    const context = { cache, object, digestKey: {} } as unknown as ComposeContext;
    const service = object === nova ? services.find(({ name }) => name === 'nova') : undefined;
    return gather(context, service).peerRemembered('Cinder');
  };
  for (const object of [nova, root]) {
    expect(remembered(object, 'Cinder.cloud-cinder')).toEqual({ [field]: entry });
    expect(remembered(object, 'Cinder.other')).toEqual({});
  }
});
