import { Keystone, Placement } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { login } from './keystone.ts';

const kubernetes = { apiVersion: 'openstack.k8s.io/v1alpha1' };
const metadata = (name: string) => ({ name, namespace: 'openstack' });
const secondKeystone = {
  ...kubernetes,
  kind: 'Keystone',
  metadata: metadata('second'),
  spec: { databaseRef: { name: 'my-cloud-mariadb' }, cacheRef: { name: 'my-cloud-memcached' } },
};
const ownNames = { database: { names: { keystone: 'other' }, user: 'other' } };
const secret = (cloud: Cloud, name: string) => {
  const { password = '' } = (cloud.get('Secret', name)?.['data'] ?? {}) as Record<string, string>;
  return Buffer.from(password, 'base64').toString();
};
const databases = async (cloud: Cloud) => {
  const password = secret(cloud, 'my-cloud-mariadb-root-password');
  const argv = ['mariadb', '-h127.0.0.1', '-uroot', `-p${password}`, '-N', '-e', 'SHOW DATABASES'];
  const pod = { namespace: 'openstack', name: 'my-cloud-mariadb-0' };
  return (await cloud.settle(cloud.rehearsal.sandbox.pods.exec(pod, argv))).stdout.split('\n');
};

test('a second Keystone on the same database does nothing, and says what the first one has', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  await cloud.settle(cloud.rehearsal.create(secondKeystone));
  await cloud.until(() => cloud.condition(Keystone, 'second')?.reason === 'AccountTaken');
  expect(cloud.condition(Keystone, 'second')?.message).toBe(
    'database keystone, user keystone of the database server: Keystone my-cloud-keystone of this namespace uses the same; create this one again with other names (spec.database.names, spec.database.user), or delete the other one',
  );
  await cloud.clock.advance(300_000);
  expect(await login(cloud)).not.toBe('');
  expect(cloud.isReady('Keystone', 'my-cloud-keystone')).toBe(true);

  await cloud.remove(Keystone, 'second');
  await cloud.until(() => cloud.get('Keystone', 'second') === undefined);
  await cloud.settle(cloud.rehearsal.create({ ...secondKeystone, spec: { ...secondKeystone.spec, ...ownNames } }));
  await cloud.until(() => cloud.isReady('Keystone', 'second'));
  expect(await databases(cloud)).toEqual(expect.arrayContaining(['keystone', 'other']));
  expect(await login(cloud)).not.toBe('');
});

test('a service of another kind takes no account of one that is there, nor the administrator', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const refs = Object.fromEntries(
    ['keystone', 'mariadb'].map((name) => [
      name === 'mariadb' ? 'databaseRef' : 'keystoneRef',
      { name: `my-cloud-${name}` },
    ]),
  );
  const placement = (name: string, more: object) => ({
    ...kubernetes,
    kind: 'Placement',
    metadata: metadata(name),
    spec: { ...refs, ...more },
  });
  const database = { names: { placement: 'keystone' }, user: 'keystone' };
  await cloud.settle(cloud.rehearsal.create(placement('thief', { database, identity: { userName: 'thief' } })));
  await cloud.until(() => cloud.condition(Placement, 'thief')?.reason === 'AccountTaken');
  expect(cloud.condition(Placement, 'thief')?.message).toContain(
    'database keystone, user keystone of the database server: Keystone my-cloud-keystone of this namespace uses the same',
  );
  const own = { database: { names: { placement: 'own' }, user: 'own' }, identity: { userName: 'admin' } };
  await cloud.settle(cloud.rehearsal.create(placement('admin', own)));
  await cloud.until(() => JSON.stringify(cloud.get('Placement', 'admin')?.['status']).includes('keeps these records'));
  expect(await login(cloud)).not.toBe('');
});

test('who has what another one has takes nothing of it back', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, placement: { enabled: true } } });
  const brought = {
    'their-database': { username: 'root', password: secret(cloud, 'my-cloud-mariadb-root-password') },
    'their-keystone': {
      username: 'admin',
      password: secret(cloud, 'my-cloud-keystone-admin-password'),
      projectName: 'admin',
      userDomainName: 'Default',
      projectDomainName: 'Default',
    },
  };
  for (const [name, stringData] of Object.entries(brought))
    await cloud.settle(
      cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata: metadata(name), stringData }),
    );
  const external = { host: 'my-cloud-mariadb.openstack.svc', secretName: 'their-database' };
  const spec = {
    region: 'Edge',
    deletionPolicy: 'Delete',
    databaseRef: { external },
    cacheRef: { name: 'my-cloud-memcached' },
    keystoneRef: {
      external: { authURL: 'http://my-cloud-keystone-api.openstack.svc:5000/v3', secretName: 'their-keystone' },
    },
    database: { names: { placement: 'edge' }, user: 'edge' },
    identity: { userName: 'edge' },
  };
  const edge = (name: string, more: object) => ({
    ...kubernetes,
    kind: 'Placement',
    metadata: metadata(name),
    spec: { ...spec, ...more },
  });
  await cloud.settle(cloud.rehearsal.create(edge('edge', {})));
  await cloud.until(() => cloud.isReady('Placement', 'edge'));
  await cloud.settle(cloud.rehearsal.create(edge('again', {})));
  await cloud.until(() => cloud.condition(Placement, 'again')?.reason === 'AccountTaken');
  await cloud.remove(Placement, 'edge');
  await cloud.until(() => cloud.get('Placement', 'edge') === undefined);
  expect(await databases(cloud)).toContain('edge');
  await cloud.until(() => cloud.condition(Placement, 'again')?.reason !== 'AccountTaken');
});

test('a Placement that reaches the same server by another name takes no database of the first one along', async () => {
  const { placement: _on, ...spec } = identityOnly;
  const { cloud } = await readyCloud({ spec });
  const stringData = { username: 'root', password: secret(cloud, 'my-cloud-mariadb-root-password') };
  await cloud.settle(
    cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata: metadata('theirs'), stringData }),
  );
  const edge = {
    ...kubernetes,
    kind: 'Placement',
    metadata: metadata('edge'),
    spec: {
      region: 'Edge',
      deletionPolicy: 'Delete',
      databaseRef: { external: { host: 'my-cloud-mariadb.openstack.svc', secretName: 'theirs' } },
      keystoneRef: { name: 'my-cloud-keystone' },
      database: { user: 'edge' },
      identity: { userName: 'edge' },
    },
  };
  await cloud.settle(cloud.rehearsal.create(edge));
  await cloud.until(() => cloud.isReady('Placement', 'edge'), 10);
  await cloud.remove(Placement, 'edge');
  await cloud.until(() => cloud.get('Placement', 'edge') === undefined, 20);
  expect(await databases(cloud)).toContain('placement');
});
