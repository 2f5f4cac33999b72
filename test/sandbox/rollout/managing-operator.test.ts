import type { HttpRequest } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, isLasting, readyCloud } from './cloud.ts';

const first = 'openstack-operator-system';
const operator = 'openstack.k8s.io/operator';
const operatorClass = 'openstack.k8s.io/operator-class';
const events = (cloud: Cloud) => cloud.list('Event').filter(({ reason }) => reason === 'ManagedByOtherOperator');
const annotate = (cloud: Cloud, annotations: Record<string, string | null>) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { metadata: { annotations } });

/** A namespace for another installation of the operator. */
async function namespaceOf(cloud: Cloud, namespace: string): Promise<void> {
  const metadata = { name: 'any', namespace };
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata }));
}

/** Starts an operator in another namespace, and counts what it writes beside its lease. */
async function another(cloud: Cloud, namespace: string, options: { operatorClass?: string } = {}) {
  await namespaceOf(cloud, namespace);
  const life = await cloud.startOperator({ identity: namespace, namespace, ...options });
  const writes: string[] = [];
  life.onWrite(({ method, path }: HttpRequest) => {
    if (!path.includes('/leases')) writes.push(`${method} ${path.split('?')[0]}`);
  });
  return { life, writes };
}

test('a second operator in another namespace refuses a cloud that is managed, and says by whom', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly, life: { identity: 'one' } });
  expect(cloud.get('OpenStackControlPlane', 'my-cloud')?.metadata.annotations).toMatchObject({ [operator]: first });
  expect(cloud.get('Keystone', 'my-cloud-keystone')?.metadata.annotations?.[operator]).toBeUndefined();
  await cloud.clock.advance(60_000);
  const before = cloud
    .list('Pod')
    .filter(isLasting)
    .map(({ metadata }) => metadata.uid);
  const { writes } = await another(cloud, 'second');
  await cloud.clock.advance(600_000);
  await annotate(cloud, { 'example.org/anything': 'changes' });
  await cloud.clock.advance(60_000);
  expect(writes.filter((write) => !write.includes('/events'))).toEqual([]);
  expect(
    cloud
      .list('Pod')
      .filter(isLasting)
      .map(({ metadata }) => metadata.uid),
  ).toEqual(before);
  expect(cloud.isReady('OpenStackControlPlane', 'my-cloud')).toBe(true);
  expect(events(cloud)).toHaveLength(1);
  expect(JSON.stringify(events(cloud))).toContain(`is managed by the operator in namespace ${first}`);
  expect(JSON.stringify(events(cloud))).toContain(`${operator}=second`);
});

test('a cloud is handed over by its annotation: the second operator takes it, restarts nothing, and the first one leaves it alone', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly, life: { identity: 'one' } });
  await cloud.clock.advance(60_000);
  const before = [...cloud.list('Pod'), ...cloud.list('Job')].filter(isLasting).map(({ metadata }) => metadata.uid);
  const { writes } = await another(cloud, 'second');
  await annotate(cloud, { [operator]: 'second' });
  await cloud.clock.advance(60_000);
  expect([...cloud.list('Pod'), ...cloud.list('Job')].filter(isLasting).map(({ metadata }) => metadata.uid)).toEqual(
    before,
  );
  writes.length = 0;
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { keystone: { replicas: 2 } } });
  await cloud.ready();
  expect(
    writes.some((write) => write.startsWith('PATCH') && write.endsWith('/deployments/my-cloud-keystone-api')),
  ).toBe(true);
  expect(JSON.stringify(events(cloud))).toContain('is managed by the operator in namespace second');
});

test('an operator that is gone is replaced only when the resource is handed over', async () => {
  const { cloud, operator: gone } = await readyCloud({ spec: identityOnly, life: { identity: 'one' } });
  await cloud.settle(gone.stop());
  const { writes } = await another(cloud, 'second');
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.clock.advance(60_000);
  expect(writes.filter((write) => !write.includes('/events'))).toEqual([]);
  expect(cloud.get('OpenStackControlPlane', 'my-cloud')?.metadata.deletionTimestamp).toBeDefined();
  await annotate(cloud, { [operator]: 'second' });
  await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined, 5);
});

test('of two operators that meet a new cloud at once, one manages it', async () => {
  const cloud = await createCloud();
  await namespaceOf(cloud, 'second');
  const lives = [
    await cloud.startOperator({ identity: 'one' }),
    await cloud.startOperator({ identity: 'two', namespace: 'second' }),
  ];
  const writers = new Set<number>();
  for (const [index, life] of lives.entries()) {
    life.onWrite(({ path }) => {
      if (/\/(?:statefulsets|deployments|jobs)\//.test(path)) writers.add(index);
    });
  }
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.ready();
  expect(writers.size).toBe(1);
});

test('operators of different classes live side by side, each with the clouds of its class', async () => {
  const cloud = await createCloud();
  const { writes } = await another(cloud, 'second', { operatorClass: 'blue' });
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.clock.advance(300_000);
  expect(writes).toEqual([]);
  expect(cloud.get('OpenStackControlPlane', 'my-cloud')?.status).toBeUndefined();
  expect(events(cloud)).toEqual([]);
  await annotate(cloud, { [operatorClass]: 'blue' });
  await cloud.ready();
  await cloud.startOperator({ identity: 'one' });
  await cloud.clock.advance(60_000);
  expect(cloud.get('OpenStackControlPlane', 'my-cloud')?.metadata.annotations).toMatchObject({ [operator]: 'second' });
  expect(events(cloud)).toEqual([]);
});

test('an operator of a class lets the services of its clouds go', async () => {
  const cloud = await createCloud();
  await another(cloud, 'second', { operatorClass: 'blue' });
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, placement: {} })));
  await annotate(cloud, { [operatorClass]: 'blue' });
  await cloud.ready();
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(() => cloud.list('Placement').length === 0, 5);
});
