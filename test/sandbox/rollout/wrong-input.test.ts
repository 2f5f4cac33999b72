import { type KubeObject, type StoredObject } from '@openstack-operator/kube';
import { conditionOf } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly } from './cloud.ts';

const refused = async (cloud: Cloud, object: KubeObject): Promise<string> =>
  await cloud.settle(cloud.rehearsal.create(object)).then(
    () => 'accepted',
    (error: Error) => error.message,
  );

const started = async (): Promise<Cloud> => {
  const cloud = await createCloud();
  await cloud.startOperator();
  return cloud;
};

const message = (cloud: Cloud, kind: string, name: string): string => {
  const object = cloud.get(kind, name) as StoredObject;
  return object === undefined ? '' : (conditionOf(object, 'Ready')?.message ?? '');
};

describe('what admission refuses, with the field', () => {
  test.each([
    ['replicas below 0', controlPlane({ mariadb: { replicas: -1 } }), 'spec.mariadb.replicas'],
    ['a wrong type', controlPlane({ nova: { computeReplicas: 'two' } }), 'spec.nova.computeReplicas'],
    ['a bad quantity', controlPlane({ mariadb: { storage: { size: 'tenGi' } } }), 'spec.mariadb.storage.size'],
    ['a name that is too long for its children', controlPlane({}, 'a-name-that-is-much-too-long'), 'metadata.name'],
    ['a service that has to be told something', controlPlane({ venus: {} }), 'elasticsearchURL is required'],
    ['a value that cannot be deployed yet', controlPlane({ storageBackend: 'ceph' }), 'spec.storageBackend'],
  ])('%s', async (_title, object, expected) => {
    expect(await refused(await createCloud(), object)).toContain(expected);
  });
});

describe('what a condition names', () => {
  test('a Secret that is referred to and missing, and its key; nothing is half-built', async () => {
    const cloud = await started();
    const keystone = { adminPasswordSecretName: 'my-admin' };
    await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, keystone })));
    await cloud.until(() => message(cloud, 'Keystone', 'my-cloud-keystone').includes('my-admin'));
    expect(message(cloud, 'Keystone', 'my-cloud-keystone')).toContain('adminPasswordSecretName');
    expect(cloud.get('Job', 'my-cloud-keystone-bootstrap')).toBeUndefined();
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'my-admin', namespace: 'openstack' },
      stringData: { passwd: 'x' },
    };
    await cloud.settle(cloud.rehearsal.create(secret));
    await cloud.until(() => message(cloud, 'Keystone', 'my-cloud-keystone').includes('password'));
  });

  test('a Gateway that is asked for and missing', async () => {
    const cloud = await started();
    const spec = { ...identityOnly, gatewayRef: { name: 'edge' } };
    await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
    await cloud.until(() => /Gateway|HTTPRoute/.test(message(cloud, 'OpenStackControlPlane', 'my-cloud')));
  });

  test('a StorageClass that does not exist', async () => {
    const cloud = await started();
    const mariadb = { storage: { storageClassName: 'gold' } };
    await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, mariadb })));
    await cloud.until(() => message(cloud, 'MariaDB', 'my-cloud-mariadb').includes('gold'));
    expect(message(cloud, 'MariaDB', 'my-cloud-mariadb')).toContain('storageClassName');
  });

  test('nodes that another control plane has claimed', async () => {
    const cloud = await started();
    await cloud.settle(cloud.rehearsal.create(controlPlane()));
    await cloud.until(() =>
      Object.keys(cloud.list('Node')[0]?.metadata.labels ?? {}).includes('openstack.k8s.io/cloud'),
    );
    await cloud.settle(cloud.rehearsal.create(controlPlane({}, 'second')));
    await cloud.until(() => {
      const object = cloud.get('OpenStackControlPlane', 'second');
      return object !== undefined && conditionOf(object, 'NodesReady')?.status === 'False';
    });
    const second = cloud.get('OpenStackControlPlane', 'second') as StoredObject;
    expect(conditionOf(second, 'NodesReady')?.message).toContain('openstack.k8s.io/cloud');
    expect(cloud.list('Node').map(({ metadata }) => metadata.labels?.['openstack.k8s.io/cloud'])).toEqual([
      'openstack.my-cloud',
    ]);
  });
});
