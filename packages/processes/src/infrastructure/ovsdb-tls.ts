import { type Connection, type Peer, type Process, type Session, SystemError } from '@openstack-operator/sandbox';
import { type CertificatePaths, certificateProblem, readCertificate } from '../certificates.ts';
import type { CommandLine } from '../command-line.ts';
import { behindTls, connectTls, UntrustedServerError } from '../tls.ts';

/** With which certificate a program of OVS comes to the others, and whom it trusts: files, read at each connection. */
export interface OvsCertificates extends CertificatePaths {
  readonly authority: string | undefined;
}

/** As options of a command say. */
export const certificatesOf = (line: CommandLine): OvsCertificates => ({
  certificate: line.value('certificate'),
  key: line.value('private-key'),
  authority: line.value('ca-cert'),
});

const protocol = 'ovsdb-tls';

/** What it is that is missing, in the words of lib/stream-ssl.c; undefined when nothing is. */
function unusable(process: Process, certificates: OvsCertificates): string | undefined {
  const read = readCertificate(process.files, certificates);
  const must = (what: string) => `${what} must be configured to use SSL`;
  if ('unusable' in read) return must(read.unusable === 'key' ? 'Private key' : 'Certificate');
  const { authority } = certificates;
  return authority === undefined || !process.files.exists(authority) ? must('CA certificate') : undefined;
}

/** Connects to where a database answers by TLS; whose name stands in a certificate is not compared. @throws SystemError */
export async function connectOvsdbTls(
  process: Process,
  { host, port }: { readonly host: string; readonly port: number },
  certificates: OvsCertificates = { certificate: undefined, key: undefined, authority: undefined },
): Promise<Connection> {
  const problem = unusable(process, certificates);
  if (problem !== undefined) throw new SystemError('EPROTO', problem);
  const { files, clock, network } = process;
  const shown = files.read(certificates.certificate ?? '');
  const trusted = files.read(certificates.authority ?? '');
  try {
    return await connectTls(network, { host, port, protocol }, { trusted, now: clock.now() }, shown);
  } catch (error) {
    if (error instanceof UntrustedServerError) throw new SystemError('EPROTO', error.message);
    throw error;
  }
}

/** Serves by TLS those alone who show a certificate of the same authority. @throws SystemError when there is no certificate */
export function listenOvsdbTls(
  process: Process,
  { port, host, log }: { readonly port: number; readonly host?: string; readonly log: (text: string) => void },
  accept: (peer: Peer) => Session,
  certificates: OvsCertificates,
) {
  const problem = unusable(process, certificates);
  if (problem !== undefined) {
    log(`stream_ssl|ERR|${problem}`);
    throw new SystemError('EPROTO', problem);
  }
  const { files, clock, network } = process;
  const own = () => {
    const read = readCertificate(files, certificates);
    return 'pem' in read ? read.pem : undefined;
  };
  const refuse = (shown: string | undefined): void => {
    const trusted = files.read(certificates.authority ?? '');
    const said =
      shown === undefined
        ? '0A0000C7:SSL routines::peer did not return a certificate'
        : certificateProblem(shown, { trusted, now: clock.now() }) &&
          '0A000086:SSL routines::certificate verify failed';
    if (said === undefined) return;
    log(`stream_ssl|WARN|SSL_accept: error:${said}`);
    throw new UntrustedServerError(said);
  };
  return network.listen(port, protocol, behindTls(own, accept, refuse), { ...(host !== undefined && { host }) });
}
