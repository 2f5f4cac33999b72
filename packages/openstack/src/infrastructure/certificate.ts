import type { Mount, Sidecar } from '../engine/vocabulary/component.ts';
import type { Context } from '../engine/vocabulary/context.ts';
import type { GeneratedSecret } from '../engine/vocabulary/service.ts';

/** What follows the name of a server's resource in that of the Secret with its certificate. */
export const certificateSuffix = 'tls';

const folder = '/etc/openstack/tls';
const [certificate, key] = ['tls.crt', 'tls.key'];

/** Where a server has its certificate and its private key, as PEM. */
export const certificateFiles = { certificate: `${folder}/${certificate}`, key: `${folder}/${key}` };

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
      'ca.key': { type: 'privateKey' },
      'ca.crt': { type: 'certificate', key: 'ca.key', commonName: `${name} authority`, days: 3650, authority: true },
      [key]: { type: 'privateKey' },
      [certificate]: {
        type: 'certificate',
        key,
        commonName: name,
        dnsNames: services.flatMap((suffix) => [host(suffix), `*.${host(suffix)}`]),
        days: 90,
        signedBy: { certificate: 'ca.crt', key: 'ca.key' },
      },
    },
  };
}

/** Mounts a server's certificate and key: without the key of the authority. */
export function certificateMount({ named }: Context): Mount {
  return { path: folder, secret: named(certificateSuffix), keys: [certificate, key], follows: true };
}

/** A container that makes the server beside it read a renewed certificate, by this command of a shell. */
export function reloader(command: string): Sidecar {
  return {
    name: 'certificate-reloader',
    runs: {
      script: `# Servers read their certificate at their start, and when they are told to.
last=
while sleep 30; do
  now=$(cat ${certificateFiles.certificate})
  if [ "$now" != "$last" ] && timeout 20 ${command}; then last=$now; fi
done
`,
    },
    resources: { cpu: '5m', memory: '16Mi' },
  };
}
