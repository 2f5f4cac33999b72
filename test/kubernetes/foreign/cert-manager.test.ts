import { X509Certificate } from 'node:crypto';
import { defineKind, type KubeObject, Lease, Namespace, Secret } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import {
  installDefinitions,
  makeNamespace,
  refusalOf,
  remove,
  type ServerName,
  startCluster,
  until,
  untilGone,
} from './cluster.ts';
import { differencesOf, finalObjects, type Moments } from './final-objects.ts';
import { startProgram } from './operator.ts';
import { programOf } from './programs.ts';

interface Issued extends KubeObject {
  readonly spec: Record<string, unknown>;
  readonly status?: {
    readonly conditions?: readonly { type: string; status: string; observedGeneration?: number }[];
    readonly revision?: number;
  };
}

const group = 'cert-manager.io/v1';
const Certificate = defineKind<Issued>(group, 'Certificate', 'certificates');
const CertificateRequest = defineKind<Issued>(group, 'CertificateRequest', 'certificaterequests');
const Issuer = defineKind<Issued>(group, 'Issuer', 'issuers');
const ClusterIssuer = defineKind<Issued>(group, 'ClusterIssuer', 'clusterissuers', { namespaced: false });
const compared = [Certificate, CertificateRequest, Issuer, Secret];

/** What a server has at the end of each part of the story, and what it would not do. */
interface Story {
  readonly moments: Moments;
  readonly refused: string;
  readonly notOffered: readonly string[];
}

const namespace = 'shop';

/** cert-manager on a server: an authority, a certificate of it, what becomes of them. */
async function play(server: ServerName, featureGates: string): Promise<Story> {
  await using end = new AsyncDisposableStack();
  const cluster = await startCluster(server);
  end.defer(() => cluster.stop());
  const { client } = cluster;
  const program = programOf('cert-manager');
  await installDefinitions(cluster, program);
  await makeNamespace(cluster, 'cert-manager');
  // Its lease is there: it goes after it.
  end.defer(() => remove(cluster, Namespace, { name: 'cert-manager' }));
  const certManager = startProgram(cluster.kubeconfig, program, [`--feature-gates=${featureGates}`]);
  end.defer(() => certManager.stop());
  await makeNamespace(cluster, namespace);
  end.defer(() => remove(cluster, Namespace, { name: namespace }));
  const at = (name: string) => ({ namespace, name });
  const issuedBy = async (name: string, revision: number) => {
    await until(cluster, Certificate, at(name), (found) => isReady(found) && found?.status?.revision === revision);
    const { data } = await client.get(Secret, at(name));
    return new X509Certificate(Buffer.from(data?.['tls.crt'] ?? '', 'base64'));
  };
  // A signer that looks before the approver says that it waits; a cache that is behind has a request made twice.
  const objects = () => finalObjects(cluster, compared, namespace, /WaitingForApproval|already exists/);
  try {
    await client.create(ClusterIssuer, issuer('ClusterIssuer', 'shop', { selfSigned: {} }));
    end.defer(() => remove(cluster, ClusterIssuer, { name: 'shop' }));
    await until(cluster, ClusterIssuer, { name: 'shop' }, isReady);
    const selfSigned = { kind: 'ClusterIssuer', name: 'shop' };
    await client.create(
      Certificate,
      certificate('authority', { isCA: true, commonName: 'shop', issuerRef: selfSigned }),
    );
    const authority = await issuedBy('authority', 1);
    expect(authority).toMatchObject({ ca: true, subject: 'CN=shop' });
    await client.create(Issuer, issuer('Issuer', 'shop', { ca: { secretName: 'authority' } }));
    await until(cluster, Issuer, at('shop'), isReady);
    const issuerRef = { name: 'shop' };
    await client.create(Certificate, certificate('web', { dnsNames: ['web.example'], issuerRef }));
    const first = await issuedBy('web', 1);
    expect(first.verify(authority.publicKey)).toBe(true);
    expect(first.checkIssued(authority)).toBe(true);
    expect(first.subjectAltName).toBe('DNS:web.example');
    const lease = await client.get(Lease, { namespace: 'cert-manager', name: 'cert-manager-controller' });
    expect(lease.spec?.holderIdentity).toMatch(/./);
    const issued = await objects();

    await client.delete(Secret, at('web'));
    const second = await issuedBy('web', 2);
    expect(second.serialNumber).not.toBe(first.serialNumber);
    expect(second.verify(authority.publicKey)).toBe(true);
    await client.patch(Certificate, at('web'), 'merge', { spec: { dnsNames: ['web.example', 'shop.example'] } });
    expect((await issuedBy('web', 3)).subjectAltName).toBe('DNS:web.example, DNS:shop.example');
    await client.create(Issuer, issuer('Issuer', 'nobody', { ca: { secretName: 'missing' } }));
    await until(cluster, Issuer, at('nobody'), (found) => found?.status?.conditions !== undefined);
    const ofNobody = { dnsNames: ['a.example'], issuerRef: { name: 'nobody' } };
    await client.create(Certificate, certificate('nobody', ofNobody));
    await until(cluster, CertificateRequest, at('nobody-1'), (found) => (found?.status?.conditions?.length ?? 0) > 1);
    const changed = await objects();

    const wrong = certificate('wrong', { issuerRef, privateKey: { algorithm: 'DSA' } });
    const refused = await refusalOf(client.create(Certificate, wrong));
    for (const name of ['web', 'nobody']) await remove(cluster, Certificate, at(name));
    for (const name of ['web-3', 'nobody-1']) await untilGone(cluster, CertificateRequest, at(name));
    const deleted = await objects();
    return { moments: { issued, changed, deleted }, refused, notOffered: cluster.notOffered };
  } catch (error) {
    throw certManager.explain(error);
  }
}

function isReady(found: Issued | undefined): boolean {
  const ready = found?.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === found?.metadata.generation;
}

function issuer(kind: string, name: string, spec: Record<string, unknown>): Issued {
  const place = kind === 'Issuer' ? { namespace } : {};
  return { apiVersion: group, kind, metadata: { name, ...place }, spec };
}

function certificate(name: string, spec: Record<string, unknown>): Issued {
  const common = { secretName: name, privateKey: { algorithm: 'ECDSA' } };
  return { apiVersion: group, kind: 'Certificate', metadata: { namespace, name }, spec: { ...common, ...spec } };
}

test.for([
  ['that updates objects', 'ServerSideApply=false'],
  ['that applies objects', 'ServerSideApply=true'],
] as const)('cert-manager %s: authority, certificate, renewal, deletion', async ([, featureGates]) => {
  const real = await play('kubernetes', featureGates);
  const ours = await play('sandbox', featureGates);
  const names = (moment: string) => Object.keys(real.moments[moment] ?? {});
  expect(names('issued')).toEqual(expect.arrayContaining(['Secret web', 'CertificateRequest web-1', 'events']));
  expect(names('deleted')).not.toContain('CertificateRequest web-3');
  expect(differencesOf(real.moments, ours.moments)).toEqual([]);
  expect(ours.refused).toBe(real.refused);
  expect(ours.notOffered).toEqual([]);
});
