import type { Mount, Sidecar } from './component.ts';
import type { Context } from './context.ts';
import type { GeneratedSecret } from './service.ts';
import type { CertificateGenerator } from './step.ts';
import { authorityKey } from './trust.ts';

/** What follows the name of a server's resource in that of the Secret with its certificate. */
export const certificateSuffix = 'tls';

/** Where a server, and programs of its resource, have their certificates. */
export const certificateFolder = '/etc/openstack/tls';
const [certificate, key] = ['tls.crt', 'tls.key'];

/** Where a server has its certificate and its private key, as PEM, and whom it or a client of it trusts. */
export const certificateFiles = {
  certificate: `${certificateFolder}/${certificate}`,
  key: `${certificateFolder}/${key}`,
  authority: `${certificateFolder}/${authorityKey}`,
};

/** Keys of the Secret with the certificate that clients of a server show, where it asks for one. */
export const clientKeys = { certificate: 'client.crt', key: 'client.key' } as const;

/** Where programs of the server's own resource have that. */
export const clientFiles = {
  certificate: `${certificateFolder}/${clientKeys.certificate}`,
  key: `${certificateFolder}/${clientKeys.key}`,
  authority: certificateFiles.authority,
};

/** Keys of a Secret with the certificate of an authority, and with its private key. */
const authorityKeys = { certificate: authorityKey, key: 'ca.key' } as const;

/** What makes the certificate of an authority and its key. */
const authorityOf = (name: string): GeneratedSecret['values'] => ({
  [authorityKeys.key]: { type: 'privateKey' },
  [authorityKeys.certificate]: {
    type: 'certificate',
    key: authorityKeys.key,
    commonName: `${name} authority`,
    days: 3650,
    authority: true,
  },
});

/** What makes the certificate of a server and its key. */
const ofServer = (
  name: string,
  dnsNames: readonly string[],
  signedBy: CertificateGenerator['signedBy'],
): GeneratedSecret['values'] => ({
  [key]: { type: 'privateKey' },
  [certificate]: {
    type: 'certificate',
    key,
    commonName: name,
    dnsNames,
    days: 90,
    ...(signedBy === undefined ? {} : { signedBy }),
  },
});

/** What follows the name of a resource in that of the Secret with an authority that signs for other resources as well. */
export const authoritySuffix = 'ca';

/** An authority that signs for other resources as well, in the Secret `<name>-ca`. */
export function sharedAuthority({ name }: Context): GeneratedSecret {
  return { suffix: authoritySuffix, secretClass: 'credential', values: authorityOf(name) };
}

/** The certificate of a server, in the Secret `<name>-tls`, signed by the authority that another Secret has. */
export function signedCertificate({ name }: Context, hosts: readonly string[], secret: string): GeneratedSecret {
  return {
    suffix: certificateSuffix,
    secretClass: 'credential',
    values: ofServer(name, hosts, { ...authorityKeys, secret }),
  };
}

/**
 * The certificate of a server and its own authority, in the Secret `<name>-tls`, with the keys that cert-manager has in its
 * Secrets. Clients read `ca.crt`: a server's certificate that is renewed concerns nobody else.
 * @param services suffixes of the Services whose host names it is for; also of their pods'
 */
export function serverCertificate({ name, host }: Context, services: readonly string[]): GeneratedSecret {
  return {
    suffix: certificateSuffix,
    secretClass: 'credential',
    values: {
      ...authorityOf(name),
      ...ofServer(
        name,
        services.flatMap((suffix) => [host(suffix), `*.${host(suffix)}`]),
        authorityKeys,
      ),
    },
  };
}

/** The same, with a certificate for all of its clients, by which the server knows them. */
export function mutualCertificates(context: Context, services: readonly string[]): GeneratedSecret {
  const server = serverCertificate(context, services);
  return {
    ...server,
    values: {
      ...server.values,
      [clientKeys.key]: { type: 'privateKey' },
      [clientKeys.certificate]: {
        type: 'certificate',
        key: clientKeys.key,
        commonName: `${context.name} client`,
        days: 90,
        signedBy: authorityKeys,
      },
    },
  };
}

/**
 * Mounts a server's certificate and key: without the key of the authority.
 * @param more further keys of the Secret
 */
export function certificateMount({ named }: Context, more: readonly string[] = []): Mount {
  return {
    path: certificateFolder,
    secret: named(certificateSuffix),
    keys: [certificate, key, ...more],
    follows: true,
  };
}

/** Mounts what programs of the server's own resource connect to it with. */
export function clientMount({ named }: Context): Mount {
  const { certificate: shown, key: privateKey } = clientKeys;
  return {
    path: certificateFolder,
    secret: named(certificateSuffix),
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
