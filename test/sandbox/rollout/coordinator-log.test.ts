import { Pod } from '@openstack-operator/kube';
import { MariaDB } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly } from './cloud.ts';

test('a database whose log of the coordinator a full disk has left empty starts again', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.ready();
  const server = { namespace: 'openstack', name: 'my-cloud-mariadb-0' };
  const { pods } = cloud.rehearsal.sandbox;
  const file = '/var/lib/mysql/data/tc.log';
  const emptied = await cloud.settle(pods.exec(server, ['sh', '-c', `printf '\\0\\0\\0\\0\\0' > ${file}`]));
  expect(emptied).toMatchObject({ code: 0 });
  const { uid } = cloud.get('Pod', server.name)?.metadata ?? {};
  await cloud.remove(Pod, server.name);
  await cloud.until(
    () => cloud.get('Pod', server.name)?.metadata.uid !== uid && cloud.isReady('MariaDB', 'my-cloud-mariadb'),
  );
  expect(cloud.condition(MariaDB, 'my-cloud-mariadb')?.status).toBe('True');
  const header = await cloud.settle(pods.exec(server, ['head', '-c', '1', file]));
  expect(header.stdout).not.toBe('\0');
});
