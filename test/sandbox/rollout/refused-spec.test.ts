import { Keystone, Neutron, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly, readyCloud } from './cloud.ts';

test('a mistake that only the definition of the service knows is told before anything of it begins, with its whole path', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const keystone = { components: { api: { replcas: 2 } }, databaseRef: { names: 'elsewhere' } };
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, keystone })));
  await cloud.until(() => cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady') !== undefined);
  const told = cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady');
  expect(told?.reason).toBe('SpecRefused');
  expect(told?.message).toContain('spec.keystone.components.api.replcas: unknown field');
  expect(told?.message).toContain('spec.keystone.databaseRef.names: unknown field');
  const waiting = cloud.condition(OpenStackControlPlane, 'my-cloud', 'MariaDBReady');
  expect(waiting).toMatchObject({ status: 'False', reason: 'Waiting' });
  expect(waiting?.message).toBe('nothing is changed before what KeystoneReady tells is mended');
  await cloud.clock.advance(120_000);
  expect(cloud.list('MariaDB')).toEqual([]);
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { keystone: { components: null, databaseRef: null } },
  });
  await cloud.ready();
});

test('a change that a service cannot take leaves all as it is, until it is mended', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.ready();
  const before = cloud.get('Keystone', 'my-cloud-keystone');
  const database = cloud.get('MariaDB', 'my-cloud-mariadb');

  const wrong = {
    components: { api: { replicas: 500, processes: 4 } },
    recordsAudit: { schedule: 'whenever' },
    database: { user: 'other' },
  };
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { keystone: wrong, memcached: { maxConnections: 2048 } },
  });
  await cloud.until(
    () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady')?.reason === 'SpecRefused',
  );
  const { message = '' } = cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady') ?? {};
  expect(message).toContain('spec.keystone.components.api.replicas: ');
  expect(message).toContain('should be less than or equal to 100');
  expect(message).toContain('spec.keystone.recordsAudit.schedule: ');
  await cloud.clock.advance(120_000);
  expect(cloud.get('Keystone', 'my-cloud-keystone')?.metadata.generation).toBe(before?.metadata.generation);
  expect(cloud.isReady('Keystone', 'my-cloud-keystone')).toBe(true);
  expect(cloud.get('Memcached', 'my-cloud-memcached')?.['spec']).not.toHaveProperty('maxConnections');
  // 500 pods would need more connections, for which the database would be restarted.
  expect(cloud.get('MariaDB', 'my-cloud-mariadb')?.metadata.generation).toBe(database?.metadata.generation);

  const right = { components: { api: { replicas: 1, processes: 4 } }, recordsAudit: null };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { keystone: right } });
  // Rules are looked at once all has the right shape.
  const told = () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady')?.message ?? '';
  await cloud.until(() => told().includes('spec.keystone.database.user: '));
  expect(told()).toContain('cannot be changed after creation');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { keystone: { database: null } } });
  await cloud.ready();
  expect(cloud.get('Keystone', 'my-cloud-keystone')).toMatchObject({ spec: { components: { api: { processes: 4 } } } });
  expect(cloud.condition(Keystone, 'my-cloud-keystone')?.status).toBe('True');
  expect(cloud.get('Memcached', 'my-cloud-memcached')).toMatchObject({ spec: { maxConnections: 2048 } });
});

test.each([
  ['503', { kind: 'status', code: 503 } as const],
  ['a broken connection', { kind: 'drop' } as const],
])('a question that got %s for an answer changes nothing', async (_how, fault) => {
  let faults = 0;
  const cloud = await createCloud({
    server: {
      faults: {
        request: ({ query, resource }) =>
          query.get('dryRun') === 'All' && resource === 'keystones' && faults-- > 0 ? fault : undefined,
      },
    },
  });
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.ready();
  const database = cloud.get('MariaDB', 'my-cloud-mariadb');
  faults = 1;
  const keystone = { components: { api: { replicas: 500, processes: 4 } } };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { keystone } });
  await cloud.until(
    () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady')?.reason === 'SpecRefused',
  );
  expect(cloud.get('MariaDB', 'my-cloud-mariadb')?.metadata.generation).toBe(database?.metadata.generation);
});

test('with a mistake beside it no service is disabled, and no node is claimed', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const glance = { ...identityOnly, glance: {}, deletionPolicy: 'Delete' };
  await cloud.settle(cloud.rehearsal.create(controlPlane(glance)));
  await cloud.ready();
  const mistake = { components: { api: { replicaz: 3 } } };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { enabled: false }, keystone: mistake } });
  await cloud.clock.advance(120_000);
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady')?.reason).toBe('SpecRefused');
  expect(cloud.isReady('Glance', 'my-cloud-glance')).toBe(true);
  await cloud.settle(cloud.rehearsal.create(controlPlane({ keystone: mistake }, 'mistaken')));
  await cloud.clock.advance(120_000);
  expect(cloud.condition(OpenStackControlPlane, 'mistaken', 'NodesReady')?.reason).toBe('Waiting');
  expect(cloud.list('Node').map(({ metadata }) => metadata.labels?.['openstack.k8s.io/cloud'])).not.toContain(
    'openstack.mistaken',
  );
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { keystone: { components: null } } });
  await cloud.until(() => cloud.get('Glance', 'my-cloud-glance') === undefined);
});

test('a roll of node agents that is not wanted any more ends, although a mistake holds back all services', async () => {
  const { cloud } = await readyCloud();
  const roll = (value: string | null) => ({
    metadata: { annotations: { 'openstack.k8s.io/roll-node-agents': value } },
  });
  const rolls = (kind: string, name: string) =>
    cloud.get(kind, name)?.metadata.annotations?.['openstack.k8s.io/roll-node-agents'];
  await cloud.change(OpenStackControlPlane, 'my-cloud', roll('true'));
  await cloud.until(() => rolls('Nova', 'my-cloud-nova') === 'true');
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { keystone: { recordsAudit: { schedule: 'never' } } },
  });
  await cloud.until(
    () => cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady')?.reason === 'SpecRefused',
  );
  // By hand on a child it is the user's own word.
  await cloud.change(Neutron, 'my-cloud-neutron', roll('true'));
  await cloud.change(OpenStackControlPlane, 'my-cloud', roll(null));
  await cloud.until(() => rolls('Nova', 'my-cloud-nova') === undefined);
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud', 'KeystoneReady')?.reason).toBe('SpecRefused');
});
