import { Pod } from '@openstack-operator/kube';
import { conditionOf, OVNNetwork } from '@openstack-operator/openstack';
import type { Cloud } from './cloud.ts';

/** The metadata of a node; undefined when it is gone. */
export const nodeOf = (cloud: Cloud, name = 'node-1') => cloud.get('Node', name, undefined)?.metadata;

/** The cloud that has claimed a node. */
export const claimantOf = (cloud: Cloud, name?: string) => nodeOf(cloud, name)?.labels?.['openstack.k8s.io/cloud'];

/** A chassis that stands alone in a namespace: the smallest thing that claims nodes. */
export const edgeNetwork = (namespace: string, spec: object = {}) => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OVNNetwork',
  metadata: { name: 'net', namespace },
  spec: { nodeGroups: [{ name: 'edge' }], ...spec },
});

/** Deletes the network of a namespace, and waits for its end. */
export const removed = async (cloud: Cloud, namespace: string) => {
  await cloud.settle(cloud.rehearsal.sandbox.client().delete(OVNNetwork, { namespace, name: 'net' }));
  await cloud.until(() => cloud.get('OVNNetwork', 'net', namespace) === undefined, 5);
};

/** What a script says on node-1 itself. */
export const onNode = async (cloud: Cloud, script: string) => {
  const path = '/var/lib/nova';
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'look', namespace: 'default' },
    spec: {
      nodeName: 'node-1',
      containers: [
        {
          name: 'look',
          image: 'nova-libvirt',
          command: ['sleep', '6000'],
          volumeMounts: [{ name: 'nova', mountPath: path }],
        },
      ],
      volumes: [{ name: 'nova', hostPath: { path } }],
    },
  };
  await cloud.until(() => cloud.get('ServiceAccount', 'default', 'default') !== undefined);
  if (cloud.get('Pod', 'look', 'default') === undefined)
    await cloud.settle(cloud.rehearsal.sandbox.client().create(Pod, pod));
  await cloud.until(() => conditionOf(cloud.get('Pod', 'look', 'default') ?? pod, 'Ready')?.status === 'True', 5);
  const run = cloud.rehearsal.sandbox.pods.exec({ namespace: 'default', name: 'look' }, ['bash', '-c', script]);
  return (await cloud.settle(run)).stdout.trim();
};
