import { Secret } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly } from './cloud.ts';

/** A Secret that the operator makes from templates; pods take each key of such Secrets as a file or a variable. */
const name = 'my-cloud-keystone-db-create';
const planted = { BASH_ENV: Buffer.from('/tmp/planted').toString('base64') };
const keysOf = (cloud: Cloud) => Object.keys(cloud.get('Secret', name)?.['data'] ?? {}).sort();

test('a key that somebody puts into a Secret of the operator is taken out, before and after the operator has it', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const annotations = { 'openstack.k8s.io/adopt': 'Keystone.my-cloud-keystone' };
  const metadata = { name, namespace: 'openstack', annotations };
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, data: planted }));
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.ready();
  expect(keysOf(cloud)).toEqual(['client.cnf', 'records.sql']);

  await cloud.change(Secret, name, { data: planted });
  await cloud.clock.advance(5000);
  expect(keysOf(cloud)).toEqual(['client.cnf', 'records.sql']);
});
