import { Node, Pod } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { controlPlane, createCloud } from './cloud.ts';
import { name, spec, swift } from './swift.ts';

const on = (node: string) => ({ nodeSelector: { 'kubernetes.io/hostname': node } });

test('a pod of a StatefulSet that finds no node gets another template once, and waits', async () => {
  const cloud = await createCloud({ nodes: ['node-1', 'node-2'] });
  const operator = await cloud.startOperator();
  let deleted = 0;
  operator.onWrite(({ method }) => {
    if (method === 'DELETE') deleted += 1;
  });
  const here = on('node-1');
  const storagePolicy = { ...swift.storagePolicy, replicaCount: 1 };
  const components = { storage: on('node-2') };
  await cloud.settle(
    cloud.rehearsal.create(
      controlPlane({
        ...spec,
        mariadb: here,
        memcached: here,
        keystone: here,
        swift: { ...swift, ...here, storagePolicy, storageNodes: 1, components },
      }),
    ),
  );
  await cloud.ready();
  await cloud.change(Node, 'node-2', { spec: { unschedulable: true } });
  await cloud.remove(Pod, `${name}-storage-0`);
  await cloud.clock.advance(1_200_000);
  deleted = 0;
  const config = { 'object-server.conf': { 'object-replicator': { concurrency: 4 } } };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { config } } });
  await cloud.clock.advance(600_000);
  expect(deleted).toBe(1);
  await cloud.change(Node, 'node-2', { spec: { unschedulable: false } });
  await cloud.ready();
}, 60_000);
