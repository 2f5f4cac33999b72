import { CustomResourceDefinition, defineKind, type Kind, Secret } from '@openstack-operator/kube';
import type { Cloud } from './cloud.ts';
import { definition } from './definition.ts';

const kindOf = (kind: string) => defineKind('ceph.rook.io/v1', kind, `${kind.toLowerCase()}s`);

export const CephBlockPool = kindOf('CephBlockPool');
export const CephClient = kindOf('CephClient');
export const CephFilesystem = kindOf('CephFilesystem');
const kinds: readonly Kind[] = [CephBlockPool, CephClient, CephFilesystem];

/** Serves Rook's kinds, whatever objects of them say: what its own definitions take, test/kubernetes/foreign knows. */
export async function serveRook(cloud: Cloud): Promise<void> {
  const client = cloud.rehearsal.sandbox.client();
  for (const { group, version, kind, plural } of kinds)
    await cloud.settle(client.create(CustomResourceDefinition, definition(group, version, kind, plural)));
}

/** What Rook does of what is stated at this moment: the Secrets of monitors and of users, then the phase of each object. */
export async function playRook(cloud: Cloud, monitors: string): Promise<void> {
  const client = cloud.rehearsal.sandbox.client();
  const state = (name: string, stringData: Record<string, string>) => {
    const metadata = { name, namespace: 'openstack' };
    const secret = { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/rook', metadata, stringData } as const;
    return cloud.settle(client.apply(Secret, secret, { fieldManager: 'rook', force: true }));
  };
  await state('rook-ceph-config', { mon_host: monitors, mon_initial_members: 'a' });
  for (const { metadata } of cloud.list('CephClient')) {
    const userKey = Buffer.alloc(28, metadata.name).toString('base64');
    await state(`rook-ceph-client-${metadata.name}`, { [metadata.name]: userKey, userID: metadata.name, userKey });
  }
  for (const kind of kinds)
    for (const { metadata } of cloud.list(kind.kind)) {
      const status = { phase: 'Ready', observedGeneration: metadata.generation };
      const ref = { namespace: 'openstack', name: metadata.name };
      await cloud.settle(client.patch(kind, ref, 'merge', { status }, { subresource: 'status' }));
    }
}
