import type { Process } from '@openstack-operator/sandbox';
import { type CertificatePaths, readCertificate } from '../certificates.ts';

/** The certificate that a server shows: read at its start, and at FLUSH SSL. */
export class ServerCertificate {
  readonly #process: Process;
  readonly #paths: CertificatePaths;
  /** As PEM. */
  #certificate: string | undefined;
  /** Connections by TLS (status variable Ssl_accepts). */
  accepts = 0;

  constructor(process: Process, settings: ReadonlyMap<string, string>) {
    this.#process = process;
    this.#paths = { certificate: settings.get('ssl-cert'), key: settings.get('ssl-key') };
  }

  /** A client begins TLS: what it is shown. Undefined: a certificate that the server has made for itself. */
  accept(): string | undefined {
    this.accepts++;
    return this.#certificate;
  }

  /** Told why the files cannot be used, in the words of mariadb 10.11.19, run for this; what there was stays then. */
  load(): string | undefined {
    const { certificate, key = certificate } = this.#paths;
    if (key === undefined) return undefined;
    const read = readCertificate(this.#process.files, { certificate, key });
    if ('unusable' in read) return `Unable to get ${read.unusable === 'key' ? 'private key' : 'certificate'}`;
    this.#certificate = read.pem;
    return undefined;
  }
}
