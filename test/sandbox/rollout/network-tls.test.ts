import { Pod, Secret } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';

const certificates = 'my-cloud-ovn-tls';
const spec = { ovnNetwork: { tls: { enabled: true } } };

const run = async (cloud: Cloud, name: string, ...argv: string[]) =>
  (await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name }, argv))).stdout;
const enable = (cloud: Cloud, enabled: boolean) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { ovnNetwork: { tls: { enabled } } } });
const pod = (cloud: Cloud, name: string) =>
  cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(`my-cloud-${name}-`))?.metadata.name ?? '';
const uids = (cloud: Cloud) =>
  cloud
    .list('Pod')
    .filter((one) => (one['spec'] as { restartPolicy?: string }).restartPolicy === 'Always')
    .map(({ metadata }) => metadata.uid);
const logs = (cloud: Cloud, name: string) => cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name });

async function reachesDatabases(cloud: Cloud): Promise<void> {
  for (const side of ['nb', 'sb'])
    expect(
      await run(
        cloud,
        pod(cloud, 'ovn-northd'),
        'ovn-appctl',
        '-t',
        '/run/ovn/ovn-northd.ctl',
        `${side}-connection-status`,
      ),
    ).toBe('connected\n');
  const controller = ['ovn-appctl', '-t', '/run/ovn/ovn-controller.ctl', 'connection-status'];
  expect(await run(cloud, pod(cloud, 'ovn-ovn-controller'), ...controller)).toBe('connected\n');
}

test('all who use the databases of OVN connect by TLS once it is enabled, and as before when it is disabled again', async () => {
  const { cloud } = await readyCloud();
  const remotes = () =>
    ['southboundDBEndpoint', 'northboundDBEndpoint'].map(
      (field) => ((cloud.get('OVNNetwork', 'my-cloud-ovn')?.['status'] ?? {}) as Record<string, string>)[field],
    );
  const before = remotes();
  expect(before.join()).toMatch(/^tcp:[^,]+:6642,tcp:[^,]+:6641$/);
  const stay = ['ovn-ovsdb-server', 'ovn-ovs-vswitchd', 'ovn-ovn-controller', 'ovn-nb-db', 'ovn-sb-db'];
  const staying = () => stay.map((name) => cloud.get('Pod', pod(cloud, name))?.metadata.uid);
  const there = staying();
  expect(there).not.toContain(undefined);

  await enable(cloud, true);
  await cloud.ready();
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect(remotes().join()).toMatch(/^ssl:[^,]+:16642,ssl:[^,]+:16641$/);
  await reachesDatabases(cloud);
  expect(staying()).toEqual(there);
  for (const [file, sides] of [
    ['ml2_conf.ini', ['nb', 'sb']],
    ['neutron_ovn_metadata_agent.ini', ['sb']],
  ] as const) {
    const text = cloud
      .list('ConfigMap')
      .flatMap((one) => (one['data'] as Record<string, string> | undefined)?.[file] ?? [])
      .filter((one) => one.includes('ssl:'));
    expect(text).toHaveLength(1);
    for (const side of sides)
      expect(text[0]).toContain(`ovn_${side}_private_key = /etc/openstack/trust/virtualNetwork/client.key`);
  }

  await enable(cloud, false);
  await cloud.ready();
  await cloud.clock.advance(60_000);
  expect(remotes()).toEqual(before);
  await reachesDatabases(cloud);
  expect(staying()).toEqual(there);
});

test('databases take those alone who show a certificate of their authority, also of another one, which replaces no pod', async () => {
  const { cloud } = await readyCloud({ spec });
  await cloud.remove(Secret, certificates);
  const there = uids(cloud);
  // The kubelet looks at Secrets every minute or so.
  await cloud.clock.advance(120_000);
  expect(uids(cloud)).toEqual(there);
  for (const name of ['ovn-northd', 'neutron-server', 'neutron-metadata-agent', 'ovn-ovn-controller'])
    await cloud.remove(Pod, pod(cloud, name));
  await cloud.ready();
  await cloud.clock.advance(60_000);
  await cloud.ready();
  await reachesDatabases(cloud);

  // The certificate of the server is signed by its authority, and is none itself.
  const { 'tls.crt': leaf = '' } = (cloud.get('Secret', certificates)?.['data'] ?? {}) as Record<string, string>;
  await cloud.change(Secret, certificates, { data: { 'ca.crt': leaf } });
  await cloud.clock.advance(120_000);
  await cloud.remove(Pod, pod(cloud, 'ovn-northd'));
  await cloud.clock.advance(60_000);
  expect(logs(cloud, pod(cloud, 'ovn-northd'))).toContain('connection attempt failed (Protocol error)');
  expect(logs(cloud, 'my-cloud-ovn-nb-db-0')).toContain('stream_ssl|WARN|SSL_accept');
});
