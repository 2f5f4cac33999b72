import {
  ConfigMap,
  Deployment,
  type Kind,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
  StatefulSet,
  type StoredObject,
} from '@openstack-operator/kube';
import { conditionOf, Keystone, MariaDB } from '@openstack-operator/openstack';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, readyCloud } from './cloud.ts';
import { sharedCloud } from './shared-cloud.ts';

const namespace = 'openstack';
const api = { namespace, name: 'my-cloud-keystone-api' };
let cloud: Cloud;

const client = () => cloud.rehearsal.sandbox.client();
const ready = () => cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
const data = (name: string) => JSON.stringify(cloud.get('Secret', name)?.['data']);
const readyCondition = (kind: Kind, name: string) => {
  const object = cloud.get(kind.kind, name);
  return object === undefined ? undefined : conditionOf(object, 'Ready');
};
const remove = (kind: Kind, name: string) => cloud.settle(client().delete(kind, { namespace, name }));

const shared = sharedCloud(() => readyCloud({ spec: identityOnly }));
const begin = async () => {
  ({ cloud } = await shared());
};

describe('what is changed by hand', () => {
  beforeEach(begin);

  test('a field that we own is put back; one that we do not state stays', async () => {
    const patch = {
      metadata: { labels: { team: 'blue' } },
      spec: { template: { spec: { containers: [{ name: 'api', image: 'evil:1' }] } } },
    };
    await cloud.settle(client().patch(Deployment, api, 'strategic', patch));
    const image = () =>
      (
        (cloud.get('Deployment', api.name) as StoredObject)['spec'] as {
          template: { spec: { containers: { image: string }[] } };
        }
      ).template.spec.containers[0]?.image;
    await cloud.until(() => image() !== 'evil:1');
    await ready();
    expect(image()).toMatch(/^quay\.io\/openstack\.kolla\/keystone:/);
    expect(cloud.get('Deployment', api.name)?.metadata.labels?.['team']).toBe('blue');
  });

  test.each([
    [Deployment as Kind, 'my-cloud-keystone-api'],
    [Service as Kind, 'my-cloud-keystone-api'],
    [StatefulSet as Kind, 'my-cloud-mariadb'],
    [Secret as Kind, 'my-cloud-keystone-config'],
    [Keystone as Kind, 'my-cloud-keystone'],
  ])('a deleted %o comes back', async (kind, name) => {
    const before = cloud.get(kind.kind, name)?.metadata.uid;
    await remove(kind, name);
    await cloud.until(() => ![undefined, before].includes(cloud.get(kind.kind, name)?.metadata.uid));
    await ready();
  });

  test('a deleted ConfigMap that running pods mount comes back as it was', async () => {
    const name =
      cloud
        .list('ConfigMap')
        .map((object) => object.metadata.name)
        .find((one) => one.startsWith('my-cloud-keystone-config-')) ?? '';
    const before = cloud.get('ConfigMap', name)?.['data'];
    await remove(ConfigMap, name);
    await cloud.until(() => cloud.get('ConfigMap', name) !== undefined);
    expect(cloud.get('ConfigMap', name)?.['data']).toEqual(before);
  });
});

describe('what is lost', () => {
  beforeEach(begin);

  test('credentials are issued anew, and the services go on with them', async () => {
    for (const name of [
      'my-cloud-keystone-db-password',
      'my-cloud-mariadb-root-password',
      'my-cloud-keystone-admin-password',
    ]) {
      const before = data(name);
      await remove(Secret, name);
      await cloud.until(() => ![undefined, before].includes(data(name)));
      await cloud.clock.advance(5000);
      await ready();
    }
  });

  test('fernet keys are made anew; key material never is while its data exist', async () => {
    await remove(Secret, 'my-cloud-keystone-fernet-keys');
    await cloud.until(() => cloud.get('Secret', 'my-cloud-keystone-fernet-keys') !== undefined);
    const keys = cloud.get('Secret', 'my-cloud-keystone-credential-keys') as StoredObject;
    await remove(Secret, 'my-cloud-keystone-credential-keys');
    await cloud.until(() => readyCondition(Keystone, 'my-cloud-keystone')?.reason === 'KeyMaterialMissing');
    expect(readyCondition(Keystone, 'my-cloud-keystone')?.message).toContain(
      'Secret my-cloud-keystone-credential-keys is gone, and with it the credentials stored in Keystone',
    );
    await cloud.clock.advance(600_000);
    expect(cloud.get('Secret', 'my-cloud-keystone-credential-keys')).toBeUndefined();
    const { name, labels } = keys.metadata;
    await cloud.settle(
      client().create(Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace, labels: labels ?? {} },
        data: keys['data'] as Record<string, string>,
      }),
    );
    await ready();
  });

  // The last one of the cloud that is shared: it does not come back from that.
  test('a volume is missed by name, and its service does not begin anew', async () => {
    await cloud.settle(client().delete(PersistentVolumeClaim, { namespace, name: 'data-my-cloud-mariadb-0' }));
    await cloud.settle(client().delete(Pod, { namespace, name: 'my-cloud-mariadb-0' }));
    await cloud.until(() => readyCondition(MariaDB, 'my-cloud-mariadb')?.reason === 'VolumeLost');
    expect(readyCondition(MariaDB, 'my-cloud-mariadb')?.message).toContain('data-my-cloud-mariadb-0');
  });
});

test('a foreign object of the same name is left alone, and the condition names it', async () => {
  const other = await createCloud();
  await other.startOperator();
  cloud = other;
  const mine = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'my-cloud-keystone-api', namespace },
    spec: { ports: [{ port: 80 }], selector: { app: 'mine' } },
  };
  await other.settle(other.rehearsal.create(mine));
  await other.settle(other.rehearsal.create(controlPlane(identityOnly)));
  await other.until(() => readyCondition(Keystone, 'my-cloud-keystone')?.reason === 'ForeignObject');
  expect(readyCondition(Keystone, 'my-cloud-keystone')?.message).toContain('Service openstack/my-cloud-keystone-api');
  expect(
    ((other.get('Service', 'my-cloud-keystone-api') as StoredObject)['spec'] as { selector: unknown }).selector,
  ).toEqual({
    app: 'mine',
  });
  await other.settle(client().delete(Service, { namespace, name: 'my-cloud-keystone-api' }));
  await ready();
});
