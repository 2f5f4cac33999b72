import type { Data, DataMap } from '../formats/data.ts';
import type { DataPlaneNode, OpenStackDataPlaneSpec } from './kind.ts';

/** Where the Job of the playbook finds what it reads. */
export const directories = {
  ansible: '/etc/openstack/ansible',
  /** What is copied to hosts. */
  files: '/etc/openstack/hosts',
  keys: '/etc/openstack/keys',
  playbook: '/etc/openstack/playbook',
} as const;

/** The Secrets with keys, each once; a host's key is the file of the number of its Secret. */
export function keySecrets({ nodes }: Pick<OpenStackDataPlaneSpec, 'nodes'>): readonly string[] {
  return [...new Set(nodes.map(({ sshSecretName }) => sshSecretName))];
}

/** The hosts of a role. */
export function hostsOf({ nodes }: Pick<OpenStackDataPlaneSpec, 'nodes'>, role: DataPlaneNode['role']) {
  return nodes.filter((node) => node.role === role);
}

/** What is deployed, with what is left out. */
export function servicesOf({ servicesOverride = {} }: Pick<OpenStackDataPlaneSpec, 'servicesOverride'>) {
  const { novaCompute = true, ovnController = true, cephOSD = true, libvirt = true } = servicesOverride;
  return { novaCompute, ovnController, cephOSD, libvirt };
}

/** The inventory: a group for each role, and what playbooks know of the cloud. */
export function inventory(spec: OpenStackDataPlaneSpec, variables: DataMap): Data {
  const secrets = keySecrets(spec);
  const host = ({ ip, sshSecretName, hostname }: DataPlaneNode): DataMap => ({
    ansible_host: ip,
    ansible_ssh_private_key_file: `${directories.keys}/${secrets.indexOf(sshSecretName)}`,
    // By its name, so that neither another port nor another address changes what is looked for.
    ansible_ssh_common_args: [
      `-o HostKeyAlias=${hostname}`,
      '-o StrictHostKeyChecking=yes',
      `-o UserKnownHostsFile=${directories.ansible}/known_hosts`,
      '-o GlobalKnownHostsFile=/dev/null',
      '-o IdentitiesOnly=yes',
      '-o ConnectTimeout=15',
    ].join(' '),
  });
  const group = (role: DataPlaneNode['role']) => ({
    hosts: Object.fromEntries(hostsOf(spec, role).map((node) => [node.hostname, host(node)])),
  });
  return {
    all: {
      children: { compute: group('compute'), storage: group('storage'), networker: group('networker') },
      vars: { ansible_user: 'root', ansible_connection: 'ssh', openstack_files: directories.files, ...variables },
    },
  };
}

/** Keys of hosts, as ssh reads them: nothing else is taken for one of them. */
export function knownHosts({ nodes }: Pick<OpenStackDataPlaneSpec, 'nodes'>): string {
  return nodes.map(({ hostname, hostKey = '' }) => `${hostname} ${hostKey}\n`).join('');
}

/** What is wrong with the hosts that no schema says. */
export function hostProblems({ nodes }: Pick<OpenStackDataPlaneSpec, 'nodes'>): string[] {
  return nodes.flatMap(({ hostname, ip, hostKey }, index) => {
    const at = `spec.nodes[hostname=${hostname}]`;
    const twin = nodes.find((other, before) => before < index && other.ip === ip);
    return [
      ...(twin === undefined ? [] : [`${at}.ip: ${ip} is the address of ${twin.hostname} already`]),
      ...(hostKey === undefined
        ? [
            `${at}.hostKey: without it any machine at ${ip} would be given credentials of the cloud; set what \`ssh-keyscan -t ed25519 ${ip}\` prints after the address, compared with /etc/ssh/ssh_host_ed25519_key.pub of the host`,
          ]
        : []),
    ];
  });
}
