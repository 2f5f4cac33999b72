import {
  connect,
  isApiError,
  type Kind,
  type KubeObject,
  Node,
  Pod,
  parseTimestamp,
  realClock,
  type StoredObject,
} from '@openstack-operator/kube';
import { kinds, OpenStackControlPlane } from '@openstack-operator/openstack';
import { beforeAll, expect, test } from 'vitest';
import { createCloud } from '../sandbox/rollout/cloud.ts';
import { builtIn, differences, finalObjects } from '../sandbox/rollout/normalise.ts';
import { inversions, transitionsOf } from '../sandbox/rollout/order.ts';

/** What a cluster's owner chooses, and no operator: the default StorageClass, the operator's image. */
function chosen(objects: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(objects)
    .replaceAll(/"storageClassName":"[^"]*"/g, '"storageClassName":"*"')
    .replaceAll(/"image":"[^"]*\/openstack-operator:[^"]*"/g, '"image":"*"');
  return JSON.parse(text) as Record<string, unknown>;
}

let real: StoredObject[];
let embedded: StoredObject[];

beforeAll(async () => {
  const { client } = await connect({ env: process.env, clock: realClock });
  const [controlPlane] = (await client.list(OpenStackControlPlane)).items;
  if (controlPlane === undefined) throw new Error('the cluster has no OpenStackControlPlane');
  const { name, namespace = 'default' } = controlPlane.metadata;
  real = [];
  for (const kind of [...kinds, ...builtIn, Pod]) {
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
  embedded = cloud.rehearsal.objects();
  cloud.rehearsal.stop();
});

test('the embedded Kubernetes ends with the same objects as the real one', () => {
  expect(differences(chosen(finalObjects(real)), chosen(finalObjects(embedded)))).toEqual([]);
});

/**
 * Seconds by which conditions are clearly apart: what runs side by side on two cores takes turns. By 11 s came Neutron's
 * agents once before its endpoint, and once after it.
 */
const apart = 30;

test('the conditions of the real cloud became True in the order of the embedded one', ({ skip }) => {
  const begun = real.find(({ kind }) => kind === OpenStackControlPlane.kind)?.metadata.creationTimestamp ?? '';
  const disturbed = real.filter(({ kind, metadata, status }) => {
    if (kind !== 'Pod') return false;
    const { containerStatuses = [] } = (status ?? {}) as { containerStatuses?: { restartCount: number }[] };
    const late = parseTimestamp(metadata.creationTimestamp ?? '') - parseTimestamp(begun) > 600_000;
    return late || containerStatuses.some(({ restartCount }) => restartCount > 0);
  });
  // Conditions only know when they changed last.
  if (disturbed.length > 0) skip(`${disturbed.length} pods are not those of the first rollout, or were restarted`);
  expect(inversions(transitionsOf(real), transitionsOf(embedded), apart)).toEqual([]);
});
