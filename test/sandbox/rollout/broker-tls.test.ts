import { Pod, Secret } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';

const server = 'my-cloud-rabbitmq-0';
const certificates = 'my-cloud-rabbitmq-tls';

const logs = (cloud: Cloud, name: string) => cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name });
const enable = (cloud: Cloud, enabled: boolean) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { rabbitmq: { tls: { enabled } } } });

/** Users who are connected to the broker after a restart of it, by the port that they came to. */
async function usersByPort(cloud: Cloud): Promise<Record<string, string[]>> {
  await cloud.remove(Pod, server);
  await cloud.ready();
  await cloud.clock.advance(60_000);
  const users: Record<string, Set<string>> = {};
  for (const [, port = '', user = ''] of logs(cloud, server).matchAll(/-> (\d+): user '([^']+)' authenticated/g))
    users[port] = (users[port] ?? new Set()).add(user);
  return Object.fromEntries(Object.entries(users).map(([port, names]) => [port, [...names].sort()]));
}

test('services and agents connect to the broker by TLS once it is enabled, and as before when it is disabled again', async () => {
  const { cloud } = await readyCloud();
  const clear = await usersByPort(cloud);
  expect(Object.keys(clear)).toEqual(['5672']);
  await enable(cloud, true);
  await cloud.ready();
  expect(await usersByPort(cloud)).toEqual({ 5671: clear['5672'] });

  await enable(cloud, false);
  await cloud.ready();
  expect(await usersByPort(cloud)).toEqual(clear);
});

test('another certificate is served without a restart; clients trust its authority, and no other', async () => {
  const { cloud } = await readyCloud({ spec: { rabbitmq: { tls: { enabled: true } } } });
  // Jobs that write users to the broker trust the new authority, too.
  const uids = () =>
    cloud
      .list('Pod')
      .filter((pod) => (pod['spec'] as { restartPolicy?: string }).restartPolicy === 'Always')
      .map(({ metadata }) => metadata.uid);
  await cloud.remove(Secret, certificates);
  const there = uids();
  // The kubelet looks at Secrets every minute or so, and Erlang at files within two.
  await cloud.clock.advance(240_000);
  expect(uids()).toEqual(there);
  const conductor = () =>
    cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-nova-conductor-'))?.metadata.name ?? '';
  await cloud.remove(Pod, conductor());
  await cloud.ready();

  const { 'tls.crt': leaf = '' } = (cloud.get('Secret', certificates)?.['data'] ?? {}) as Record<string, string>;
  await cloud.change(Secret, certificates, { data: { 'ca.crt': leaf } });
  await cloud.remove(Pod, conductor());
  await cloud.clock.advance(60_000);
  expect(logs(cloud, conductor())).toContain(
    '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate',
  );
});
