import { type PersistentVolumeClaim, StorageClass } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, readyCloud } from './cloud.ts';
import { builder, swift, name as swiftName, spec as swiftSpec } from './swift.ts';

const minute = 60_000;
const allow = (cloud: Cloud, allowVolumeExpansion: boolean) =>
  cloud.change(StorageClass, 'standard', { allowVolumeExpansion });
const change = async (cloud: Cloud, spec: object) => {
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec });
  await cloud.clock.advance(5 * minute);
};
const sizes = (cloud: Cloud, part: string) =>
  cloud
    .list('PersistentVolumeClaim')
    .filter(({ metadata }) => metadata.name.includes(part))
    .map(({ spec }) => (spec as PersistentVolumeClaim['spec'])?.resources?.requests?.['storage']);
/** What a resource says: Ready, and the messages of its conditions that are Degraded. */
function told(cloud: Cloud, kind: string, name: string) {
  const { conditions = [] } = (cloud.get(kind, name)?.['status'] ?? {}) as {
    conditions?: { type: string; status: string; reason: string; message: string }[];
  };
  return {
    ready: conditions.find(({ type }) => type === 'Ready'),
    degraded: conditions.filter(({ reason }) => reason === 'Degraded').map(({ message }) => message),
  };
}
const refused = (claim: string, has: string, field: string, wanted: string) =>
  `PersistentVolumeClaim ${claim} stays at ${has}, although ${field} asks for ${wanted}: persistentvolumeclaims "${claim}" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize. Set allowVolumeExpansion: true in StorageClass standard if its driver can expand volumes, or lower ${field} to ${has}`;
const template = (cloud: Cloud, name: string) => {
  const { volumeClaimTemplates = [] } = (cloud.get('StatefulSet', name)?.['spec'] ?? {}) as {
    volumeClaimTemplates?: PersistentVolumeClaim[];
  };
  return volumeClaimTemplates[0]?.spec?.resources?.requests?.['storage'];
};

test('a database whose volume may not grow serves and changes on, and its size can be taken back', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  await allow(cloud, false);
  await change(cloud, { mariadb: { storage: { size: '20Gi' } } });
  const words = refused('data-my-cloud-mariadb-0', '10Gi', 'spec.storage.size', '20Gi');
  const { ready, degraded } = told(cloud, 'MariaDB', 'my-cloud-mariadb');
  expect(ready).toMatchObject({ status: 'True', message: words });
  expect(degraded).toEqual([words]);
  expect(cloud.isReady('OpenStackControlPlane', 'my-cloud')).toBe(true);
  expect(JSON.stringify(cloud.get('OpenStackControlPlane', 'my-cloud')?.['status'])).toContain('stays at 10Gi');
  await change(cloud, { mariadb: { maxConnections: 1234 } });
  expect(JSON.stringify(cloud.list('ConfigMap').map(({ data }) => data))).toContain('1234');
  expect(cloud.isReady('MariaDB', 'my-cloud-mariadb')).toBe(true);
  // Less than there is does no harm.
  await change(cloud, { mariadb: { storage: { size: '5Gi' } } });
  expect(told(cloud, 'MariaDB', 'my-cloud-mariadb')).toMatchObject({
    ready: { status: 'True', message: '' },
    degraded: [],
  });
  expect(sizes(cloud, 'mariadb')).toEqual(['10Gi']);
  // The data of a member that comes later may not fit into less.
  expect(template(cloud, 'my-cloud-mariadb')).toBe('10Gi');
});

test('a volume grows as soon as its StorageClass lets it', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  await allow(cloud, false);
  await change(cloud, { mariadb: { storage: { size: '20Gi' } } });
  expect(sizes(cloud, 'mariadb')).toEqual(['10Gi']);
  await allow(cloud, true);
  await cloud.clock.advance(5000);
  expect(sizes(cloud, 'mariadb')).toEqual(['20Gi']);
  expect(told(cloud, 'MariaDB', 'my-cloud-mariadb')).toMatchObject({
    ready: { status: 'True', message: '' },
    degraded: [],
  });
});

test('the volume of images is asked to grow apart from the rest of its claim', async () => {
  const { cloud } = await readyCloud({ spec: { glance: { storage: { size: '20Gi' } } } });
  await allow(cloud, false);
  await change(cloud, { deletionPolicy: 'Delete', glance: { storage: { size: '30Gi' } } });
  expect(sizes(cloud, 'glance')).toEqual(['20Gi']);
  const [claim] = cloud.list('PersistentVolumeClaim').filter(({ metadata }) => metadata.name.includes('glance'));
  expect(claim?.metadata.ownerReferences).toMatchObject([{ kind: 'Glance' }]);
  expect(told(cloud, 'Glance', 'my-cloud-glance').degraded).toContain(
    refused(claim?.metadata.name ?? '', '20Gi', 'spec.storage.size', '30Gi'),
  );
  await change(cloud, { glance: { components: { api: { resources: { requests: { cpu: '123m' } } } } } });
  expect(JSON.stringify(cloud.get('Deployment', 'my-cloud-glance-api')?.['spec'])).toContain('123m');
  expect(cloud.isReady('Glance', 'my-cloud-glance')).toBe(true);
  await change(cloud, { glance: { storage: { size: '20Gi' } } });
  expect(told(cloud, 'Glance', 'my-cloud-glance')).toMatchObject({
    ready: { status: 'True', message: '' },
    degraded: [],
  });
});

test('storage nodes that may not grow keep their weights, and proxies change; with larger volumes weights follow', async () => {
  const asked = new Set<string>();
  const cloud = await createCloud({
    wire: (transport) => ({
      ...transport,
      request(request, ...rest) {
        if (request.method === 'PATCH' && request.path.includes('/persistentvolumeclaims/')) asked.add(request.path);
        return transport.request(request, ...rest);
      },
    }),
  });
  await cloud.startOperator();
  const storageGroups = [{ name: 'b', zone: 2, storageNodes: 2, storage: { size: '50Gi' } }];
  const first = { ...swift, storageNodes: 2, storage: { size: '50Gi' }, storageGroups };
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...swiftSpec, swift: first })));
  await cloud.ready();
  await cloud.clock.advance(60 * minute);
  const weights = () => builder(cloud).devices.map(({ weight }) => weight);
  const before = weights();
  await allow(cloud, false);
  await change(cloud, { swift: { replicas: 3, storage: { size: '200Gi' } } });
  expect(told(cloud, 'Swift', swiftName).degraded.join()).toContain(
    'spec.storage.size or spec.storageGroups[].storage.size',
  );
  // What is refused to one is not asked for the others.
  expect([...asked]).toEqual([expect.stringContaining(`/d1-${swiftName}-storage-0`)]);
  expect(cloud.get('Deployment', `${swiftName}-proxy`)?.['spec']).toMatchObject({ replicas: 3 });
  await cloud.clock.advance(180 * minute);
  expect(weights()).toEqual(before);
  await change(cloud, { swift: { storage: { size: '50Gi' } } });
  expect(told(cloud, 'Swift', swiftName)).toMatchObject({ ready: { status: 'True', message: '' }, degraded: [] });
  expect(cloud.isReady('OpenStackControlPlane', 'my-cloud')).toBe(true);
  await allow(cloud, true);
  await change(cloud, { swift: { storage: { size: '200Gi' } } });
  await cloud.clock.advance(180 * minute);
  expect([...new Set(weights())]).toEqual([100, 25]);
});
