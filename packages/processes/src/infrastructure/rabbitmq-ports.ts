import type { Listener, Process } from '@openstack-operator/sandbox';
import { type CertificatePaths, readCertificate } from '../certificates.ts';
import { CommandError } from '../program-support.ts';
import { behindTls } from '../tls.ts';
import type { Broker } from './rabbitmq-broker.ts';
import type { RabbitmqSettings } from './rabbitmq-config.ts';
import { managementApi } from './rabbitmq-management.ts';

/**
 * Opens the ports of a broker that serves.
 * @returns what closes them
 * @throws SystemError for a port that somebody else has
 */
export function openPorts(
  process: Process,
  settings: RabbitmqSettings,
  broker: Broker,
  log: (text: string) => void,
): () => void {
  const listeners: Listener[] = [];
  const close = (): void => {
    for (const listener of listeners) listener.close();
  };
  try {
    const tls = certificateOf(process, settings, 'ssl_options');
    for (const { port, host } of amqpListeners(settings, 'tcp')) {
      listeners.push(
        process.network.listen(port, 'amqp', (peer) => broker.accept(peer, port), { ...(host && { host }) }),
      );
      log(`[info] <0.600.0> started TCP listener on ${host ?? '[::]'}:${port}`);
    }
    for (const { port, host } of amqpListeners(settings, 'ssl')) {
      const accept = behindTls(tls, (peer) => broker.accept(peer, port));
      listeners.push(process.network.listen(port, 'amqps', accept, { ...(host && { host }) }));
      log(`[info] <0.610.0> started TLS (SSL) listener on ${host ?? '[::]'}:${port}`);
    }
    if (settings.plugins.includes('rabbitmq_management')) {
      const api = managementApi(process, broker);
      const secure = settings.get('management.ssl.port');
      const port = settings.get('management.tcp.port') ?? (secure === undefined ? '15672' : undefined);
      if (port !== undefined) {
        listeners.push(process.network.listen(Number(port), 'http', api));
        log(`[info] <0.620.0> Management plugin: HTTP (non-TLS) listener started on port ${port}`);
      }
      if (secure !== undefined) {
        const certificate = certificateOf(process, settings, 'management.ssl');
        listeners.push(process.network.listen(Number(secure), 'https', behindTls(certificate, api)));
        log(`[info] <0.630.0> Management plugin: HTTPS listener started on port ${secure}`);
      }
    }
    if (settings.plugins.includes('rabbitmq_prometheus')) {
      const port = Number(settings.get('prometheus.tcp.port') ?? 15_692);
      listeners.push(
        process.network.listen(port, 'http', () => ({
          receive: () => Promise.resolve({ status: 200, body: 'rabbitmq_identity_info 1\n' }),
        })),
      );
    }
  } catch (error) {
    close();
    throw error;
  }
  return close;
}

/** Erlang reads the files of a certificate again when it has forgotten them: within so many milliseconds. */
const remembered = 120_000;

/** The certificate that a listener shows, by its section of settings. @throws CommandError for a file that is not there */
function certificateOf(process: Process, settings: RabbitmqSettings, section: string): () => string | undefined {
  const pathOf = (option: string): string | undefined => {
    const path = settings.get(`${section}.${option}`);
    if (path !== undefined && !process.files.exists(path))
      throw new CommandError(
        `[error] <0.254.0> ${section}.${option} invalid, file does not exist or cannot be read by the node`,
      );
    return path;
  };
  const paths: CertificatePaths = { certificate: pathOf('certfile'), key: pathOf('keyfile') };
  let known: { readonly pem: string | undefined; readonly until: number } = { pem: undefined, until: 0 };
  return () => {
    const now = process.clock.monotonic();
    if (now >= known.until) {
      const read = readCertificate(process.files, paths);
      known = { pem: 'pem' in read ? read.pem : undefined, until: now + remembered };
    }
    return known.pem;
  };
}

function amqpListeners(settings: RabbitmqSettings, kind: 'tcp' | 'ssl'): { port: number; host?: string }[] {
  if (settings.get(`listeners.${kind}`) === 'none') return [];
  const listed = settings.keys
    .filter((key) => key.startsWith(`listeners.${kind}.`))
    .map((key) => settings.get(key) ?? '');
  const standard = kind === 'tcp' ? [settings.environment('NODE_PORT') ?? '5672'] : [];
  return (listed.length > 0 ? listed : standard).map((text) => {
    const [host, port] = text.includes(':') ? text.split(/:(?=\d+$)/) : [undefined, text];
    return { port: Number(port), ...(host !== undefined && host !== '' && !host.includes(':') && { host }) };
  });
}
