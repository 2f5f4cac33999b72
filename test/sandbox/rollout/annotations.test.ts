import { Deployment, Job, type Kind, Secret, Service as ServiceKind } from '@openstack-operator/kube';
import { Keystone, OpenStackControlPlane } from '@openstack-operator/openstack';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, readyCloud } from './cloud.ts';
import { sharedCloud } from './shared-cloud.ts';

const ControlPlane = OpenStackControlPlane as Kind;
const keystone = 'my-cloud-keystone';
let cloud: Cloud;
const note = (kind: Kind, name: string, annotation: string, value: string | null) =>
  cloud.change(kind, name, { metadata: { annotations: { [`openstack.k8s.io/${annotation}`]: value } } });

const shared = sharedCloud(() => readyCloud({ spec: identityOnly }));

describe('reconcile-at', () => {
  test.each([
    [Keystone as Kind, keystone],
    [ControlPlane, 'my-cloud'],
  ])('%o: runs the Jobs again, and rolls nothing', async (kind, name) => {
    ({ cloud } = await shared());
    const uids = (of: string) =>
      cloud
        .list(of)
        .map(({ metadata }) => metadata.uid)
        .sort();
    const before = { jobs: uids('Job'), workloads: [...uids('ReplicaSet'), ...uids('StatefulSet')] };
    await note(kind, name, 'reconcile-at', `tonight, ${name}`);
    await cloud.ready();
    expect(uids('Job')).toHaveLength(before.jobs.length);
    expect(uids('Job').filter((uid) => before.jobs.includes(uid))).toEqual([]);
    expect([...uids('ReplicaSet'), ...uids('StatefulSet')]).toEqual(before.workloads);
  });
});

describe('paused', () => {
  beforeEach(async () => {
    ({ cloud } = await shared());
  });

  test.each([
    [Keystone as Kind, keystone, 'bootstrap'],
    [ControlPlane, 'my-cloud', 'db-sync'],
  ])('%o: nothing is written until it goes on; conditions stay, and say so', async (kind, name, job) => {
    const before = cloud.condition(Keystone, keystone, 'DeploymentReady');
    await note(kind, name, 'paused', 'true');
    expect(cloud.condition(Keystone, keystone)).toMatchObject({ status: 'False', reason: 'Paused' });
    expect(cloud.condition(kind, name)?.message).toContain('annotation openstack.k8s.io/paused');
    expect(cloud.condition(Keystone, keystone, 'DeploymentReady')).toEqual(before);
    await cloud.remove(Deployment, 'my-cloud-keystone-api');
    await cloud.remove(Job, `${keystone}-${job}`);
    await cloud.clock.advance(600_000);
    expect(cloud.get('Deployment', 'my-cloud-keystone-api')).toBeUndefined();
    await note(kind, name, 'paused', null);
    await cloud.ready();
    expect(cloud.get('Deployment', 'my-cloud-keystone-api')).toBeDefined();
    expect(cloud.condition(Keystone, keystone, 'Reconciled')).toBeUndefined();
  });
});

describe('adopt', () => {
  test('hands over what nobody controls: a password stays, an object is stated, and is ours from then on', async () => {
    cloud = await createCloud();
    await cloud.startOperator();
    const metadata = { namespace: 'openstack' };
    const password = Buffer.from('a-password-of-the-old-cloud').toString('base64');
    const brought = { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name: `${keystone}-db-password` } };
    await cloud.settle(cloud.rehearsal.create({ ...brought, data: { password } }));
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { ...metadata, name: `${keystone}-api` } };
    await cloud.settle(cloud.rehearsal.create({ ...service, spec: { ports: [{ name: 'api', port: 5000 }] } }));
    await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
    await cloud.until(() => cloud.condition(Keystone, keystone)?.reason === 'ForeignObject');
    expect(cloud.condition(Keystone, keystone)?.message).toContain(
      `or annotate it openstack.k8s.io/adopt=Keystone.${keystone} to hand it over`,
    );
    await note(Secret, `${keystone}-db-password`, 'adopt', `Keystone.${keystone}`);
    await cloud.until(() => cloud.condition(Keystone, keystone)?.message.includes(`${keystone}-api`) === true);
    await note(ServiceKind, `${keystone}-api`, 'adopt', `Keystone.${keystone}`);
    await cloud.ready();
    const secret = cloud.get('Secret', `${keystone}-db-password`);
    expect(secret?.['data']).toEqual({ password });
    expect(secret?.metadata.ownerReferences).toMatchObject([{ kind: 'Keystone', controller: true }]);
    await cloud.remove(ControlPlane, 'my-cloud');
    await cloud.until(() => cloud.get('Secret', `${keystone}-db-password`) === undefined);
  });
});
