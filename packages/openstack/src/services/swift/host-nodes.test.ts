import { readFileSync } from 'node:fs';
import type { KubeObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { compose as composeBy } from '../../engine/compose/compose.ts';
import { cloudLabel } from '../../engine/names/names.ts';
import { type KnownSurroundings, surroundingsOf } from '../../engine/vocabulary/surroundings.ts';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import { services } from '../index.ts';
import { claimedNodes } from './host-nodes.ts';
import type { Swift } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const service = services.find(({ name }) => name === 'swift') as (typeof services)[number];
const sample = resource(read('swift')) as Swift & ReturnType<typeof resource>;
const group = {
  name: 'disks',
  zone: 2,
  nodeSelector: { disks: 'yes' },
  hostPath: { path: '/data', devices: ['sdb', 'sdc'] },
};
const spec = { ...sample.spec, storageNodes: 0, storageGroups: [group] };
const controller = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'OpenStackControlPlane', name: 'c', uid: 'c' };
const metadata = { ...sample.metadata, ownerReferences: [{ ...controller, controller: true }] };

const labels = { [cloudLabel]: 'openstack.c', 'openstack.k8s.io/role-storage': 'disks', disks: 'yes' };
const node = (name: string, more: Readonly<Record<string, string>> = {}) => {
  return { name, internalIp: '', joined: true, labels: { ...labels, ...more } };
};
const nodes = ['a', 'b', 'c'].map((name) => node(name));

function compose(known: KnownSurroundings, more: object = {}) {
  const swift = { ...sample, metadata, spec, ...more } as typeof sample;
  return composed(swift, surroundings(read, known));
}
const objects = (known: KnownSurroundings, more: object = {}) =>
  objectsOf(compose(known, more)).map(({ object }) => object);
const sets = (known: KnownSurroundings, more: object = {}) =>
  objects(known, more).filter(({ kind }) => kind === 'StatefulSet');
const problem = (known: KnownSurroundings, more: object = {}) =>
  compose(known, more).steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message ?? '';
/** Nodes of the StatefulSets. */
const on = (all: readonly object[]) => all.map((one) => /"values":\["(\w+)"\]/u.exec(JSON.stringify(one))?.[1]);
const held = (...names: string[]) => ({
  remembered: {
    'spec.storageNodes': {
      size: 0,
      haveMoved: false,
      turn: 4,
      members: 'x',
      groups: [{ ...group, size: 3, nodes: names }],
    },
  },
});

test('one pod of a group is drained at a time, though each has a StatefulSet of its own', () => {
  const budgets = (known: KnownSurroundings) =>
    objects(known).filter(({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name !== 'swift-proxy');
  const [budget, ...others] = budgets({ nodes }) as (KubeObject & { spec: { selector: unknown } })[];
  expect([budget?.metadata.name, others]).toEqual(['swift-storage-nodes-disks', []]);
  const names = sets({ nodes }).map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component']);
  expect(budget?.spec).toMatchObject({
    maxUnavailable: 1,
    selector: {
      matchLabels: { 'app.kubernetes.io/name': 'swift', 'app.kubernetes.io/instance': 'swift' },
      matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'In', values: names }],
    },
  });
  expect(budgets({ nodes: nodes.slice(0, 1) })).toEqual([]);
});

test('each node is a storage node that runs there alone, and sees of it the directory above its devices', () => {
  const [first, ...others] = sets({ nodes }) as [KubeObject, ...KubeObject[]];
  expect([on([first]), on(others)]).toEqual([['a'], ['b', 'c']]);
  const { template } = first['spec'] as { template: { spec: Record<string, unknown> } };
  const pod = template.spec as { volumes: { name: string }[]; containers: { volumeMounts: { name: string }[] }[] };
  const path = { hostPath: { path: '/data', type: 'Directory' } };
  const volume = pod.volumes.find((one) => 'hostPath' in one);
  expect(volume).toMatchObject(path);
  const mount = { mountPath: '/srv/node', mountPropagation: 'HostToContainer' };
  for (const { volumeMounts } of pod.containers)
    expect(volumeMounts.find(({ name }) => name === volume?.name)).toMatchObject(mount);
  expect(template.spec).not.toHaveProperty('nodeSelector');
  expect(template.spec).toMatchObject({ securityContext: { runAsNonRoot: true } });
  expect(template.spec).not.toHaveProperty('hostNetwork');
  const configs = JSON.stringify(objects({ nodes }).filter(({ kind }) => ['Secret', 'ConfigMap'].includes(kind)));
  expect(configs).toContain('mount_check = true');
});

test('rings have each device by the name of its node, in the zone of the group', () => {
  const job = JSON.stringify(
    objects({ nodes }).find(({ kind, metadata }) => kind === 'Job' && metadata.name === 'swift-rings'),
  );
  const names = sets({ nodes }).map(({ metadata }) => metadata.name);
  for (const name of names)
    for (const device of ['sdb', 'sdc']) expect(job).toContain(`"${name}-0.${name}.openstack.svc/${device}=2=100.00"`);
});

test('a node without the label leaves, one that is gone for ever is lost, and one of which nothing is known stays', () => {
  const three = { ...held('a', 'b', 'c', 'd', 'e'), nodes: [...nodes.slice(1), node('e', { disks: 'no' })] };
  const there = ['b', 'c', 'd', 'e'];
  const world = { ...surroundingsOf(surroundings(read, three)), isNode: (name: string) => there.includes(name) };
  const forgets = (names: string) => ({ ...metadata, annotations: { 'openstack.k8s.io/forget-nodes': names } });
  const composedWith = (more: typeof metadata) => composeBy(service, { ...sample, metadata: more, spec }, world);
  const setsOf = (one: ReturnType<typeof composedWith>) =>
    new Set(on(objectsOf(one).flatMap(({ object }) => (object.kind === 'StatefulSet' ? [object] : []))));
  // That its Node object is gone says nothing of its disks; neither does a name beside that of a node that is there.
  for (const more of [metadata, forgets('a,b')]) {
    const kept = composedWith(more);
    expect(setsOf(kept)).toEqual(new Set(['a', ...there]));
    expect(JSON.stringify(kept.steps)).toContain('annotate the control plane with openstack.k8s.io/forget-nodes=a');
  }
  const composition = composedWith(forgets('a'));
  expect(JSON.stringify(composition.steps)).not.toContain('forget-nodes=');
  const all = objectsOf(composition).map(({ object }) => object);
  expect(new Set(on(all.filter(({ kind }) => kind === 'StatefulSet')))).toEqual(new Set(there));
  const job = JSON.stringify(all.find(({ kind, metadata }) => kind === 'Job' && metadata.name === 'swift-rings'));
  expect(job.match(/sdb=2=100.00/gu)).toHaveLength(3);
  expect(job.match(/sdb=lost/gu)).toHaveLength(1);
  expect(composition.steps.map(({ condition }) => condition)).toContain('RemovedNodesEmpty');
});

test('what a Job found of an earlier turn says nothing of nodes that leave now', () => {
  const leaving = { ...held('a', 'b', 'c', 'd'), nodes: [...nodes, node('d', { disks: 'no' })] };
  const words = (turn: number) => ({
    status: {
      found: { storageNodes: `storage nodes 0 and up, of nodes at their turn ${turn}, had left in generation 1` },
    },
  });
  expect(on(sets(leaving, words(4)))).toEqual(['a', 'b', 'c', 'd']);
  expect(on(sets(leaving, words(5)))).toEqual(['a', 'b', 'c']);
});

test('what cannot be is told with the way out', () => {
  const rings = compose({ nodes: [] }).steps.find(({ condition }) => condition === 'RingsReady');
  expect(rings?.problem).toMatchObject({ reason: 'NoNodes' });
  expect(rings?.problem?.message).toContain(
    'expected a device for each of the 3 copies or fragments of spec.storagePolicy, and there are 0 with those of spec.storageNodes: raise storageNodes, or label more nodes as nodeSelector says',
  );
  expect(problem({ nodes }, { metadata: sample.metadata })).toContain(
    'spec.storageGroups[name=disks].hostPath: control planes claim nodes, and this Swift is of none',
  );
});

test('nodes are claimed with the taints that their pods tolerate: those of the group, or of all storage nodes', () => {
  const tolerations = [{ key: 'disks', operator: 'Exists' as const }];
  const own = [{ key: 'own', operator: 'Exists' as const }];
  const claimed = (more: object) =>
    claimedNodes({ storageGroups: [{ ...group, ...more }], components: { storage: { tolerations } } }).groups;
  expect(claimed({})).toMatchObject([{ name: 'disks', tolerations }]);
  expect(claimed({ tolerations: own })).toMatchObject([{ name: 'disks', tolerations: own }]);
});
