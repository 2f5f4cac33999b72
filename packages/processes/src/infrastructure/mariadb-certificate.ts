import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Process } from '@openstack-operator/sandbox';

/** The certificate that a server shows: read at its start, and at FLUSH SSL. */
export class ServerCertificate {
  readonly #process: Process;
  readonly #paths: { readonly certificate: string | undefined; readonly key: string | undefined };
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
    const { certificate: path, key = path } = this.#paths;
    if (key === undefined) return undefined;
    let certificate: X509Certificate;
    try {
      certificate = new X509Certificate(this.#process.files.read(path ?? ''));
    } catch {
      return 'Unable to get certificate';
    }
    try {
      if (!certificate.checkPrivateKey(createPrivateKey(this.#process.files.read(key))))
        return 'Unable to get private key';
    } catch {
      return 'Unable to get private key';
    }
    this.#certificate = certificate.toString();
    return undefined;
  }
}
