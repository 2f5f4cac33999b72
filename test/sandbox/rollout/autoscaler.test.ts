import { Deployment, HorizontalPodAutoscaler, type Kind, StatefulSet } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';

const namespace = 'openstack';
const api = 'my-cloud-keystone-api';

async function autoscale(cloud: Cloud, name: string, kind = 'Deployment') {
  const autoscaler: HorizontalPodAutoscaler = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace },
    spec: { minReplicas: 1, maxReplicas: 9, scaleTargetRef: { apiVersion: 'apps/v1', kind, name } },
  };
  await cloud.settle(cloud.rehearsal.sandbox.client().create(HorizontalPodAutoscaler, autoscaler));
  await cloud.clock.advance(5000);
}

const scale = async (cloud: Cloud, name: string, replicas: number, kind: Kind = Deployment) => {
  const options = { subresource: 'scale', fieldManager: 'kube-controller-manager' };
  const client = cloud.rehearsal.sandbox.client();
  await cloud.settle(client.patch(kind, { namespace, name }, 'merge', { spec: { replicas } }, options));
  await cloud.clock.advance(5000);
};
const specOf = (cloud: Cloud, name: string, kind = 'Deployment') =>
  cloud.get(kind, name)?.['spec'] as {
    replicas: number;
    template: { spec: { terminationGracePeriodSeconds: number } };
  };
const replicas = (cloud: Cloud, name: string, kind?: string) => specOf(cloud, name, kind).replicas;
const keystone = (cloud: Cloud, spec: object) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { keystone: spec } });
const noted = (text: string) => ({ components: { api: { annotations: { 'example.com/note': text } } } });
const template = (cloud: Cloud) => JSON.stringify(specOf(cloud, api).template);

async function twoReplicas() {
  const { cloud, operator } = await readyCloud({ spec: { ...identityOnly, keystone: { replicas: 2 } } });
  await autoscale(cloud, api);
  return { cloud, operator };
}

/** Every number of replicas that a Deployment ever has from now on. */
function follow(cloud: Cloud, name: string): Set<number> {
  const seen = new Set<number>();
  cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ object }) => {
    if (object.kind === 'Deployment' && object.metadata.name === name)
      seen.add((object['spec'] as { replicas: number }).replicas);
  });
  return seen;
}

test('replicas are those of an autoscaler as long as there is one, then those that are stated', async () => {
  const { cloud, operator } = await twoReplicas();
  await scale(cloud, api, 4);
  const generation = cloud.get('Deployment', api)?.metadata.generation;
  await cloud.clock.advance(600_000);
  await cloud.ready();
  expect(replicas(cloud, api)).toBe(4);
  expect(cloud.get('Deployment', api)?.metadata.generation).toBe(generation);

  const seen = follow(cloud, api);
  const before = template(cloud);
  await keystone(cloud, noted('one'));
  await cloud.until(() => template(cloud) !== before);
  await cloud.ready();
  await keystone(cloud, { replicas: 3 });
  await cloud.ready();
  operator.kill();
  await scale(cloud, api, 5);
  await cloud.startOperator();
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect([...seen]).toEqual([4, 5]);

  await cloud.remove(HorizontalPodAutoscaler, api);
  await cloud.until(() => replicas(cloud, api) === 3);
  await cloud.ready();
  await scale(cloud, api, 6);
  expect(replicas(cloud, api)).toBe(3);
});

test('an autoscaler that has not changed anything yet takes over what runs', async () => {
  const { cloud } = await twoReplicas();
  const seen = follow(cloud, api);
  for (const note of ['one', 'two']) {
    const before = template(cloud);
    await keystone(cloud, noted(note));
    await cloud.until(() => template(cloud) !== before);
    await cloud.ready();
  }
  await scale(cloud, api, 1);
  await keystone(cloud, noted('three'));
  await cloud.ready();
  await cloud.clock.advance(60_000);
  expect([...seen]).toEqual([2, 1]);
});

test('an autoscaler that is pointed elsewhere gives the replicas back', async () => {
  const { cloud } = await twoReplicas();
  await scale(cloud, api, 4);
  await cloud.change(HorizontalPodAutoscaler, api, { spec: { scaleTargetRef: { name: 'other' } } });
  await cloud.until(() => replicas(cloud, api) === 2);
});

test('what has a single pod, and what runs without an autoscaler, is corrected', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const single = [
    ['my-cloud-memcached', Deployment],
    ['my-cloud-mariadb', StatefulSet],
  ] as const;
  for (const [name, { kind }] of single) await autoscale(cloud, name, kind);
  for (const [name, kind] of [...single, [api, Deployment] as const]) {
    await scale(cloud, name, 3, kind);
    expect(replicas(cloud, name, kind.kind)).toBe(1);
  }
});
