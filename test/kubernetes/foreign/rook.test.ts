import { defineKind, type Kind, type KubeObject, Namespace, Secret } from '@openstack-operator/kube';
import { CephStorage, conditionOf } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import {
  type Cluster,
  makeNamespace,
  remove,
  type ServerName,
  serveDefinitions,
  startCluster,
  until,
} from './cluster.ts';
import { differencesOf, finalObjects, type Moments } from './final-objects.ts';
import { startOurOperator } from './our-operator.ts';
import { definitionsOfRook } from './rook-definitions.ts';

const kindOf = (kind: string) => defineKind('ceph.rook.io/v1', kind, `${kind.toLowerCase()}s`);
const CephCluster = kindOf('CephCluster');
const CephClient = kindOf('CephClient');
/** What Rook answers, in the order in which it does. */
const rookKinds: readonly Kind[] = [CephCluster, kindOf('CephBlockPool'), kindOf('CephFilesystem'), CephClient];

const monitors = '[v2:10.96.0.10:3300,v1:10.96.0.10:6789]';
const parts = {
  pools: [
    { name: 'volumes', purpose: 'cinder-volumes' },
    { name: 'images', purpose: 'glance-images' },
  ],
  fileSystems: [{ name: 'files' }],
};
const cephImage = 'quay.io/ceph/ceph:v19.2.3';
/** Specs of `rook`, by the namespace of the CephStorage. */
const clusters = {
  used: { replicaCount: 1, failureDomain: 'osd' },
  devices: { cluster: { cephImage, storageDeviceFilter: '^sd[b-z]$', nodeSelector: { storage: 'ceph' } } },
  volumes: { cluster: { cephImage, monCount: 1, osds: { count: 4, size: '1Ti', storageClassName: 'fast' } } },
};

/** Our operator on a server with Rook's definitions, and what Rook does of what it is asked for. */
async function play(
  server: ServerName,
): Promise<{ readonly moments: Moments; readonly notOffered: readonly string[] }> {
  await using end = new AsyncDisposableStack();
  const cluster = await startCluster(server);
  end.defer(() => cluster.stop());
  await serveDefinitions(cluster, definitionsOfRook());
  const namespaces = Object.keys(clusters);
  for (const namespace of namespaces) await makeNamespace(cluster, namespace);
  end.defer(async () => {
    await Promise.all(namespaces.map((name) => remove(cluster, Namespace, { name })));
  });
  const operator = await startOurOperator(cluster, namespaces);
  end.defer(() => operator.stop());
  const played = Object.entries(clusters).map(
    async ([namespace, rook]) =>
      [namespace, await playIn(cluster, namespace, { mode: 'rook', rook, ...parts })] as const,
  );
  return { moments: Object.fromEntries(await Promise.all(played)) as Moments, notOffered: cluster.notOffered };
}

async function playIn(cluster: Cluster, namespace: string, spec: object): Promise<Moments[string]> {
  const { client } = cluster;
  const ref = { namespace, name: 'ceph' };
  const metadata = { ...ref };
  const resource: KubeObject = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'CephStorage', metadata, spec };
  await client.create<KubeObject>(CephStorage, resource);
  await until(
    cluster,
    CephStorage as Kind,
    ref,
    (found) => said(found, 'RookReady')?.includes('CephCluster of') === true,
  );
  const stringData = { mon_host: monitors, mon_initial_members: 'a' };
  await client.create(Secret, secretOf(namespace, 'rook-ceph-config', stringData));
  for (const kind of rookKinds)
    for (const { metadata } of (await client.list(kind, { namespace })).items) {
      const { name, generation = 0 } = metadata;
      const userKey = Buffer.alloc(28, name).toString('base64');
      if (kind === CephClient)
        await client.create(
          Secret,
          secretOf(namespace, `rook-ceph-client-${name}`, { [name]: userKey, userID: name, userKey }),
        );
      const status = { phase: 'Ready', observedGeneration: generation };
      const patched = await client.patch(kind, { namespace, name }, 'merge', { status }, { subresource: 'status' });
      expect(patched['status']).toMatchObject(status);
    }
  await until(
    cluster,
    CephStorage as Kind,
    ref,
    (found) => found !== undefined && conditionOf(found, 'ConfigReady')?.status === 'True',
  );
  const { data = {} } = await client.get(Secret, { namespace, name: 'ceph-config-files' });
  const files = Object.entries(data)
    .sort(byName)
    .map(([file, text]) => `${file}: ${Buffer.from(text, 'base64').toString()}`);
  await remove(cluster, CephStorage, ref);
  const objects = await finalObjects(cluster, rookKinds, namespace);
  // Of Rook alone: how our operator tells of itself, its own tests compare.
  return { ...objects, events: [], files };
}

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}

function said(found: KubeObject | undefined, type: string): string | undefined {
  return found && conditionOf(found, type)?.message;
}

function secretOf(namespace: string, name: string, stringData: Record<string, string>): Secret {
  return { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/rook', metadata: { namespace, name }, stringData };
}

test("what is composed of Rook's kinds is valid by its own definitions, and stays; what it makes is used", async () => {
  const real = await play('kubernetes');
  const { used = {}, devices = {}, volumes = {} } = real.moments;
  const rest = ['CephBlockPool images', 'CephBlockPool volumes', 'CephFilesystem files'];
  const users = ['cinder', 'glance', 'manila'].map((user) => `CephClient ${user}`);
  expect(Object.keys(used)).toEqual(expect.arrayContaining([...rest, ...users]));
  expect(Object.keys(used)).not.toContain('CephCluster ceph');
  // No field of it is one that these definitions do not know: the server would have dropped that.
  expect(devices['CephCluster ceph']).toMatchObject({
    spec: {
      cephVersion: { image: cephImage },
      dataDirHostPath: '/var/lib/rook',
      mon: { count: 3, allowMultiplePerNode: false },
      mgr: { count: 2, allowMultiplePerNode: false },
      storage: { useAllNodes: true, useAllDevices: false, deviceFilter: '^sd[b-z]$' },
      placement: {
        all: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'storage', operator: 'In', values: ['ceph'] }] }],
            },
          },
        },
      },
    },
  });
  expect(volumes['CephCluster ceph']).toMatchObject({
    spec: {
      storage: {
        storageClassDeviceSets: [
          {
            name: 'osds',
            count: 4,
            portable: true,
            volumeClaimTemplates: [
              { spec: { storageClassName: 'fast', volumeMode: 'Block', resources: { requests: { storage: '1Ti' } } } },
            ],
          },
        ],
      },
    },
  });
  expect(used['CephBlockPool volumes']).toMatchObject({
    spec: { failureDomain: 'osd', replicated: { size: 1, requireSafeReplicaSize: false } },
  });
  expect(used['CephFilesystem files']).toMatchObject({
    spec: {
      preserveFilesystemOnDelete: true,
      metadataPool: { failureDomain: 'osd', replicated: { size: 1 } },
      dataPools: [{ name: 'data0', failureDomain: 'osd', replicated: { size: 1 } }],
      metadataServer: { activeCount: 1, activeStandby: true },
    },
  });
  expect(used['files']).toContain(`ceph.conf: [global]\nmon_host = ${monitors}\n`);
  const ours = await play('sandbox');
  expect(differencesOf(real.moments, ours.moments)).toEqual([]);
  expect(ours.notOffered).toEqual([]);
});
