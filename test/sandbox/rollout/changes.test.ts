import { type Kind, type StoredObject } from '@openstack-operator/kube';
import { digest, OpenStackControlPlane } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { type Cloud, isLasting, readyCloud } from './cloud.ts';
import { sharedCloud } from './shared-cloud.ts';

/** Kinds of the operator's own making whose contents are compared. */
const kinds = [
  'ConfigMap',
  'Secret',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'Service',
  'Job',
  'PodDisruptionBudget',
  'NetworkPolicy',
];

/** What each object says, and which pods run. */
function snapshot(cloud: Cloud): Map<string, string> {
  const entries = kinds
    .flatMap((kind) => cloud.list(kind))
    .filter((object) => object.metadata.namespace === 'openstack' && isLasting(object));
  const pods = cloud
    .list('Pod')
    .filter(isLasting)
    .map((pod) => [`Pod ${pod.metadata.name}`, pod.metadata.uid] as const);
  return new Map([
    ...entries.map(
      (object) => [`${object.kind} ${object.metadata.name}`, digest([object['spec'], object['data']])] as const,
    ),
    ...pods,
  ]);
}

function changed(before: Map<string, string>, after: Map<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  // Pods and hashed ConfigMaps have names of chance: their workload says enough.
  const plain = (name: string) =>
    name.replace(/^(Pod .*?)-[a-z0-9]+-[a-z0-9]{5}$/, '$1').replace(/^(ConfigMap .*)-[a-z0-5]{10}$/, '$1');
  return [...new Set([...names].filter((name) => before.get(name) !== after.get(name)).map(plain))].sort();
}

async function change(cloud: Cloud, spec: Record<string, unknown>): Promise<string[]> {
  const before = snapshot(cloud);
  const client = cloud.rehearsal.sandbox.client();
  const ref = { namespace: 'openstack', name: 'my-cloud' };
  const { metadata } = await cloud.settle(client.patch(OpenStackControlPlane as Kind, ref, 'merge', { spec }));
  const reported = () =>
    (cloud.get('OpenStackControlPlane', 'my-cloud') as StoredObject)['status'] as { observedGeneration?: number };
  await cloud.until(() => reported().observedGeneration === metadata.generation);
  await cloud.clock.advance(5000);
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  await cloud.clock.advance(60_000);
  return changed(before, snapshot(cloud));
}

const shared = sharedCloud(() => readyCloud());

describe('one field changes', () => {
  test('replicas of the scheduler: its Deployment, its budget, its pods', async () => {
    const { cloud } = await shared();
    expect(await change(cloud, { nova: { components: { scheduler: { replicas: 2 } } } })).toEqual([
      'Deployment my-cloud-nova-scheduler',
      'Pod my-cloud-nova-scheduler',
      'PodDisruptionBudget my-cloud-nova-scheduler',
    ]);
  });

  test('processes of components whose files others read: their pods alone', async () => {
    const { cloud } = await shared();
    const components = { conductor: { processes: 1 }, 'cell-conductor': { processes: 1 } };
    expect(await change(cloud, { nova: { components } })).toEqual([
      'Deployment my-cloud-nova-cell1-conductor',
      'Deployment my-cloud-nova-conductor',
      'Pod my-cloud-nova-cell1-conductor',
      'Pod my-cloud-nova-conductor',
    ]);
  });

  test('a field that ends in a config file: who mounts that file, and no node agent', async () => {
    const { cloud } = await shared();
    expect(await change(cloud, { keystone: { tokenExpiration: 7200 } })).toEqual([
      'ConfigMap my-cloud-keystone-config',
      'Deployment my-cloud-keystone-api',
      'Pod my-cloud-keystone-api',
    ]);
  });

  test('an image: the workload that runs it', async () => {
    const { cloud } = await shared();
    const images = { conductor: 'registry.example.org/openstack.kolla/nova-conductor:2025.1-debian-bookworm' };
    const result = await change(cloud, { nova: { images } });
    expect(result).toContain('Deployment my-cloud-nova-conductor');
    expect(result.filter((name) => /^(DaemonSet|StatefulSet|Secret|Service|ConfigMap) /.test(name))).toEqual([]);
    expect(result.filter((name) => name.startsWith('Deployment ') && !name.includes('conductor'))).toEqual([]);
  });

  test('events say what was done', async () => {
    const { cloud } = await shared();
    await change(cloud, { keystone: { tokenExpiration: 7200 } });
    const notes = cloud
      .list('Event')
      .map(
        (event) =>
          `${(event['regarding'] as { kind?: string } | undefined)?.kind ?? (event['involvedObject'] as { kind?: string } | undefined)?.kind} ${String(event['reason'])}`,
      );
    expect(notes).toContain('Keystone Ready');
  });
});
