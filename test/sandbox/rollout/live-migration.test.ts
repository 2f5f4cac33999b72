import { X509Certificate } from 'node:crypto';
import { Secret } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';

const secret = 'my-cloud-nova-migration-tls';
const agents = (cloud: Cloud, component: string) =>
  cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith(`my-cloud-nova-${component}-`));
const run = async (cloud: Cloud, name: string, ...argv: string[]) =>
  (await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name }, argv))).stdout;
const inSecret = (cloud: Cloud, key: string) =>
  Buffer.from(
    ((cloud.get('Secret', secret)?.['data'] ?? {}) as Record<string, string>)[key] ?? '',
    'base64',
  ).toString();
const message = (cloud: Cloud) =>
  ((cloud.get('OpenStackControlPlane', 'my-cloud')?.['status'] ?? {}) as { message?: string }).message ?? '';

test('hosts take servers of others once it is enabled and the agents are replaced; another certificate replaces none', async () => {
  const { cloud } = await readyCloud();
  const uids = () => ['libvirt', 'compute'].flatMap((name) => agents(cloud, name).map(({ metadata }) => metadata.uid));
  const before = uids();
  expect(cloud.get('Secret', secret)).toBeUndefined();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { nova: { liveMigration: { enabled: true } } } });
  await cloud.clock.advance(120_000);
  // Guests live there: somebody says when.
  expect(uids()).toEqual(before);
  expect(message(cloud)).toContain('roll-node-agents');
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    metadata: { annotations: { 'openstack.k8s.io/roll-node-agents': 'true' } },
  });
  await cloud.clock.advance(300_000);
  await cloud.ready();
  expect(uids().some((uid) => before.includes(uid))).toBe(false);

  const [libvirt] = agents(cloud, 'libvirt');
  const name = libvirt?.metadata.name ?? '';
  const shown = () => run(cloud, name, 'cat', '/etc/pki/libvirt/servercert.pem');
  expect(await shown()).toBe(inSecret(cloud, 'tls.crt'));
  expect(await run(cloud, name, 'cat', '/run/libvirt/pki/qemu/client-key.pem')).toBe(inSecret(cloud, 'tls.key'));
  expect(await run(cloud, name, 'cat', '/etc/libvirt/qemu.conf')).toMatch(
    /migrate_tls_force = 1\nmigration_address = "10\./,
  );
  // The name by which others call the host is one of its certificate's, and in the cluster's DNS.
  const address = ((libvirt?.['status'] ?? {}) as { hostIP?: string }).hostIP ?? '';
  const host = `${address.replaceAll('.', '-')}.my-cloud-nova-libvirt.openstack.svc`;
  expect(new X509Certificate(inSecret(cloud, 'tls.crt')).checkHost(host)).toBe('*.my-cloud-nova-libvirt.openstack.svc');
  const [service] = cloud.list('Service').filter(({ metadata }) => metadata.name === 'my-cloud-nova-libvirt');
  expect(service?.['spec']).toMatchObject({ clusterIP: 'None', ports: [{ port: 16_514 }] });

  const rolled = uids();
  await cloud.remove(Secret, secret);
  await cloud.clock.advance(180_000);
  await cloud.ready();
  expect(uids()).toEqual(rolled);
  expect(await shown()).toBe(inSecret(cloud, 'tls.crt'));
});
