import { StatefulSet } from '@openstack-operator/kube';
import { MariaDB, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, isLasting, readyCloud } from './cloud.ts';

/** The claims of StatefulSets with who owns them: Glance's own is no StatefulSet's. */
const claims = (cloud: Cloud) =>
  cloud
    .list('PersistentVolumeClaim')
    .filter(({ metadata }) => metadata.name.startsWith('data-'))
    .map(({ metadata: { name, uid, ownerReferences = [] } }) => ({
      name,
      uid,
      owners: ownerReferences.map(({ kind }) => kind),
    }));

test('a StatefulSet that is deleted by hand keeps its data with deletionPolicy Delete', async () => {
  const { cloud } = await readyCloud({ spec: { deletionPolicy: 'Delete' } });
  const before = claims(cloud);
  expect(new Set(before.flatMap(({ owners }) => owners))).toEqual(new Set(['MariaDB', 'RabbitMQ', 'OVNNetwork']));
  const sets = cloud.list('StatefulSet').map(({ metadata }) => metadata);
  for (const { name } of sets) await cloud.remove(StatefulSet, name);
  await cloud.clock.advance(120_000);
  await cloud.ready();
  expect(cloud.list('StatefulSet').filter(({ metadata: { uid } }) => sets.some((set) => set.uid === uid))).toEqual([]);
  expect(claims(cloud)).toEqual(before);
});

test('claims that an earlier operator had go with their StatefulSet go with the resource; no pod restarts', async () => {
  const { cloud, operator } = await readyCloud({ spec: { ...identityOnly, deletionPolicy: 'Delete' } });
  const pods = () =>
    cloud
      .list('Pod')
      .filter(isLasting)
      .map(({ metadata: { uid } }) => uid);
  const [before, running] = [claims(cloud), pods()];
  await cloud.settle(operator.stop());
  const policy = (whenDeleted: string) => ({
    spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled: 'Retain' } },
  });
  await cloud.change(StatefulSet, 'my-cloud-mariadb', policy('Delete'));
  await cloud.clock.advance(30_000);
  expect(claims(cloud)[0]?.owners).toContain('StatefulSet');
  await cloud.startOperator();
  await cloud.clock.advance(60_000);
  expect(cloud.get('StatefulSet', 'my-cloud-mariadb')).toMatchObject(policy('Retain'));
  expect(claims(cloud)).toEqual(before);
  expect(pods()).toEqual(running);
});

test('the deletion policy is followed although the database waits for something', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, deletionPolicy: 'Delete' } });
  const mariadb = { rootSecretName: 'not-there' };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { mariadb, deletionPolicy: 'Retain' } });
  await cloud.until(() => cloud.condition(MariaDB, 'my-cloud-mariadb')?.message.includes('not-there') === true);
  await cloud.clock.advance(10_000);
  expect(claims(cloud).map(({ owners }) => owners)).toEqual([[]]);
});
