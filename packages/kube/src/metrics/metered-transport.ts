import type { Transport } from '../transport/transport.ts';
import type { Metrics } from './metrics.ts';

/** Counts the requests of a transport in `rest_client_requests_total`; `host` is that of the API server, with port. */
export function meteredTransport(transport: Transport, metrics: Metrics, host: string): Transport {
  return {
    async request(request, signal) {
      try {
        const response = await transport.request(request, signal);
        metrics.request(String(response.status), request.method, host);
        return response;
      } catch (error) {
        metrics.request('<error>', request.method, host);
        throw error;
      }
    },
    close: () => transport.close(),
  };
}
