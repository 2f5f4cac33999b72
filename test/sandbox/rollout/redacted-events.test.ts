import { type KubeObject, Secret } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { identityOnly, readyCloud } from './cloud.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

test('last words of a schedule hold no secrets, wherever they are told', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  // The audit that fails names the server; here its name is a secret.
  const hidden = 'my-cloud-keystone-api.openstack.svc';
  const { data = {} } = cloud.get('Secret', 'my-cloud-keystone-admin-password') as { data?: Record<string, string> };
  const login = { username: 'admin', projectName: 'admin', userDomainName: 'Default', projectDomainName: 'Default' };
  const known = { ...login, token: hidden };
  const encoded = Object.fromEntries(Object.entries(known).map(([key, value]) => [key, base64(value)]));
  const create = (object: object) => cloud.settle(cloud.rehearsal.create(object as KubeObject));
  const metadata = (name: string) => ({ name, namespace: 'openstack' });
  await create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadata('their-keystone'),
    data: { ...encoded, password: data['password'] },
  });
  await create({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'Placement',
    metadata: metadata('edge'),
    spec: {
      region: 'Edge',
      recordsAudit: { schedule: '*/5 * * * *' },
      databaseRef: { name: 'my-cloud-mariadb' },
      cacheRef: { name: 'my-cloud-memcached' },
      keystoneRef: { external: { authURL: `http://${hidden}:5000/v3`, secretName: 'their-keystone' } },
    },
  });
  await cloud.until(() => cloud.isReady('Placement', 'edge'));
  await cloud.change(Secret, 'their-keystone', { data: { password: base64('another-password-1') } });
  await cloud.clock.advance(40 * 60_000);
  const { schedules, conditions } = (cloud.get('Placement', 'edge')?.status ?? {}) as Record<string, unknown>;
  const events = cloud.list('Event').filter((event) => event['reason'] === 'ScheduleFailed');
  expect(events).not.toEqual([]);
  for (const told of [schedules, conditions, events].map((one) => JSON.stringify(one))) {
    expect(told).toContain('[redacted]');
    expect(told).not.toContain(hidden);
  }
});
