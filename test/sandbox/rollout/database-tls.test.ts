import { Deployment, Pod, Secret } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { entitiesOf } from './keystone.ts';

const server = 'my-cloud-mariadb-0';
const certificates = 'my-cloud-mariadb-tls';

async function sql(cloud: Cloud, statements: string): Promise<string> {
  const argv = ['mariadb', '--defaults-extra-file=/run/mysqld/probe.cnf', '-BNe', statements];
  const run = cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name: server }, argv);
  return (await cloud.settle(run)).stdout;
}

/** How many clients have connected to the server by TLS since it started. */
const accepted = async (cloud: Cloud) => Number((await sql(cloud, "SHOW STATUS LIKE 'ssl_accepts'")).split('\t')[1]);

const uids = (cloud: Cloud) => [server, keystoneOf(cloud)].map((name) => cloud.get('Pod', name)?.metadata.uid);
const keystoneOf = (cloud: Cloud) =>
  cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-keystone-api-'))?.metadata.name ?? '';

test('services connect to the database by TLS once it is enabled, and as before when it is disabled again', async () => {
  const { cloud } = await readyCloud();
  expect(await accepted(cloud)).toBe(0);
  const begun = cloud.get('Pod', server)?.metadata.uid;
  const enable = (enabled: boolean) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { mariadb: { tls: { enabled } } } });
  const trusts = (kind: string) =>
    cloud
      .list(kind)
      .map((object) => [object.metadata.name, JSON.stringify(object['spec']).includes('/etc/openstack/trust/')]);
  let whenReady: ReturnType<typeof trusts> | undefined;
  const unsubscribe = cloud.rehearsal.sandbox.api.store.subscribe(OpenStackControlPlane, ({ object }) => {
    const { readyGeneration } = object['status'] as { readyGeneration?: number };
    if (readyGeneration === object.metadata.generation) whenReady ??= trusts('Deployment');
  });
  await enable(true);
  await cloud.ready();
  unsubscribe();
  expect(whenReady).toEqual(trusts('Deployment'));
  expect(whenReady?.filter(([, does]) => does).length).toBeGreaterThan(4);
  expect(trusts('DaemonSet').filter(([, does]) => does)).toEqual([]);
  expect(trusts('CronJob').filter(([name]) => /-db-/.test(String(name)))).toEqual([
    ['my-cloud-glance-db-purge', true],
    ['my-cloud-nova-db-archive', true],
  ]);
  // Whoever connects otherwise is refused from now on.
  const users = (await sql(cloud, "SELECT user FROM mysql.user WHERE host = '%' AND user != 'root'"))
    .trim()
    .split('\n');
  expect(users.length).toBeGreaterThan(4);
  await sql(cloud, users.map((user) => `ALTER USER '${user}'@'%' REQUIRE SSL`).join('; '));
  for (const { metadata } of cloud.list('Deployment'))
    await cloud.change(Deployment, metadata.name, {
      spec: { template: { metadata: { annotations: { anew: 'true' } } } },
    });
  await cloud.clock.advance(120_000);
  await cloud.ready();
  expect((await entitiesOf(cloud, 'users')).length).toBeGreaterThan(0);
  expect(
    cloud
      .list('Deployment')
      .map(({ metadata, ['status']: status }) => [
        metadata.name,
        (status as { availableReplicas?: number }).availableReplicas,
      ]),
  ).toEqual(cloud.list('Deployment').map(({ metadata }) => [metadata.name, 1]));
  const before = await accepted(cloud);
  expect(before).toBeGreaterThan(4);

  await sql(cloud, users.map((user) => `ALTER USER '${user}'@'%' REQUIRE NONE`).join('; '));
  await enable(false);
  await cloud.ready();
  expect((await entitiesOf(cloud, 'users')).length).toBeGreaterThan(0);
  expect(await accepted(cloud)).toBe(before);
  expect(cloud.get('Pod', server)?.metadata.uid).toBe(begun);
});

test('another certificate is served without a restart; clients trust its authority, and no other', async () => {
  const spec = { ...identityOnly, mariadb: { tls: { enabled: true } } };
  const { cloud } = await readyCloud({ spec });
  await cloud.remove(Secret, certificates);
  const there = uids(cloud);
  // The kubelet looks at Secrets every minute or so, and the server is told within half a one.
  await cloud.clock.advance(180_000);
  expect(uids(cloud)).toEqual(there);
  await cloud.remove(Pod, keystoneOf(cloud));
  await cloud.ready();
  expect((await entitiesOf(cloud, 'users')).length).toBeGreaterThan(0);

  const { 'tls.crt': leaf = '' } = (cloud.get('Secret', certificates)?.['data'] ?? {}) as Record<string, string>;
  await cloud.change(Secret, certificates, { data: { 'ca.crt': leaf } });
  await cloud.remove(Pod, keystoneOf(cloud));
  await cloud.clock.advance(10_000);
  const user = { name: 'admin', domain: { id: 'default' }, password: 'x' };
  const body = JSON.stringify({ auth: { identity: { methods: ['password'], password: { user } } } });
  const pod = { namespace: 'openstack', name: keystoneOf(cloud) };
  const json = ['-H', 'Content-Type: application/json', '-d', body];
  // Nobody waits for the answer: it tries to connect for ever.
  void cloud.rehearsal.sandbox.pods.exec(pod, [
    'curl',
    '-s',
    '-X',
    'POST',
    ...json,
    'http://localhost:5000/v3/auth/tokens',
  ]);
  await cloud.clock.advance(10_000);
  expect(cloud.rehearsal.sandbox.pods.logs(pod)).toContain(
    "Can't connect to MySQL server on 'my-cloud-mariadb.openstack.svc' ([SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate",
  );
});
