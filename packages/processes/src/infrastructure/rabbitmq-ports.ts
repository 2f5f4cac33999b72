import type { Listener, Process } from '@openstack-operator/sandbox';
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
    for (const { port, host } of amqpListeners(settings)) {
      listeners.push(process.network.listen(port, 'amqp', (peer) => broker.accept(peer), { ...(host && { host }) }));
      log(`[info] <0.600.0> started TCP listener on ${host ?? '[::]'}:${port}`);
    }
    if (settings.plugins.includes('rabbitmq_management')) {
      const port = Number(settings.get('management.tcp.port') ?? 15_672);
      listeners.push(process.network.listen(port, 'http', managementApi(process, broker)));
      log(`[info] <0.620.0> Management plugin: HTTP (non-TLS) listener started on port ${port}`);
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

function amqpListeners(settings: RabbitmqSettings): { port: number; host?: string }[] {
  if (settings.get('listeners.tcp') === 'none') return [];
  const listed = settings.keys.filter((key) => key.startsWith('listeners.tcp.')).map((key) => settings.get(key) ?? '');
  const environment = settings.environment('NODE_PORT');
  return (listed.length > 0 ? listed : [environment ?? '5672']).map((text) => {
    const [host, port] = text.includes(':') ? text.split(/:(?=\d+$)/) : [undefined, text];
    return { port: Number(port), ...(host !== undefined && host !== '' && !host.includes(':') && { host }) };
  });
}
