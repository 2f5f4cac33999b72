import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly, networkOnly, readyCloud } from './cloud.ts';

// Every JavaScript object has a member of this name; Kubernetes takes it for a name like any other.
const name = 'constructor';

test('a node group of such a name is rolled', async () => {
  const { cloud } = await readyCloud({ spec: { ...networkOnly, ovnNetwork: { nodeGroups: [{ name }] } } });
  const agents = () =>
    cloud
      .list('Pod')
      .filter(({ metadata }) => metadata.name.includes('ovn-controller'))
      .map(({ metadata }) => metadata.uid);
  const before = agents();
  expect(before).not.toEqual([]);
  const image = 'registry.example.org/openstack.kolla/ovn-controller:2025.1-debian-bookworm';
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    metadata: { annotations: { 'openstack.k8s.io/roll-node-agents': 'true' } },
    spec: { ovnNetwork: { images: { 'ovn-controller': image } } },
  });
  await cloud.until(() => agents().length > 0 && agents().every((uid) => !before.includes(uid)), 5);
});

describe('what is missing and has such a name is named:', () => {
  const variable = (source: object) => ({ components: { api: { env: [{ name: 'X', valueFrom: source }] } } });
  test.each([
    ['Keystone', 'Secret', { keystone: variable({ secretKeyRef: { name, key: 'name' } }) }],
    ['Keystone', 'ConfigMap', { keystone: variable({ configMapKeyRef: { name, key: 'name' } }) }],
    ['MariaDB', 'StorageClass', { mariadb: { storage: { storageClassName: name } } }],
  ])('%s says that a %s does not exist', async (kind, missing, spec) => {
    const cloud = await createCloud();
    await cloud.startOperator();
    await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, ...spec })));
    const said = () => {
      const { message = '' } = (cloud.get(kind, `my-cloud-${kind.toLowerCase()}`)?.status ?? {}) as Said;
      return message;
    };
    await cloud.until(() => said().includes(`${missing} ${name} does not exist`));
  });
});

interface Said {
  readonly message?: string;
}
