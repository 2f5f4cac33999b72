import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { FileSystem } from '@openstack-operator/sandbox';

/** What a client knows when it looks at a server's certificate. */
export interface Verification {
  /** The certificates of the authorities that it trusts, as PEM; absent: those of the system, which sign nothing here. */
  readonly trusted?: string | undefined;
  /** The name by which it connects; absent: it does not compare. */
  readonly host?: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * What OpenSSL says of a server's certificate, in the words of Python's ssl; undefined when it is in order.
 * @param certificate as PEM; undefined: one that the server has made for itself
 */
export function certificateProblem(
  certificate: string | undefined,
  { trusted, host, now }: Verification,
): string | undefined {
  const failed = (why: string) => `[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: ${why} (_ssl.c:1033)`;
  if (certificate === undefined) return failed('self-signed certificate');
  const own = new X509Certificate(certificate);
  const authority = authoritiesIn(trusted).find((one) => own.checkIssued(one) && own.verify(one.publicKey));
  if (authority === undefined) return failed('unable to get local issuer certificate');
  if ([own, authority].some(({ validToDate }) => validToDate.getTime() <= now))
    return failed('certificate has expired');
  if ([own, authority].some(({ validFromDate }) => validFromDate.getTime() > now))
    return failed('certificate is not yet valid');
  if (host !== undefined && own.checkHost(host) === undefined)
    return failed(`Hostname mismatch, certificate is not valid for '${host}'.`);
  return undefined;
}

function authoritiesIn(trusted = ''): X509Certificate[] {
  // OpenSSL loads nothing of a file whose lines run into each other.
  if (/-----END CERTIFICATE-----[^\r\n]/u.test(trusted)) return [];
  const blocks = trusted.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** Where a server has its certificate and its key. */
export interface CertificatePaths {
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/**
 * Reads a server's certificate.
 * @returns it as PEM, or which of the two files cannot be used
 */
export function readCertificate(
  files: Pick<FileSystem, 'read'>,
  paths: CertificatePaths,
): { readonly pem: string } | { readonly unusable: keyof CertificatePaths } {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(files.read(paths.certificate ?? ''));
  } catch {
    return { unusable: 'certificate' };
  }
  try {
    if (!certificate.checkPrivateKey(createPrivateKey(files.read(paths.key ?? '')))) return { unusable: 'key' };
  } catch {
    return { unusable: 'key' };
  }
  return { pem: certificate.toString() };
}
