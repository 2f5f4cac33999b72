import { Deployment, Pod } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { identityOnly, readyCloud } from './cloud.ts';
import { call, entitiesOf, login } from './keystone.ts';

/** What docs/guides/restore.md does, but for the dump itself: the modelled server has none. */
test('around a restore nothing starts what was stopped; then all comes back, with the passwords of the Secrets', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const annotate = (annotations: Readonly<Record<string, string | null>>) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', { metadata: { annotations } });
  const deployments = () =>
    cloud
      .list('Deployment')
      .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'openstack-operator');
  const replicas = () =>
    deployments().map(({ metadata, ['spec']: spec }) => [metadata.name, (spec as { replicas?: number }).replicas]);
  const before = replicas();
  expect(before.length).toBeGreaterThan(0);

  const admin = (await entitiesOf(cloud, 'users')).find(({ name }) => name === 'admin')?.id ?? '';
  const user = { password: 'of the dump' };
  await call(cloud, await login(cloud), 'PATCH', `/users/${admin}`, { user });
  await expect(login(cloud)).rejects.toThrow('Keystone gave no token');

  await annotate({ 'openstack.k8s.io/paused': 'true' });
  for (const { metadata } of deployments()) await cloud.change(Deployment, metadata.name, { spec: { replicas: 0 } });
  await cloud.clock.advance(600_000);
  expect(replicas()).toEqual(before.map(([name]) => [name, 0]));
  expect(cloud.list('Pod').filter(({ metadata }) => metadata.name.includes('-keystone-api-'))).toEqual([]);

  // A dump of all databases holds their users as well, with the passwords of that time.
  const users = ['keystone', 'root'].map((user) => `ALTER USER ${user}@'%' IDENTIFIED BY 'of the dump';`);
  const argv = ['mariadb', '--defaults-extra-file=/run/mysqld/probe.cnf', '-e', users.join(' ')];
  const run = cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name: 'my-cloud-mariadb-0' }, argv);
  expect(await cloud.settle(run)).toMatchObject({ code: 0 });
  await cloud.remove(Pod, 'my-cloud-mariadb-0');

  await annotate({ 'openstack.k8s.io/paused': null, 'openstack.k8s.io/reconcile-at': 'after the restore' });
  await cloud.ready();
  expect(replicas()).toEqual(before);
  expect((await entitiesOf(cloud, 'users')).length).toBeGreaterThan(0);
  for (const kind of ['OpenStackControlPlane', 'MariaDB', 'Memcached', 'Keystone'])
    expect(cloud.list(kind)[0]?.['status']).toMatchObject({ lastHandledReconcileAt: 'after the restore' });
});
