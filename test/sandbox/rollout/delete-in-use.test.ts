import type { KubeObject } from '@openstack-operator/kube';
import { Keystone, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { identityOnly, readyCloud } from './cloud.ts';

const alone = (spec: object): KubeObject => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Keystone',
  metadata: { name: 'alone', namespace: 'openstack' },
  spec,
});

test.each([
  ['by name', { databaseRef: { name: 'my-cloud-mariadb' }, cacheRef: { name: 'my-cloud-memcached' } }],
  ['by default', {}],
])(
  'what a Keystone beside the control plane refers to %s is kept, and says so, until that is gone',
  async (_how, refs) => {
    const { cloud } = await readyCloud({ spec: { ...identityOnly, keystone: { enabled: false } } });
    await cloud.settle(cloud.rehearsal.create(alone(refs)));
    await cloud.until(() => cloud.isReady('Keystone', 'alone'));
    const disabled = { mariadb: { enabled: false }, memcached: { enabled: false } };
    await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: disabled });
    await cloud.clock.advance(120_000);
    for (const [kind, name] of [
      ['MariaDB', 'my-cloud-mariadb'],
      ['Memcached', 'my-cloud-memcached'],
    ] as const) {
      expect(cloud.isReady(kind, name)).toBe(true);
      expect(cloud.condition(OpenStackControlPlane, 'my-cloud', `${kind}Ready`)).toMatchObject({
        status: 'False',
        reason: 'InUse',
        message: `${kind} ${name} is disabled, and kept: Keystone alone refers to it, by name or by default; enable it, delete Keystone alone, or let that refer to another one`,
      });
    }
    expect(cloud.isReady('Keystone', 'alone')).toBe(true);
    expect(cloud.get('OpenStackControlPlane', 'my-cloud')?.status).toMatchObject({ phase: 'Failed' });
    await cloud.remove(Keystone, 'alone');
    await cloud.ready(5);
    expect([...cloud.list('MariaDB'), ...cloud.list('Memcached')]).toEqual([]);
  },
);
