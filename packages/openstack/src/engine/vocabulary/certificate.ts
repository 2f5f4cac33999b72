import type { KubeObject } from '@openstack-operator/kube';
import { type IssuerRef, secondsOf } from '../../api/issuer.ts';
import type { IdentityAddress } from './addresses.ts';
import type { Mount, Sidecar } from './component.ts';
import type { Context } from './context.ts';
import { type IssuedCertificate, issuedKeys } from './issued.ts';
import type { GeneratedSecret } from './service.ts';
import type { CertificateGenerator } from './step.ts';
import { authorityKey } from './trust.ts';

interface TlsSpec {
  readonly tls?: { readonly issuerRef?: IssuerRef; readonly duration?: string };
}

/** Who signs the certificates of a resource; undefined: the operator. */
export function issuerOf(resource: KubeObject): IssuerRef | undefined {
  return ((resource['spec'] ?? {}) as TlsSpec).tls?.issuerRef;
}

/** How many seconds the certificates of a resource are valid. */
export function certificateSeconds(resource: KubeObject): number {
  return secondsOf(((resource['spec'] ?? {}) as TlsSpec).tls?.duration);
}

/** The same of an authority: ten years. */
export const authoritySeconds = 3650 * 86_400;

/**
 * What follows the name of a server's resource in that of the Secret with its certificate. Those of an issuer have another
 * name: cert-manager would take what it finds there for its own.
 */
export const certificateSuffix = (issuer?: IssuerRef): string => (issuer === undefined ? 'tls' : 'issued-tls');

/** Where a server, and programs of its resource, have their certificates. */
export const certificateFolder = '/etc/openstack/tls';
const [certificate, key] = ['tls.crt', 'tls.key'];

/** Where a server has its certificate and its private key, as PEM, and whom it or a client of it trusts. */
export const certificateFiles = {
  certificate: `${certificateFolder}/${certificate}`,
  key: `${certificateFolder}/${key}`,
  authority: `${certificateFolder}/${authorityKey}`,
};

/** The certificate that clients of a server show, where it asks for one: its Secret by what follows the name, and the keys. */
export interface ClientCertificate {
  readonly suffix: string;
  readonly keys: { readonly certificate: string; readonly key: string };
}

const clientKeys = { certificate: 'client.crt', key: 'client.key' } as const;

/** That of an issuer has a Secret of its own, as it is another Certificate. */
export function clientCertificate(issuer?: IssuerRef): ClientCertificate {
  const { certificate, key } = issuedKeys;
  return issuer === undefined
    ? { suffix: certificateSuffix(), keys: clientKeys }
    : { suffix: 'issued-client', keys: { certificate, key } };
}

/** Where programs of the server's own resource have that. */
export function clientFiles({ resource }: Context) {
  const { certificate, key } = clientCertificate(issuerOf(resource)).keys;
  return {
    certificate: `${certificateFolder}/${certificate}`,
    key: `${certificateFolder}/${key}`,
    authority: certificateFiles.authority,
  };
}

/** Keys of a Secret with the certificate of an authority, and with its private key. */
export const authorityKeys = { certificate: authorityKey, key: 'ca.key' } as const;

/** What makes the certificate of an authority and its key. */
const authorityOf = (name: string): GeneratedSecret['values'] => ({
  [authorityKeys.key]: { type: 'privateKey' },
  [authorityKeys.certificate]: {
    type: 'certificate',
    key: authorityKeys.key,
    commonName: `${name} authority`,
    seconds: authoritySeconds,
    authority: true,
  },
});

/** What makes the certificate of a server and its key. */
const ofServer = (
  name: string,
  certificateOf: Required<Pick<CertificateGenerator, 'dnsNames' | 'seconds' | 'signedBy'>>,
): GeneratedSecret['values'] => ({
  [key]: { type: 'privateKey' },
  [certificate]: { type: 'certificate', key, commonName: name, ...certificateOf },
});

/** What follows the name of a resource in that of the Secret with an authority that signs for other resources as well. */
export const authoritySuffix = 'ca';

/** An authority that signs for other resources as well, in the Secret `<name>-ca`. */
export function sharedAuthority({ name }: Context): GeneratedSecret {
  return { suffix: authoritySuffix, secretClass: 'credential', values: authorityOf(name), authority: true };
}

/** A Secret that cert-manager fills. */
function issuedSecret(suffix: string, issued: IssuedCertificate): GeneratedSecret {
  return { suffix, secretClass: 'credential', values: {}, issued };
}

/** The certificate of APIs, signed by the authority that another Secret has, or by an issuer. */
export function apiCertificate(
  { name }: Context,
  dnsNames: readonly string[],
  { secret, issuer, seconds }: NonNullable<IdentityAddress['apiAuthority']>,
): GeneratedSecret {
  const suffix = certificateSuffix(issuer);
  if (issuer !== undefined) return issuedSecret(suffix, { issuer, usage: 'server auth', dnsNames, seconds });
  const values = ofServer(name, { dnsNames, seconds, signedBy: { ...authorityKeys, secret } });
  return { suffix, secretClass: 'credential', values };
}

/**
 * The certificate of a server, in the Secret `<name>-tls` with its own authority or of an issuer, with the keys that cert-manager has in its
 * Secrets. Clients read `ca.crt`: a server's certificate that is renewed concerns nobody else.
 * @param services suffixes of the Services whose host names it is for; also of their pods'
 */
export function serverCertificate({ name, host, resource }: Context, services: readonly string[]): GeneratedSecret {
  const issuer = issuerOf(resource);
  const suffix = certificateSuffix(issuer);
  const seconds = certificateSeconds(resource);
  const dnsNames = services.flatMap((of) => [host(of), `*.${host(of)}`]);
  if (issuer !== undefined) return issuedSecret(suffix, { issuer, usage: 'server auth', dnsNames, seconds });
  const values = { ...authorityOf(name), ...ofServer(name, { dnsNames, seconds, signedBy: authorityKeys }) };
  return { suffix, secretClass: 'credential', values, authority: true };
}

/** The same, with a certificate for all of its clients, by which the server knows them. */
export function mutualCertificates(context: Context, services: readonly string[]): readonly GeneratedSecret[] {
  const server = serverCertificate(context, services);
  const issuer = issuerOf(context.resource);
  const seconds = certificateSeconds(context.resource);
  const commonName = `${context.name} client`;
  if (issuer !== undefined)
    return [
      server,
      issuedSecret(clientCertificate(issuer).suffix, { issuer, usage: 'client auth', commonName, seconds }),
    ];
  const { certificate, key } = clientKeys;
  const values = {
    ...server.values,
    [key]: { type: 'privateKey' },
    [certificate]: { type: 'certificate', key, commonName, seconds, signedBy: authorityKeys },
  } as const;
  return [{ ...server, values }];
}

/**
 * Mounts a server's certificate and key: without the key of the authority.
 * @param more further keys of the Secret
 * @param issuer who signs it; default: as the resource itself says
 */
export function certificateMount(
  { named, resource }: Context,
  {
    more = [],
    issuer = issuerOf(resource),
  }: { readonly more?: readonly string[]; readonly issuer?: IssuerRef | undefined } = {},
): Mount {
  return {
    path: certificateFolder,
    secret: named(certificateSuffix(issuer)),
    keys: [certificate, key, ...more],
    follows: true,
  };
}

/** Mounts what programs of the server's own resource connect to it with. */
export function clientMount({ named, resource }: Context): Mount {
  const { suffix, keys } = clientCertificate(issuerOf(resource));
  const { certificate: shown, key: privateKey } = keys;
  return {
    path: certificateFolder,
    secret: named(suffix),
    keys: [authorityKey, shown, privateKey],
    follows: true,
  };
}

/** Lines of a shell that run a command when the server's certificate is another one than that in the variable `last`. */
export const whenRenewed = (command: string): string => `while sleep 30; do
  now=$(cat ${certificateFiles.certificate})
  if [ "$now" != "$last" ] && ${command}; then last=$now; fi
done`;

/** A container that makes the server beside it read a renewed certificate, by this command of a shell. */
export function reloader(command: string): Sidecar {
  return {
    name: 'certificate-reloader',
    runs: {
      script: `# Servers read their certificate at their start, and when they are told to.
last=
${whenRenewed(`timeout 20 ${command}`)}
`,
    },
    resources: { cpu: '5m', memory: '16Mi' },
  };
}
