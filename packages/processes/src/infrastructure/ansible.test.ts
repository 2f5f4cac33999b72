import { expect, test } from 'vitest';
import { World } from '../testing/world.ts';
import { ansiblePlaybook, type OutsideHost, sshServer } from './ansible.ts';

const privateKey = '-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----\n';
const playbook = `
- hosts: compute
  tasks:
    - name: a file
      ansible.builtin.copy: { src: /files/a, dest: /etc/a }
    - name: left out
      when: openstack_services.libvirt
      block:
        - name: never
          ansible.builtin.apt: { name: a }
`;

/** Runs a playbook on one host, beside others that nobody answers for. */
async function run(files: Readonly<Record<string, string>> = {}) {
  const world = new World();
  const host: OutsideHost = {
    hostKey: 'ssh-ed25519 AAAA',
    authorized: [privateKey],
    files: new Map(),
    tasks: new Set(),
  };
  const outside = world.container({
    host: 'compute-1',
    programs: {
      sshd: async ({ network, signal }) => {
        network.listen(22, 'ssh', () => sshServer(host));
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return 0;
      },
    },
  });
  outside.start(['sshd']);
  const inventory = (address: string) =>
    JSON.stringify({
      all: {
        vars: { openstack_services: { libvirt: false } },
        children: {
          compute: {
            hosts: {
              one: {
                ansible_host: address,
                ansible_ssh_private_key_file: '/keys/0',
                ansible_ssh_common_args: '-o HostKeyAlias=one -o UserKnownHostsFile=/known_hosts',
              },
            },
          },
        },
      },
    });
  const controller = world.container({
    host: 'job',
    programs: { 'ansible-playbook': ansiblePlaybook },
    env: { ANSIBLE_LOG_PATH: '/tmp/ansible.log' },
    files: {
      '/inventory': inventory(files['address'] ?? 'compute-1'),
      '/vars': '{}',
      '/playbook': playbook,
      '/keys/0': privateKey,
      '/known_hosts': 'one ssh-ed25519 AAAA\n',
      '/files/a': 'content',
      ...files,
    },
  });
  const words = ['ansible-playbook', '--inventory', '/inventory', '--extra-vars', '@/vars', '/playbook'];
  const running = controller.start(words);
  await world.clock.run(() => running.status() !== undefined);
  return { status: running.status(), output: running.output(), host };
}

test('a host gets what a playbook copies, and the log has a recap of it', async () => {
  const { status, output, host } = await run();
  expect(status).toBe(0);
  expect(host.files.get('/etc/a')).toBe('content');
  expect([...host.tasks]).toEqual(['a file']);
  expect(output).toMatch(/one +: ok=1 .*unreachable=0 .*failed=0 /u);
});

test.each([
  [
    'nobody answers',
    { address: '192.0.2.9' },
    4,
    'UNREACHABLE! => {"changed": false, "msg": "Task failed: Failed to connect',
  ],
  ['the key is none', { '/keys/0': 'x' }, 4, 'Permission denied (publickey,password).'],
  ['another key', { '/keys/0': privateKey.replace('x', 'y') }, 4, 'Permission denied (publickey,password).'],
  ['the host is another one', { '/known_hosts': 'one ssh-ed25519 BBBB\n' }, 4, 'Host key verification failed.'],
  [
    'an unknown module',
    { '/playbook': playbook.replace('builtin.copy', 'builtin.shell') },
    2,
    'does not know the module',
  ],
] as const)('%s', async (_what, files, status, words) => {
  const result = await run(files);
  expect(result).toMatchObject({ status, output: expect.stringContaining(words) as string });
  expect(result.host.files.size).toBe(0);
});
