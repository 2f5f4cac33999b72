import { ConnectionError } from '../objects/errors.ts';
import { type ConnectionSettings, parseServer } from './connection.ts';
import { createHttp1Transport } from './http1-transport.ts';
import { createHttp2Transport, noHttp2 } from './http2-transport.ts';
import type { Transport } from './transport.ts';

/**
 * The transport that a server understands: HTTP/2 where TLS agrees on it (ALPN), else HTTP/1.1. Plain http is HTTP/1.1:
 * kube-apiserver and `kubectl proxy` speak nothing else there.
 */
export function transportFor(settings: ConnectionSettings): Transport {
  const http1 = createHttp1Transport(settings);
  if (parseServer(settings.server).protocol === 'http:') return http1;
  const http2 = createHttp2Transport(settings);
  let http2Spoken = true;
  return {
    async request(request, signal) {
      if (http2Spoken) {
        try {
          return await http2.request(request, signal);
        } catch (error) {
          if (!(error instanceof ConnectionError) || error.code !== noHttp2) throw error;
          http2Spoken = false;
        }
      }
      return http1.request(request, signal);
    },
    async close() {
      await Promise.all([http1.close(), http2.close()]);
    },
  };
}
