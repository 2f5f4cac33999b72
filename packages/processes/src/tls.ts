import type { Connection, Network, Peer, Process, Session } from '@openstack-operator/sandbox';
import { certificateProblem, type Verification } from './certificates.ts';
import { answering, ask } from './infrastructure/wire.ts';

/** What a client sends first that connects by TLS; answered with the server's certificate as PEM, undefined for one that it has made for itself. */
export interface TlsRequest {
  readonly type: 'tls';
  /** The client's own certificate, as PEM. */
  readonly shown?: string;
}

/** The server is not the one that the client trusts. */
export class UntrustedServerError extends Error {
  override readonly name = 'UntrustedServerError';
}

/**
 * Serves a protocol behind TLS.
 * @param refuse throws for a client's certificate that is not accepted; absent: none is asked for
 */
export function behindTls(
  certificate: () => string | undefined,
  accept: (peer: Peer) => Session,
  refuse: (shown: string | undefined) => void = () => undefined,
): (peer: Peer) => Session {
  return (peer) => {
    const session = accept(peer);
    let begun = false;
    return {
      ...session,
      receive: (message) => {
        if (begun) return session.receive(message);
        begun = true;
        return answering(({ shown }: TlsRequest) => {
          refuse(shown);
          return certificate();
        })(message);
      },
    };
  };
}

/** Begins TLS on a connection; without `verification` with anybody. @throws UntrustedServerError, in the words of Python's ssl */
export async function startTls(
  connection: Connection,
  verification: Verification | undefined,
  shown?: string,
): Promise<void> {
  const request: TlsRequest = { type: 'tls', ...(shown !== undefined && { shown }) };
  const certificate = await ask<string | undefined>(connection, request);
  const problem = verification && certificateProblem(certificate, verification);
  if (problem !== undefined) throw new UntrustedServerError(problem);
}

/** Connects to what is served behind TLS. @throws SystemError, UntrustedServerError */
export async function connectTls(
  network: Network,
  { host, port, protocol }: { readonly host: string; readonly port: number; readonly protocol: string },
  verification: Verification | undefined,
  shown?: string,
): Promise<Connection> {
  const connection = await network.connect(host, port, protocol);
  try {
    await startTls(connection, verification, shown);
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
}

/** Where an HTTP server is. */
export interface HttpServer {
  readonly scheme: string;
  readonly host: string;
  readonly port: number;
}

/** The file that names a client's authority is not there. */
export class MissingAuthorityError extends Error {
  override readonly name = 'MissingAuthorityError';
}

/**
 * Connects to an HTTP server, by https to one whose certificate is for its name, and that who is named has signed.
 * @param authority the file with the certificate of who has; absent: the system's
 * @throws SystemError (EPROTO for a server of the other scheme), UntrustedServerError, MissingAuthorityError
 */
export async function connectHttp(
  { network, files, clock }: Process,
  { scheme, host: written, port }: HttpServer,
  authority?: string,
): Promise<Connection> {
  const host = written.replace(/^\[|\]$/g, '');
  if (scheme !== 'https') return network.connect(host, port, 'http');
  if (authority !== undefined && !files.exists(authority)) throw new MissingAuthorityError(authority);
  const trusted = authority === undefined ? undefined : files.read(authority);
  return connectTls(network, { host, port, protocol: 'https' }, { trusted, host, now: clock.now() });
}
