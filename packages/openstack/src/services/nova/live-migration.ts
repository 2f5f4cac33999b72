import { serverCertificate } from '../../engine/vocabulary/certificate.ts';
import type { Mount } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { GeneratedSecret } from '../../engine/vocabulary/service.ts';
import { authorityKey } from '../../engine/vocabulary/trust.ts';
import type { Layer } from '../../oslo/layers.ts';
import { keepCertificates } from './certificate-files.ts';
import type { Nova } from './kind.ts';

/**
 * Live migration by TLS: the libvirtd of the source connects to that of the target, and QEMU to QEMU for memory and disks
 * (libvirt.org/kbase/live-migration-tls.html; run here before, both with a certificate on each side).
 */
export const migratesLive = ({ liveMigration }: Pick<Nova['spec'], 'liveMigration'>): boolean =>
  liveMigration?.enabled === true;

/** Port of libvirtd for clients with a certificate; QEMU takes memory and disks at 49152 to 49215. */
export const libvirtPort = 16_514;

const suffix = 'migration-tls';
const folder = '/etc/openstack/migration';
/** Where QEMU has its certificates: it looks for them where the libvirtd that started it has seen them, which may be gone. */
const qemuFolder = '/run/libvirt/pki/qemu';

/**
 * One certificate for all hosts, and its authority. Hosts are called by the names that headless Services of their agents
 * give to addresses, which one wildcard covers: a node that joins needs no other certificate.
 * @param components the agents of each group
 */
export function migrationSecret(context: Context<Nova>, components: readonly string[]): GeneratedSecret {
  return { ...serverCertificate(context, components), suffix };
}

/** The certificate, for libvirtd's pod. */
export function migrationMount({ named }: Context<Nova>): Mount {
  return { path: folder, secret: named(suffix), keys: [authorityKey, 'tls.crt', 'tls.key'], follows: true };
}

/** What nova.conf of a hypervisor says of it. */
export const migrationOptions: Layer = {
  libvirt: {
    live_migration_scheme: 'tls',
    live_migration_with_native_tls: true,
    // A guest that writes faster than the network carries is slowed down until it can be moved.
    live_migration_permit_auto_converge: true,
  },
};

/** libvirtd.conf: its certificates are where it looks for them by itself, as virt-admin has it read no others anew. */
export const migrationLibvirtd = `listen_tls = 1
listen_tcp = 0
tls_port = "${libvirtPort}"
auth_tls = "none"
`;

/** qemu.conf: nothing of a guest is sent in the clear, and only who has a certificate of the same authority is served. */
export const migrationQemu = `migrate_tls_x509_cert_dir = "${qemuFolder}"
migrate_tls_x509_verify = 1
default_tls_x509_verify = 1
migrate_tls_force = 1
`;

/** libvirtd reads renewed ones when it is told to, QEMU at each migration. */
export const giveCertificates = keepCertificates({
  folder,
  qemuFolder,
  give: `  give ${authorityKey} /etc/pki/CA/cacert.pem 444 || return 1
  give ${authorityKey} ${qemuFolder}/ca-cert.pem 444 || return 1
  for role in server client; do
    give tls.crt "/etc/pki/libvirt/\${role}cert.pem" 444 || return 1
    give tls.key "/etc/pki/libvirt/private/\${role}key.pem" 400 || return 1
    give tls.crt "${qemuFolder}/$role-cert.pem" 444 || return 1
    give tls.key "${qemuFolder}/$role-key.pem" 440 || return 1
  done
`,
  reload: 'timeout 20 virt-admin -c libvirtd:///system server-update-tls libvirtd',
});

/** How the host is called for a migration to it, by the Service of its group's agents. */
export const ownName = `export OS_LIBVIRT__LIVE_MIGRATION_INBOUND_ADDR="$(echo "$OS_DEFAULT__MY_IP" | tr '.:' '--').$LIBVIRT_SERVICE"
`;
