import { X509Certificate } from 'node:crypto';
import {
  apiVersionOf,
  controllerOf,
  defineKind,
  type Kind,
  type KubeObject,
  Namespace,
  Secret,
} from '@openstack-operator/kube';
import { conditionOf, Keystone, MariaDB, Memcached, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import {
  installDefinitions,
  makeNamespace,
  remove,
  type ServerName,
  startCluster,
  until,
  untilGone,
} from './cluster.ts';
import { differencesOf, finalObjects, type Moments } from './final-objects.ts';
import { startProgram } from './operator.ts';
import { startOurOperator } from './our-operator.ts';
import { programOf } from './programs.ts';

const group = 'cert-manager.io/v1';
const Certificate = defineKind(group, 'Certificate', 'certificates');
const Issuer = defineKind(group, 'Issuer', 'issuers');

const namespace = 'cloud';
const at = (name: string) => ({ namespace, name });
const tls = { enabled: true, issuerRef: { name: 'cloud' } };
/** What has certificates, by kind, with a spec that its kind takes. */
const resources: readonly (readonly [Kind, string])[] = [
  [MariaDB, 'mariadb'],
  [OVNNetwork, 'ovn'],
  [Keystone, 'keystone'],
];
const issued = ['mariadb-issued-tls', 'ovn-issued-tls', 'ovn-issued-client', 'keystone-issued-tls'];

/** An object of cert-manager. */
function made(kind: Kind, name: string, spec: object): KubeObject {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: at(name), spec };
}

/** Our operator and cert-manager on a server: certificates, a renewal, a Secret that is lost, the end of a resource. */
async function play(server: ServerName) {
  await using end = new AsyncDisposableStack();
  const cluster = await startCluster(server);
  end.defer(() => cluster.stop());
  const { client } = cluster;
  const program = programOf('cert-manager');
  await installDefinitions(cluster, program);
  await makeNamespace(cluster, 'cert-manager');
  end.defer(() => remove(cluster, Namespace, { name: 'cert-manager' }));
  await makeNamespace(cluster, namespace);
  const certManager = startProgram(cluster.kubeconfig, program, []);
  end.defer(() => certManager.stop());
  const operator = await startOurOperator(cluster, [namespace]);
  end.defer(() => operator.stop());
  // It lets go of what is in there.
  end.defer(() => remove(cluster, Namespace, { name: namespace }));
  const read = async (name: string) => {
    const secret = await client.get(Secret, at(name));
    const text = (key: string) => Buffer.from(secret.data?.[key] ?? '', 'base64');
    return {
      secret,
      certificate: new X509Certificate(text('tls.crt')),
      authority: new X509Certificate(text('ca.crt')),
    };
  };
  const other = (name: string, before: X509Certificate) =>
    until(cluster, Secret, at(name), (found) => {
      const { 'tls.crt': shown = '', 'ca.crt': authority = '' } = found?.data ?? {};
      if (shown === '' || authority === '' || found === undefined || controllerOf(found) === undefined) return false;
      return new X509Certificate(Buffer.from(shown, 'base64')).serialNumber !== before.serialNumber;
    });
  const haveCredentials = async () => {
    for (const [kind, name] of resources)
      await until(
        cluster,
        kind,
        at(name),
        (found) => found !== undefined && conditionOf(found, 'CredentialsReady')?.status === 'True',
      );
  };
  try {
    await client.create<KubeObject>(Memcached, made(Memcached, 'memcached', {}));
    for (const [kind, name] of resources) await client.create<KubeObject>(kind, made(kind, name, { tls }));
    const waiting = await until(cluster, MariaDB, at('mariadb'), (found) =>
      /^Certificate mariadb-issued-tls: [A-Z]/.test((found && conditionOf(found, 'CredentialsReady')?.message) ?? ''),
    );
    await client.create(Issuer, made(Issuer, 'first', { selfSigned: {} }));
    const root = { secretName: 'root', isCA: true, commonName: 'root', privateKey: { algorithm: 'ECDSA' } };
    await client.create(Certificate, made(Certificate, 'root', { ...root, issuerRef: { name: 'first' } }));
    await client.create(Issuer, made(Issuer, 'cloud', { ca: { secretName: 'root' } }));
    await haveCredentials();
    const all = await Promise.all(issued.map(read));
    const objects = await finalObjects(cluster, [Certificate], namespace);

    const [database] = all;
    if (database === undefined) throw new Error('no certificate of the database');
    await client.patch(
      Certificate,
      at('mariadb-issued-tls'),
      'merge',
      // As cmctl does it (https://cert-manager.io/docs/reference/cmctl/#renew).
      {
        status: { conditions: [{ type: 'Issuing', status: 'True', reason: 'ManuallyTriggered', message: 'renewed' }] },
      },
      { subresource: 'status' },
    );
    await other('mariadb-issued-tls', database.certificate);
    const renewed = await read('mariadb-issued-tls');
    await client.delete(Secret, at('mariadb-issued-tls'));
    await other('mariadb-issued-tls', renewed.certificate);
    const again = await read('mariadb-issued-tls');
    await haveCredentials();

    await remove(cluster, OVNNetwork, at('ovn'));
    for (const name of ['ovn-issued-tls', 'ovn-issued-client'])
      for (const kind of [Certificate, Secret]) await untilGone(cluster, kind, at(name));
    const words = waiting && conditionOf(waiting, 'CredentialsReady')?.message;
    const moments: Moments = { issued: { ...objects, events: [] } };
    return { moments, words, all, later: [renewed, again], notOffered: cluster.notOffered };
  } catch (error) {
    throw certManager.explain(error);
  }
}

test('cert-manager signs what our operator states, again when it is asked to and when a Secret is lost; all goes with the resource', async () => {
  const real = await play('kubernetes');
  const ours = await play('sandbox');
  for (const { all, later, words } of [real, ours]) {
    expect(words).toMatch(
      /^Certificate mariadb-issued-tls: .*\(a CertificateRequest of its name says what it waits for\)$/,
    );
    for (const { secret, certificate, authority } of [...all, ...later]) {
      expect(certificate.verify(authority.publicKey)).toBe(true);
      expect(authority.subject).toBe('CN=root');
      // cert-manager makes a Secret of its own type when it sees the loss before our operator does.
      expect(secret.type).toMatch(
        all.some((one) => one.secret === secret) ? /^Opaque$/ : /^(?:Opaque|kubernetes.io\/tls)$/,
      );
      expect(secret.metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'openstack-operator' });
      expect(controllerOf(secret)?.kind).toMatch(/^(?:MariaDB|OVNNetwork|Keystone)$/);
    }
    const [database, , client] = all.map(({ certificate }) => certificate);
    expect(database?.subjectAltName).toContain('DNS:mariadb.cloud.svc, DNS:*.mariadb.cloud.svc');
    expect(database?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(client?.subject).toBe('CN=ovn client');
    expect(client?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  }
  expect(differencesOf(real.moments, ours.moments)).toEqual([]);
  expect(ours.words).toBe(real.words);
  expect(ours.notOffered).toEqual([]);
});
