import type { Component, Mount, NodeAgent } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { GeneratedSecret } from '../../engine/vocabulary/service.ts';
import type { Nova } from './kind.ts';

/**
 * Cold migration: nova-compute copies the disks of a server that is off, or is resized, to another host by ssh and scp, as its
 * own user (nova.virt.libvirt.volume.remotefs; release 2025.1 knows no other way).
 */
export const migratesCold = ({ coldMigration }: Pick<Nova['spec'], 'coldMigration'>): boolean =>
  coldMigration?.enabled === true;

/** Port of the sshd that takes disks: 22 is that of the node's own. */
const port = 8022;

const suffix = 'migration-ssh';
const folder = '/etc/openstack/migration-ssh';
const hostKey = '/etc/openstack/migration-host-key';
const clients = '/etc/openstack/migration-clients';
const configuration = '/etc/openstack/sshd_config';

/** The key that all hosts log in with, and the one by which they know each other: a node that joins needs no others. */
export const sshSecret: GeneratedSecret = {
  suffix,
  values: {
    id: { type: 'sshPrivateKey' },
    'id.pub': { type: 'sshPublicKey', key: 'id', comment: 'nova-compute' },
    host: { type: 'sshPrivateKey' },
    known_hosts: { type: 'sshPublicKey', key: 'host', comment: 'nova-ssh', hosts: '*' },
  },
  secretClass: 'credential',
};

/** The client's keys, for nova-compute's pod: ssh reads them at each connection. */
export function sshMount({ named }: Context<Nova>): Mount {
  return { path: folder, secret: named(suffix), keys: ['id', 'known_hosts'], follows: true };
}

/** How nova-compute's ssh and scp find other hosts. A host that does not answer is given up, and the server stays where it is. */
export const sshClient: ConfigFiles = {
  '/etc/ssh/ssh_config.d/migration.conf': `Host *
  Port ${port}
  User nova
  IdentityFile ${folder}/id
  IdentitiesOnly yes
  UserKnownHostsFile ${folder}/known_hosts
  StrictHostKeyChecking yes
  ConnectTimeout 20
  ServerAliveInterval 20
`,
};

/** What the sshd reads: keys alone log in, as nova, and forward nothing. A host that is emptied connects many times at once. */
export const sshServer: ConfigFiles = {
  [configuration]: `Port ${port}
HostKey ${hostKey}
AuthorizedKeysFile ${clients}/id.pub
AllowUsers nova
StrictModes no
UsePAM no
PidFile none
PasswordAuthentication no
KbdInteractiveAuthentication no
DisableForwarding yes
PermitTTY no
PermitUserRC no
MaxStartups 100
Subsystem sftp internal-sftp
`,
};

/**
 * The sshd of each host: its own pod, which is not privileged and sees nothing of the host but the disks. Its own key is a
 * file that it reads at its start; it is replaced when that is another one.
 */
export function sshAgent({ named }: Context<Nova>, nodeAgent: NodeAgent): Component {
  return {
    workload: 'DaemonSet',
    step: 'AgentsReady',
    image: 'nova-ssh',
    nodeAgent,
    host: { network: true },
    config: 'ssh',
    runs: { script: startSsh },
    health: { connected: 'sshd', to: [] },
    ports: { ssh: port },
    service: 'none',
    env: { HOST_IP: { field: 'status.hostIP' } },
    mounts: [
      { path: '/var/lib/nova', host: 'DirectoryOrCreate' },
      { path: hostKey, secret: named(suffix), key: 'host' },
      { path: clients, secret: named(suffix), keys: ['id.pub'], follows: true },
    ],
    resources: { cpu: '10m', memory: '64Mi' },
  };
}

const startSsh = `# sshd of this node, for disks of servers that come from other nodes. It starts itself anew by its whole path.
exec /usr/sbin/sshd -D -e -f ${configuration} -o "ListenAddress=$HOST_IP"
`;
