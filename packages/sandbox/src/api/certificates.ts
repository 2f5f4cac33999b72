import { X509Certificate } from 'node:crypto';
import type { User } from './request-info.ts';

/** A certificate with its key, both as PEM. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** Issues certificates; `certificate` is the authority's own, as PEM. */
export interface CertificateAuthority {
  readonly certificate: string;
  /** For a server that is reached at these names and addresses. */
  issueServer(hosts: readonly string[]): Promise<Certificate>;
  /** For a client that is this user. */
  issueClient(user: User): Promise<Certificate>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Valid whatever the clock says: a sandbox may live on virtual time, its clients do not. */
const VALIDITY = {
  notBefore: new globalThis.Date('2020-01-01T00:00:00Z'),
  notAfter: new globalThis.Date('2120-01-01T00:00:00Z'),
};

/** Makes a self-signed authority in this process (P-256). The library is loaded when this is first called. */
export async function createCertificateAuthority(name = 'sandbox-ca'): Promise<CertificateAuthority> {
  // tsyringe, which the library is built on, reads decorators through Reflect.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const { KeyUsageFlags, ExtendedKeyUsage } = x509;
  const authorityKeys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...VALIDITY,
    serialNumber: serial(),
    name: `CN=${name}`,
    keys: authorityKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  });

  async function issue(
    subject: { [field: string]: string[] }[],
    usage: string,
    hosts: readonly string[],
  ): Promise<Certificate> {
    const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const names = hosts.map((value) => ({ type: isAddress(value) ? ('ip' as const) : ('dns' as const), value }));
    const certificate = await x509.X509CertificateGenerator.create({
      ...VALIDITY,
      serialNumber: serial(),
      subject,
      issuer: authority.subject,
      publicKey: keys.publicKey,
      signingKey: authorityKeys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([usage]),
        // Go and OpenSSL 3.x with X509_STRICT (Python >= 3.13) look for it.
        await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
        ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      ],
    });
    const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
    return { certificate: `${certificate.toString('pem')}\n`, key: pem('PRIVATE KEY', key) };
  }

  return {
    certificate: `${authority.toString('pem')}\n`,
    issueServer: (hosts) => issue([{ CN: ['sandbox'] }], ExtendedKeyUsage.serverAuth, hosts),
    issueClient: (user) =>
      issue([...user.groups.map((group) => ({ O: [group] })), { CN: [user.name] }], ExtendedKeyUsage.clientAuth, []),
  };
}

/** The user of a client certificate: CN is the name, each O a group. */
export function userOfCertificate(raw: Uint8Array): User | undefined {
  const lines = new X509Certificate(raw).subject.split('\n').map((line) => line.split('=', 2));
  const name = lines.find(([field]) => field === 'CN')?.[1];
  if (!name) return undefined;
  const groups = lines.filter(([field]) => field === 'O').map(([, value]) => value ?? '');
  return { name, groups: [...new Set([...groups, 'system:authenticated'])] };
}

function serial(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(15)))
    .toString('hex')
    .replace(/^/, '01');
}

function isAddress(host: string): boolean {
  return /^[\d.]+$/.test(host) || host.includes(':');
}

function pem(label: string, data: ArrayBuffer): string {
  const lines =
    Buffer.from(data)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
