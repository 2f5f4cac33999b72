import { type Clock, ConnectionError, transportFor } from '@openstack-operator/kube';
import type { WebhookCaller } from './webhooks.ts';

/** Calls webhooks over sockets, as a real API server does. */
export function callOverHttps(clock: Clock): WebhookCaller {
  return async (address, caBundle, review, signal) => {
    const { origin, host, pathname, search } = new URL(address);
    const tls = { ca: caBundle };
    const transport = transportFor({ server: origin, clock, tls: () => Promise.resolve(tls) });
    try {
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      const request = { method: 'POST', path: pathname + search, headers, body: review };
      const { status, body } = await transport.request(request, signal);
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return { status, body: Buffer.concat(chunks).toString() };
    } catch (error) {
      const refused = error instanceof ConnectionError && error.code === 'ECONNREFUSED';
      throw refused ? new Error(`dial tcp ${host}: connect: connection refused`, { cause: error }) : error;
    } finally {
      await transport.close();
    }
  };
}
