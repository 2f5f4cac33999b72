import type { StoredObject } from '@openstack-operator/kube';
import type { IssuerRef } from '../../api/issuer.ts';
import { type Filter, secretReference } from '../../oslo/references.ts';
import { serviceHost } from '../names/names.ts';

/** A text that may hold references to Secrets, encoded for the place where it is put. */
export type Secretly = (...filters: readonly Filter[]) => string;

/** Whom clients of a server trust: its certificate is signed by the authority whose certificate this Secret has as `ca.crt`. */
export interface Trust {
  readonly secret: string;
  /** Keys of the Secret with a certificate that clients show to it, and with its private key. */
  readonly client?: { readonly certificate: string; readonly key: string };
}

/** Where a database server is and who may do all there. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
  readonly adminUser: Secretly;
  readonly adminPassword: Secretly;
  /** Clients connect by TLS; absent: as they like. */
  readonly trust?: Trust;
}

/** Where a message broker is and who administers it. */
export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
  readonly managementUrl: string;
  /** Clients connect by TLS; absent: in the clear. */
  readonly trust?: Trust;
  readonly adminUser: Secretly;
  readonly adminPassword: Secretly;
}

/** Where the identity service is and who may make users there. */
export interface IdentityAddress {
  readonly internalUrl: string;
  readonly publicUrl: string;
  /** What clients of it, and of the APIs that its catalogue has, verify certificates by; absent: nothing that they need be told. */
  readonly trust?: Trust;
  /**
   * The authority of the APIs that register there: the Secret with its certificate and, unless an issuer signs, its key
   * (`authorityKeys`), and whether the catalogue leads to their ports with TLS. Absent: they have none.
   */
  readonly apiAuthority?: {
    readonly secret: string;
    readonly inCatalogue: boolean;
    readonly issuer?: IssuerRef;
    /** How long the certificates are valid. */
    readonly seconds: number;
  };
  readonly admin: {
    readonly user: Secretly;
    readonly password: Secretly;
    readonly project: Secretly;
    readonly userDomain: Secretly;
    readonly projectDomain: Secretly;
  };
}

/** A host as a URL has it: an IPv6 address stands in brackets. */
export const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** Host and port as a URL has them. */
export const authority = (host: string, port: number): string => `${bracketed(host)}:${port}`;

/** A text that is no secret. */
export const literal =
  (text: string): Secretly =>
  () =>
    text;

/** A key of a Secret. */
export const fromSecret =
  (secret: string, key: string): Secretly =>
  (...filters) =>
    secretReference(secret, key, ...filters);

/** Host name of a resource's Service; `suffix` follows the resource's name. */
export const hostOf = (resource: StoredObject, suffix = ''): string =>
  serviceHost(`${resource.metadata.name}${suffix}`, resource.metadata.namespace ?? 'default');
