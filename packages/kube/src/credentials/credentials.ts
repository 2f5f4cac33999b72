import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Authenticator, Headers } from '../client/exchange.ts';
import { ConfigError } from '../objects/errors.ts';
import type { TlsSettings } from '../transport/connection.ts';
import type { CachedFile } from './cached-file.ts';

/** What proves who is calling, at present. The same object as long as nothing has changed. */
export interface Credential {
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
  /** PEM. */
  readonly cert?: string;
  /** PEM. */
  readonly key?: string;
}

/** Where credentials come from. */
export interface CredentialSource {
  current(): Promise<Credential>;
  /** The server refused these: fetches others, and resolves with whether it has. */
  renew(rejected: Credential): Promise<boolean>;
}

/** Credentials that stay as they are. */
export function fixedCredentials(credential: Credential): CredentialSource {
  return { current: async () => credential, renew: async () => false };
}

/** A token that others write to a file; `where` names the file in errors. Surrounding white space is no part of it. */
export function tokenFile(file: CachedFile, where: string): CredentialSource {
  let last: Credential | undefined;
  async function current(): Promise<Credential> {
    const token = (await readNamed(file, where)).trim();
    if (token === '') throw new ConfigError(`${where}: the file is empty; expected a bearer token`);
    if (last?.token !== token) last = { token };
    return last;
  }
  return {
    current,
    async renew(rejected) {
      await file.refresh();
      return (await current()) !== rejected;
    },
  };
}

/** Makes an `Authenticator` of credentials; `impersonation` are headers for every request. */
export function authenticator(source: CredentialSource, impersonation: Headers = {}): Authenticator {
  let last: { readonly credential: Credential; readonly headers: Headers } | undefined;
  return {
    async headers() {
      const credential = await source.current();
      if (last?.credential !== credential) {
        last = { credential, headers: { ...authorization(credential), ...impersonation } };
      }
      return last.headers;
    },
    async renew(rejected) {
      // Another request may have renewed them meanwhile.
      if (last === undefined || last.headers !== rejected) return true;
      return source.renew(last.credential);
    },
  };
}

function authorization({ token, username, password }: Credential): Headers {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (username === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` };
}

/** A text of the configuration, or of a file that it names; `where` names it in errors. */
export interface Material {
  readonly where: string;
  read(): Promise<string>;
}

/** Material that stands in the configuration itself. */
export function fixedMaterial(where: string, text: string): Material {
  return { where, read: async () => text };
}

/** Material in a file that others may write anew. */
export function fileMaterial(where: string, file: CachedFile): Material {
  return { where, read: () => readNamed(file, where) };
}

/** The parts of `TlsSettings` that may change while we run. */
export interface TlsSources {
  readonly ca?: Material;
  readonly cert?: Material;
  readonly key?: Material;
  /** Whose certificate and key win over those above. */
  readonly credentials: CredentialSource;
  readonly fixed: Pick<TlsSettings, 'serverName' | 'insecure'>;
}

/**
 * TLS settings from their sources: a new object only when something in them has changed.
 *
 * The result throws ConfigError for what is no certificate, no key, or a key of another certificate. Once there were
 * good ones, they are kept instead: files that belong together are not written at the same instant.
 */
export function tlsFrom(sources: TlsSources): () => Promise<TlsSettings> {
  let last: TlsSettings | undefined;
  return async () => {
    const credential = await sources.credentials.current();
    const next: TlsSettings = {
      ...sources.fixed,
      ...defined('ca', await sources.ca?.read()),
      ...defined('cert', credential.cert ?? (await sources.cert?.read())),
      ...defined('key', credential.key ?? (await sources.key?.read())),
    };
    if (last && last.ca === next.ca && last.cert === next.cert && last.key === next.key) return last;
    try {
      check(next, sources);
      last = next;
    } catch (error) {
      if (!last) throw error;
    }
    return last;
  };
}

function check({ ca, cert, key }: TlsSettings, sources: TlsSources): void {
  const where = { ca: sources.ca?.where, cert: sources.cert?.where, key: sources.key?.where };
  if (ca !== undefined) parsed(where.ca, 'certificates in PEM', () => new X509Certificate(ca));
  if (cert === undefined || key === undefined) return;
  const certificate = parsed(where.cert, 'a certificate in PEM', () => new X509Certificate(cert));
  const privateKey = parsed(where.key, 'a private key in PEM, not encrypted', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new ConfigError(`${where.key ?? 'key'}: this key does not belong to the certificate of ${where.cert}`);
  }
}

function parsed<R>(where = 'the credential plugin', expected: string, parse: () => R): R {
  try {
    return parse();
  } catch (cause) {
    throw new ConfigError(`${where}: expected ${expected}: ${(cause as Error).message}`, { cause });
  }
}

function defined<K extends string>(name: K, value: string | undefined): { readonly [name in K]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [name in K]?: string });
}

async function readNamed(file: CachedFile, where: string): Promise<string> {
  try {
    return await file.read();
  } catch (cause) {
    throw new ConfigError(`${where}: ${(cause as Error).message}; check that the file is there and readable`, {
      cause,
    });
  }
}
