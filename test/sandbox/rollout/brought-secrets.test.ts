import { Deployment, Secret } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { asOperator, type Cloud, controlPlane, createCloud, identityOnly } from './cloud.ts';

const root = 'db-root';
/** What a password of a user's own may hold: quotes, what shells, SQL and option files take for their own, and newlines. */
const password = `${String.raw`it's a "battery" \ $HOME %s #1`}\n\n`;
const dbCreate = (cloud: Cloud) => cloud.get('Job', 'my-cloud-keystone-db-create')?.metadata.uid;

/** A cloud whose database has a root password that its user brought: Keystone's database is made with it, too. */
async function withRootSecret(options: Parameters<typeof createCloud>[0] = {}): Promise<Cloud> {
  const cloud = await createCloud(options);
  const operator = await cloud.startOperator(asOperator);
  const metadata = { name: root, namespace: 'openstack' };
  const stringData = { password };
  await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }));
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, mariadb: { rootSecretName: root } })));
  await cloud.ready();
  await cloud.clock.advance(60_000);
  await cloud.settle(operator.stop());
  return cloud;
}

test('whoever composes from a Secret waits until it is known, though another resource names it', async () => {
  let hidden = false;
  const cloud = await withRootSecret({
    server: {
      faults: {
        request: ({ query }) =>
          hidden && query.get('fieldSelector') === `metadata.name=${root}` ? { kind: 'status', code: 503 } : undefined,
      },
    },
  });
  hidden = true;
  const operator = await cloud.startOperator(asOperator);
  const writes: string[] = [];
  operator.onWrite(({ method, path }) => {
    if (!path.includes('/leases/')) writes.push(`${method} ${path}`);
  });
  await cloud.clock.advance(120_000);
  // Not even what somebody changed is corrected, before all is known.
  await cloud.change(Deployment, 'my-cloud-keystone-api', {
    metadata: { labels: { 'app.kubernetes.io/part-of': 'x' } },
  });
  expect(writes).toEqual([]);
  hidden = false;
  await cloud.clock.advance(120_000);
  expect(writes).toEqual([expect.stringMatching(/^PATCH .*\/deployments\/my-cloud-keystone-api\?/)]);
});

test('a Secret that another resource names reaches who composes from it', async () => {
  const cloud = await withRootSecret();
  await cloud.startOperator(asOperator);
  await cloud.clock.advance(60_000);
  const before = dbCreate(cloud);
  await cloud.change(Secret, root, { stringData: { note: 'another digest' } });
  await cloud.clock.advance(60_000);
  expect(dbCreate(cloud)).not.toBe(before);
});

test("a root password of one's own in the generated Secret is what the database and its clients use", async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.ready();
  const before = dbCreate(cloud);
  await cloud.change(Secret, 'my-cloud-mariadb-root-password', { stringData: { password } });
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect(dbCreate(cloud)).not.toBe(before);
});

test('a Keystone whose key repositories are brought comes up with them', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  const key = (byte: number) => Buffer.alloc(32, byte).toString('base64url').padEnd(44, '=');
  for (const name of ['my-fernet', 'my-credential']) {
    const metadata = { name, namespace: 'openstack' };
    const stringData = { 0: key(1), 1: key(2) };
    await cloud.settle(cloud.rehearsal.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }));
  }
  const keystone = { fernetKeysSecretName: 'my-fernet', credentialKeysSecretName: 'my-credential' };
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, keystone })));
  await cloud.ready();
  expect(cloud.get('Secret', 'my-cloud-keystone-fernet-keys')).toBeUndefined();
  expect(cloud.get('Secret', 'my-cloud-keystone-credential-keys')).toBeUndefined();
});
