import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { KnownSurroundings } from '../../engine/vocabulary/surroundings.ts';
import { secretsReadBy } from '../../registry/kinds.ts';
import { composed, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('ceph-storage_rook'));
const rook: object = { mode: 'rook' };

/** The step of Rook's objects for a spec. */
function rookStep(spec: object, known: KnownSurroundings = {}) {
  const { steps } = composed({ ...sample, spec: { ...rook, ...spec } }, surroundings(read, known));
  return steps.find(({ condition }) => condition === 'RookReady');
}

/** Its objects: kind and name -> spec. */
function objects(spec: object, known?: KnownSurroundings): Record<string, unknown> {
  return Object.fromEntries(
    (rookStep(spec, known)?.objects ?? []).flatMap((one) =>
      one.verb === 'apply' ? [[`${one.object.kind} ${one.object.metadata.name}`, one.object['spec']]] : [],
    ),
  );
}

const volumes = { name: 'volumes', purpose: 'cinder-volumes' };
const images = { name: 'images', purpose: 'glance-images' };

test('users keep the rights to pools that are stated no more, and those are left as they are', () => {
  const lasting = { 'spec.pools[name=volumes,purpose=cinder-volumes]': 'made by Rook' };
  const remembered = { 'spec.pools[name=volumes,purpose=cinder-volumes]': volumes };
  expect(objects({ pools: [images] }, { lasting, remembered })).toEqual({
    'CephBlockPool images': { failureDomain: 'host', replicated: { size: 3, requireSafeReplicaSize: true } },
    'CephClient cinder': objects({ pools: [volumes, images] })['CephClient cinder'],
    'CephClient glance': { caps: expect.objectContaining({ osd: 'profile rbd pool=images' }) },
  });
});

test('what a user may do is stated in one order: from the spec, and from what is remembered of it', () => {
  const [first, second] = ['b', 'a'].map((name) => ({ name, purpose: 'cinder-volumes' }));
  const field = (name: string) => `spec.pools[name=${name},purpose=cinder-volumes]`;
  const remembered = { [field('a')]: second, [field('b')]: first };
  const lasting = { [field('a')]: 'made by Rook', [field('b')]: 'made by Rook' };
  const users = (known?: KnownSurroundings) => objects({ pools: [first, second] }, known)['CephClient cinder'];
  expect(users({ lasting, remembered })).toEqual(users());
  expect(users()).toMatchObject({ caps: { mgr: 'profile rbd pool=a, profile rbd pool=b' } });
});

test('a pool keeps as many copies as are asked for; one copy is what is meant', () => {
  const pool = (rook: object) => objects({ pools: [volumes], rook })['CephBlockPool volumes'];
  expect(pool({ replicaCount: 1, failureDomain: 'osd' })).toEqual({
    failureDomain: 'osd',
    replicated: { size: 1, requireSafeReplicaSize: false },
  });
  expect(pool({ replicaCount: 2 })).toMatchObject({ replicated: { size: 2, requireSafeReplicaSize: true } });
});

test('a cluster is made on request alone: from devices, or from volumes', () => {
  expect(Object.keys(objects({ pools: [volumes] }))).not.toContain('CephCluster ceph');
  const made = (more: object) => objects({ rook: { cluster: { cephImage: 'ceph:19', ...more } } })['CephCluster ceph'];
  expect(made({ storageDeviceFilter: '^sdb$', nodeSelector: { disk: 'ceph' } })).toMatchObject({
    cephVersion: { image: 'ceph:19' },
    dataDirHostPath: '/var/lib/rook',
    mon: { count: 3, allowMultiplePerNode: false },
    storage: { useAllNodes: true, useAllDevices: false, deviceFilter: '^sdb$' },
    placement: {
      all: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ceph'] }] }],
          },
        },
      },
    },
  });
  const claim = { volumeMode: 'Block', storageClassName: 'fast', resources: { requests: { storage: '1Ti' } } };
  expect(made({ monCount: 1, osds: { size: '1Ti', storageClassName: 'fast' } })).toMatchObject({
    mon: { count: 1 },
    mgr: { count: 1 },
    storage: {
      useAllNodes: false,
      useAllDevices: false,
      storageClassDeviceSets: [{ count: 3, volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }] }],
    },
  });
});

test('all of Rook outlives the resource, unless that says otherwise', () => {
  const retained = (spec: object) =>
    rookStep({ pools: [volumes, images], ...spec })?.objects.map((one) => ('retained' in one ? one.retained : false));
  expect(retained({})).toEqual([true, true, true, true]);
  expect(retained({ deletionPolicy: 'Delete' })).toEqual([false, false, false, false]);
});

test('names that no object of Rook can have are told, with the field', () => {
  const users = { glance: 'Glance_1' };
  const { problem } = rookStep({ pools: [{ ...volumes, name: 'fast_volumes' }, images], users }) ?? {};
  expect(problem?.reason).toBe('SpecRefused');
  expect(problem?.message).toContain('spec.pools: fast_volumes; spec.users.glance: Glance_1: an object of Rook');
});

test.each(['admin', 'csi-rbd-node', 'rgw.store.a'])('a user that Rook has for itself is refused: %s', (glance) => {
  const { problem } = rookStep({ pools: [images], users: { glance } }) ?? {};
  expect(problem).toMatchObject({
    reason: 'SpecRefused',
    message: expect.stringContaining(`spec.users.glance: ${glance}: Ceph or Rook has this user for itself`),
  });
});

test('the Secrets of Rook are followed, by the names of the users; in mode external none is', () => {
  const spec = { mode: 'rook', users: { cinder: 'volumes' } };
  const keys = ['volumes', 'cinder-backup', 'glance', 'manila', 'nova', 'swift'].map(
    (user) => `rook-ceph-client-${user}`,
  );
  expect(secretsReadBy({ ...sample, spec })).toEqual(['rook-ceph-config', ...keys]);
  expect(secretsReadBy(resource(read('ceph-storage')))).toEqual(['ceph-keyrings']);
});
