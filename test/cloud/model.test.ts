import {
  connect,
  isApiError,
  type Kind,
  type KubeObject,
  Node,
  realClock,
  type StoredObject,
} from '@openstack-operator/kube';
import { kinds, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { createCloud } from '../rollout/cloud.ts';
import { builtIn, differences, finalObjects } from '../rollout/normalise.ts';

/** What a cluster's owner chooses, and no operator: the default StorageClass, the operator's image. */
function chosen(objects: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(objects)
    .replaceAll(/"storageClassName":"[^"]*"/g, '"storageClassName":"*"')
    .replaceAll(/"image":"[^"]*\/openstack-operator:[^"]*"/g, '"image":"*"');
  return JSON.parse(text) as Record<string, unknown>;
}

test('the embedded Kubernetes ends with the same objects as the real one', async () => {
  const { client } = await connect({ env: process.env, clock: realClock });
  const [controlPlane] = (await client.list(OpenStackControlPlane)).items;
  if (controlPlane === undefined) throw new Error('the cluster has no OpenStackControlPlane');
  const { name, namespace = 'default' } = controlPlane.metadata;
  const real: StoredObject[] = [];
  for (const kind of [...kinds, ...builtIn]) {
    // Not every cluster serves Gateway API.
    const { items } = await client.list(kind as Kind, { namespace }).catch((error: unknown) => {
      if (isApiError(error, 404)) return { items: [] };
      throw error;
    });
    real.push(...items);
  }

  const nodes = (await client.list(Node)).items.map(({ metadata }) => metadata.name);
  const cloud = await createCloud({ nodes });
  await cloud.startOperator();
  const again: KubeObject = {
    apiVersion: controlPlane.apiVersion,
    kind: controlPlane.kind,
    metadata: { name, namespace },
    spec: controlPlane['spec'],
  };
  await cloud.settle(cloud.rehearsal.create(again));
  await cloud.ready();
  const embedded = chosen(finalObjects(cloud.rehearsal.objects()));
  expect(differences(chosen(finalObjects(real)), embedded)).toEqual([]);
  cloud.rehearsal.stop();
});
