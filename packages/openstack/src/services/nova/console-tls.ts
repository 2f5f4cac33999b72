import { mutualCertificates } from '../../engine/vocabulary/certificate.ts';
import type { Component, Mount } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { GeneratedSecret } from '../../engine/vocabulary/service.ts';
import { authorityKey } from '../../engine/vocabulary/trust.ts';
import type { Layer } from '../../oslo/layers.ts';
import { keepCertificates } from './certificate-files.ts';
import type { Nova } from './kind.ts';

/**
 * Graphical consoles by TLS between the proxies and QEMU, which takes those alone who show a certificate of its authority (VeNCrypt
 * with x509: docs.openstack.org/nova, VNC proxy security). Proxies are able to before hosts do, and as long as guests that were
 * started so may run. Run here: libvirt 11.3.0, QEMU 10.0.13, and the code of Nova 31.0.0, whose proxy does not look at the
 * certificate of the host.
 */
const areAble = ({ tls }: Pick<Nova['spec'], 'tls'>): boolean => tls !== undefined;

/** Whether QEMU shows screens by TLS. */
export const showsByTls = ({ tls }: Pick<Nova['spec'], 'tls'>): boolean => tls?.enabled === true;

const suffix = 'console-tls';
const folder = '/etc/openstack/console';
/** Where QEMU has its certificate: it looks for it where the libvirtd that started it has seen it, whose pod may be gone. */
const qemuFolder = '/run/libvirt/pki/vnc';

/**
 * One certificate for all hosts, one for the proxies, and their authority. It is the operator's own, whoever signs others: QEMU
 * takes anybody with a certificate of it.
 * @param components the agents of each group
 */
export function consoleSecrets(context: Context<Nova>, components: readonly string[]): readonly GeneratedSecret[] {
  if (!areAble(context.spec)) return [];
  return mutualCertificates(context, components).map((secret) => ({ ...secret, suffix }));
}

/** What a proxy shows, and whom it knows: it reads them at each connection. */
export function proxyMounts({ spec, named }: Context<Nova>): NonNullable<Component['mounts']> {
  if (!areAble(spec)) return [];
  return [{ path: folder, secret: named(suffix), keys: [authorityKey, 'client.crt', 'client.key'], follows: true }];
}

/** What nova.conf of a proxy says: guests that were started before show their screen without TLS. */
export function proxyOptions({ spec }: Context<Nova>): Layer {
  if (!areAble(spec)) return {};
  return {
    vnc: {
      auth_schemes: 'vencrypt,none',
      vencrypt_client_key: `${folder}/client.key`,
      vencrypt_client_cert: `${folder}/client.crt`,
      vencrypt_ca_certs: `${folder}/${authorityKey}`,
    },
  };
}

/** The certificate of the hosts, for libvirtd's pod. */
export function hostMounts({ spec, named }: Context<Nova>): readonly Mount[] {
  if (!showsByTls(spec)) return [];
  return [{ path: folder, secret: named(suffix), keys: [authorityKey, 'tls.crt', 'tls.key'], follows: true }];
}

/** qemu.conf: no screen is shown in the clear, and only to who has a certificate of the same authority. */
export const consoleQemu = ({ spec }: Context<Nova>): string =>
  showsByTls(spec)
    ? `vnc_tls = 1
vnc_tls_x509_cert_dir = "${qemuFolder}"
vnc_tls_x509_verify = 1
`
    : '';

/** Guests that run read a renewed certificate when they are told to; those that were started without one have none. */
export const giveConsoleCertificates = `reload_screens() {
  guests=$(timeout 20 virsh -c qemu:///system list --uuid) || return 1
  failed=0
  for guest in $guests; do
    words=$(timeout 20 virsh -c qemu:///system domdisplay-reload "$guest" 2>&1) && continue
    case "$words" in
      *'tls is not enabled'*) ;;
      *) echo "screen of $guest: $words" >&2; failed=1 ;;
    esac
  done
  return "$failed"
}
${keepCertificates({
  folder,
  qemuFolder,
  give: `  give ${authorityKey} ${qemuFolder}/ca-cert.pem 444 || return 1
  give tls.crt ${qemuFolder}/server-cert.pem 444 || return 1
  give tls.key ${qemuFolder}/server-key.pem 440 || return 1
`,
  reload: 'reload_screens',
  // Guests go on while libvirtd is replaced, and those that run may know the certificates before.
  atStart: true,
})}`;
