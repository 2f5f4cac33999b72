import { X509Certificate } from 'node:crypto';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';

const servers = ['mariadb', 'rabbitmq', 'ovn', 'keystone', 'placement', 'glance', 'nova-console'];

/** The certificates of servers that are there, by Secret. */
const certificates = (cloud: Cloud) =>
  servers.map((server) => {
    const data = (cloud.get('Secret', `my-cloud-${server}-tls`)?.['data'] ?? {}) as Record<string, string>;
    return new X509Certificate(Buffer.from(data['tls.crt'] ?? '', 'base64'));
  });

const lasting = (cloud: Cloud) =>
  cloud
    .list('Pod')
    .filter((pod) => (pod['spec'] as { restartPolicy?: string }).restartPolicy === 'Always')
    .map(({ metadata }) => metadata.uid);

/** Asks Placement and Glance (by its proxy) from a pod that trusts the authority. */
async function works(cloud: Cloud): Promise<void> {
  const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-nova-scheduler-'));
  const at = { namespace: 'openstack', name: pod?.metadata.name ?? '' };
  for (const host of ['placement-api.openstack.svc:18778', 'glance-api.openstack.svc:19292']) {
    const trusted = ['--cacert', '/etc/openstack/trust/identity/ca.crt', `https://my-cloud-${host}/`];
    const { code, stderr } = await cloud.settle(cloud.rehearsal.sandbox.pods.exec(at, ['curl', '-sS', ...trusted]));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  }
}

test('certificates of ten minutes are renewed again and again while all goes on, and those of 90 days give way to them', async () => {
  const { cloud } = await readyCloud({ spec: { tls: { enabled: true } } });
  const there = lasting(cloud);
  const long = certificates(cloud).map(({ serialNumber }) => serialNumber);
  await cloud.clock.advance(600_000);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { tls: { duration: '10m' } } });
  await cloud.ready();
  const seen = servers.map(() => new Set<string>());
  for (let round = 0; round < 15; round += 1) {
    for (const [index, { serialNumber, validFromDate, validToDate }] of certificates(cloud).entries()) {
      seen[index]?.add(serialNumber);
      expect(validToDate.getTime()).toBeGreaterThan(cloud.clock.now());
      // Valid from five minutes before it is made.
      expect(validToDate.getTime() - validFromDate.getTime()).toBe(15 * 60_000);
    }
    await works(cloud);
    await cloud.clock.advance(120_000);
  }
  for (const serials of seen) expect(serials.size).toBeGreaterThanOrEqual(5);
  expect(seen.map((serials) => long.some((serial) => serials.has(serial)))).toEqual(servers.map(() => false));
  expect(lasting(cloud)).toEqual(there);
  await cloud.ready();
}, 300_000);
