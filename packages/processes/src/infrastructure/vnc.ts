import type { Connection, Listener, Process, Session } from '@openstack-operator/sandbox';
import { certificateProblem, readCertificate } from '../certificates.ts';
import { startTls, type TlsRequest } from '../tls.ts';
import { answering, ask } from './wire.ts';

/** Security types of RFB (github.com/rfbproto/rfbproto): without any, and TLS with certificates (VeNCrypt, X509None). */
export const securityTypes = { none: 1, vencrypt: 19 } as const;

/** What a server greets with that speaks RFB 3.8. */
export const greeting = 'RFB 003.008\n';

/** What QEMU shows, and whose clients it takes: as it was when it was started, or told to look again. */
export interface ScreenCredentials {
  readonly certificate: string;
  /** Whose certificate clients have to show; undefined: none. */
  readonly authority: string | undefined;
}

/** The other end has closed the connection, as it does where a certificate is not what it takes. */
export class ScreenClosedError extends Error {
  override readonly name = 'ScreenClosedError';
}

/** QEMU's credentials (tls-creds-x509) cannot be used. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
}

/** Reads what QEMU shows. @throws CredentialsError in the words of QEMU */
export function readCredentials({ files }: Process, directory: string, verifies: boolean): ScreenCredentials {
  const path = (name: string) => `${directory}/${name}.pem`;
  for (const name of ['ca-cert', 'server-cert', 'server-key'])
    if (!files.exists(path(name)))
      throw new CredentialsError(`Unable to access credentials ${path(name)}: No such file or directory`);
  const read = readCertificate(files, { certificate: path('server-cert'), key: path('server-key') });
  if ('unusable' in read)
    throw new CredentialsError(
      `Cannot load certificate '${path('server-cert')}' & key '${path('server-key')}': Error while reading file.`,
    );
  return { certificate: read.pem, authority: verifies ? files.read(path('ca-cert')) : undefined };
}

/** Serves a guest's screen: in the clear, or to who shows a certificate of the authority. */
export function serveScreen(
  { network, clock }: Process,
  { host, port }: { readonly host: string; readonly port: number },
  credentials: () => ScreenCredentials | undefined,
): Listener {
  const accept = (): Session => {
    let awaitsTls = false;
    return {
      receive: answering((message: string | number | TlsRequest) => {
        const shown = credentials();
        const type = shown === undefined ? securityTypes.none : securityTypes.vencrypt;
        if (typeof message === 'string') return [type];
        if (typeof message === 'number') {
          if (message !== type) throw new ScreenClosedError('Connection reset by peer');
          awaitsTls = shown !== undefined;
          return awaitsTls ? undefined : greeting;
        }
        if (!awaitsTls || shown === undefined) throw new ScreenClosedError('Connection reset by peer');
        const { authority: trusted } = shown;
        const isTaken =
          trusted === undefined ||
          (message.shown !== undefined &&
            certificateProblem(message.shown, { trusted, now: clock.now() }) === undefined);
        if (!isTaken) throw new ScreenClosedError('EOF occurred in violation of protocol (_ssl.c:2495)');
        return shown.certificate;
      }),
    };
  };
  return network.listen(port, 'vnc', accept, { host });
}

/** The security types that a server offers. */
export function offeredBy(connection: Connection): Promise<readonly number[]> {
  return ask(connection, greeting);
}

/**
 * Takes one of them. @param shown the client's certificate, as PEM; the server's is not looked at, as ssl.wrap_socket of eventlet does
 * not since Python 3.12 (run here with 0.39.1)
 * @throws ScreenClosedError
 */
export async function openScreen(connection: Connection, type: number, shown?: string): Promise<void> {
  await ask(connection, type);
  if (type === securityTypes.vencrypt) await startTls(connection, undefined, shown);
}
