import { secretReference } from '../../oslo/references.ts';
import { authority, type DatabaseAddress, type Trust } from './addresses.ts';
import type { Mount } from './component.ts';
import type { Context } from './context.ts';
import { fieldFor, uses } from './dependencies.ts';
import type { Capability, Service } from './service.ts';

/** The key of a Secret that has the certificate of an authority, as cert-manager calls it. */
export const authorityKey = 'ca.crt';

/** Whose certificates clients verify, by what they use of it. */
const trusted = ['database', 'broker', 'identity', 'virtualNetwork'] as const satisfies readonly Capability[];

type Trusted = (typeof trusted)[number];

/** Directory with what pods have of whom they trust. */
export const folderOf = (capability: Trusted): string => `/etc/openstack/trust/${capability}`;

/** File with the certificate of whom clients trust. */
export const trustedBy = (capability: Trusted): string => `${folderOf(capability)}/${authorityKey}`;

/** What a list of records says of whom its client trusts: the certificate itself. */
export function authorityOf({ trust }: { readonly trust?: Trust }): { readonly ca?: string } {
  return trust === undefined ? {} : { ca: secretReference(trust.secret, authorityKey, 'quoted') };
}

/** Files with the certificate that clients show to a server, and its private key; undefined for one that asks for none. */
export function shownTo(capability: Trusted, { client }: Trust): Trust['client'] {
  const file = (key: string) => `${folderOf(capability)}/${key}`;
  return client && { certificate: file(client.certificate), key: file(client.key) };
}

/** What follows the account in the SQLAlchemy URL of a database: where it is, and how it is connected to. */
export function databaseAt(
  { host, port, trust }: Pick<DatabaseAddress, 'host' | 'port'> & { readonly trust?: Trust | undefined },
  name: string,
): string {
  // utf8 is what ran (tables are utf8mb3); utf8mb4 would need every table converted.
  const tls = trust === undefined ? '' : `&ssl_ca=${trustedBy('database')}`;
  return `${authority(host, port)}/${name}?charset=utf8${tls}`;
}

/**
 * What pods mount so that they trust the servers that their configuration speaks of: a directory follows changes, and
 * PyMySQL and py-amqp read the file at each connection.
 * @param configuration texts of its files and variables
 */
export function trustMounts(configuration: string, service: Service, context: Context): readonly Mount[] {
  return trusted.flatMap((capability) => {
    const field = fieldFor(service, capability);
    // Users may name the file where there is no such server.
    const isMeant = configuration.includes(trustedBy(capability)) && uses(service, capability, context.spec);
    if (!isMeant || field === undefined) return [];
    const { trust } = context.address(field) as { readonly trust?: Trust };
    if (trust === undefined) return [];
    return [mountOf(capability, trust)];
  });
}

function mountOf(capability: Trusted, { secret, client }: Trust): Mount {
  const shown = client === undefined ? [] : [client.certificate, client.key];
  return { path: folderOf(capability), secret, keys: [authorityKey, ...shown], follows: true };
}

/** The same of the APIs, for programs whose configuration does not speak of it. */
export function identityTrust({ identity: { trust } }: Context): readonly Mount[] {
  return trust === undefined ? [] : [mountOf('identity', trust)];
}
