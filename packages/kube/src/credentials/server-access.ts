import type { Authenticator } from '../client/exchange.ts';
import type { TlsSettings } from '../transport/connection.ts';

/** How to reach an API server, and as whom. */
export interface ServerAccess {
  /** Its URL. */
  readonly server: string;
  /** Where we are at home: the context's namespace, or that of the pod. */
  readonly namespace: string;
  /** URL of an HTTP proxy. */
  readonly proxy?: string;
  readonly tls: () => Promise<TlsSettings>;
  readonly authenticate: Authenticator;
}
