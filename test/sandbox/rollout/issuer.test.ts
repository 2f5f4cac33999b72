import { X509Certificate } from 'node:crypto';
import { controllerOf, Secret } from '@openstack-operator/kube';
import { MariaDB, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { Certificate, type Issuers, runCertManager, serveCertManager } from './cert-manager.ts';
import { type Cloud, controlPlane, identityOnly, left, readyCloud } from './cloud.ts';
import { cloudWithRights } from './operator-access.ts';
import { asUser, userImage } from './servers.ts';

const issuerRef = { name: 'cloud' };
const database = 'my-cloud-mariadb-issued-tls';

const dataOf = (cloud: Cloud, name: string) => (cloud.get('Secret', name)?.['data'] ?? {}) as Record<string, string>;
const certificateIn = (cloud: Cloud, name: string, key = 'tls.crt') =>
  new X509Certificate(Buffer.from(dataOf(cloud, name)[key] ?? '', 'base64'));
const told = (cloud: Cloud, kind: string, name: string) =>
  (cloud.get(kind, `my-cloud-${name}`)?.['spec'] as { tls?: object } | undefined)?.tls;

test('what keeps an issuer from signing is told; what it has signed is used, made again when it is lost, and goes with the cloud', async () => {
  const { cloud, refused } = await cloudWithRights();
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...identityOnly, tls: { enabled: true, issuerRef } })));
  const says = () => cloud.condition(MariaDB, 'my-cloud-mariadb', 'CredentialsReady')?.message;
  await cloud.until(() => says()?.includes('install cert-manager') === true);

  const issuers: Record<string, Issuers[string]> = {};
  await serveCertManager(cloud);
  runCertManager(cloud, issuers);
  await cloud.until(() => says()?.startsWith(`Certificate ${database}: Issuer cloud not found (`) === true);
  issuers['cloud'] = { tellsAuthority: false };
  await cloud.until(
    () => says()?.startsWith(`Secret ${database} has no key ca.crt: Issuer cloud does not put it there`) === true,
  );
  expect(cloud.get('StatefulSet', 'my-cloud-mariadb')).toBeUndefined();

  issuers['cloud'] = { tellsAuthority: true };
  for (const name of [database, 'my-cloud-keystone-issued-tls'])
    if (cloud.get('Secret', name)) await cloud.remove(Secret, name);
  await cloud.ready();
  const first = certificateIn(cloud, database);
  expect(first.verify(certificateIn(cloud, database, 'ca.crt').publicKey)).toBe(true);
  expect(first.subjectAltName).toContain('DNS:my-cloud-mariadb.openstack.svc, DNS:*.my-cloud-mariadb.openstack.svc');
  expect(cloud.list('Secret').map(({ metadata }) => metadata.name)).not.toContain('my-cloud-keystone-ca');

  await cloud.remove(Secret, database);
  await cloud.ready();
  await cloud.until(() => dataOf(cloud, database)['tls.crt'] !== undefined);
  expect(certificateIn(cloud, database).serialNumber).not.toBe(first.serialNumber);
  expect(controllerOf(cloud.get('Secret', database) as never)).toMatchObject({
    kind: 'MariaDB',
    name: 'my-cloud-mariadb',
  });
  expect(refused).toEqual([]);

  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { deletionPolicy: 'Delete' } });
  await cloud.ready();
  // cert-manager would fill another Secret for a Certificate that is still there.
  await cloud.change(Certificate, database, { metadata: { finalizers: ['example.com/held'] } });
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(() => left(cloud).length === 2);
  expect(left(cloud)).toEqual([`Certificate ${database}`, `Secret ${database}`]);
  await cloud.change(Certificate, database, { metadata: { finalizers: [] } });
  await cloud.until(() => left(cloud).length === 0);
});

test('a small cloud comes to an issuer as well, and tells its database once that it has come', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, tls: { enabled: true } } });
  await serveCertManager(cloud);
  runCertManager(cloud, { cloud: { tellsAuthority: true } });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { tls: { issuerRef } } });
  await cloud.ready();
  expect(told(cloud, 'MariaDB', 'mariadb')).toEqual({ enabled: true, issuerRef });
  const generation = () => cloud.get('MariaDB', 'my-cloud-mariadb')?.metadata.generation;
  const before = generation();
  await cloud.clock.advance(600_000);
  expect(generation()).toBe(before);
  expect(cloud.isReady('OpenStackControlPlane', 'my-cloud')).toBe(true);
}, 300_000);

test('a cloud in use comes to the certificates of an issuer by itself: clients are without TLS meanwhile', async () => {
  const { cloud } = await readyCloud({ images: [userImage], spec: { tls: { enabled: true } } });
  await serveCertManager(cloud);
  runCertManager(cloud, { cloud: { tellsAuthority: true } });
  const seen: unknown[] = [];
  const unsubscribe = cloud.rehearsal.sandbox.api.store.subscribe(OpenStackControlPlane, () => {
    const tls = told(cloud, 'Keystone', 'keystone');
    if (seen.length === 0 || JSON.stringify(seen.at(-1)) !== JSON.stringify(tls)) seen.push(tls);
  });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { tls: { issuerRef } } });
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud', 'TLSReady')?.message).toContain('another one is to sign');
  await cloud.until(
    () =>
      JSON.stringify(told(cloud, 'Keystone', 'keystone')) === JSON.stringify({ enabled: true, issuerRef }) &&
      cloud.isReady('OpenStackControlPlane', 'my-cloud'),
    60,
  );
  await cloud.ready();
  unsubscribe();
  expect(seen).toEqual([
    { enabled: true },
    { enabled: false },
    undefined,
    { enabled: false, issuerRef },
    { enabled: true, issuerRef },
  ]);
  for (const [kind, name] of [
    ['MariaDB', 'mariadb'],
    ['RabbitMQ', 'rabbitmq'],
    ['OVNNetwork', 'ovn'],
  ] as const)
    expect(told(cloud, kind, name)).toEqual({ enabled: true, issuerRef });
  const pods = () =>
    cloud.list('Pod').filter((pod) => (pod['spec'] as { restartPolicy?: string }).restartPolicy === 'Always');
  const mounted = JSON.stringify(pods().map((pod) => pod['spec']));
  expect(mounted).toContain('my-cloud-ovn-issued-client');
  expect(mounted).not.toMatch(/my-cloud-(?:keystone-ca|(?:mariadb|rabbitmq|ovn|keystone|placement)-tls)"/);

  // Another certificate of the same authority is read by those who have it.
  const uids = () => pods().map(({ metadata }) => metadata.uid);
  const there = uids();
  for (const secret of ['keystone-issued-tls', 'placement-issued-tls', 'rabbitmq-issued-tls', 'ovn-issued-client']) {
    const before = certificateIn(cloud, `my-cloud-${secret}`).serialNumber;
    await cloud.remove(Secret, `my-cloud-${secret}`);
    await cloud.until(() => dataOf(cloud, `my-cloud-${secret}`)['tls.crt'] !== undefined);
    expect(certificateIn(cloud, `my-cloud-${secret}`).serialNumber).not.toBe(before);
  }
  await cloud.clock.advance(120_000);
  await cloud.ready();
  expect(uids().filter((uid) => !there.includes(uid))).toEqual([]);
  await asUser(cloud, 'boot');
}, 600_000);
