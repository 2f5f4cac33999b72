import { emptyVolume } from '@openstack-operator/sandbox/files';
import { describe, expect, it } from 'vitest';
import { baseCommands } from '../shell/system-commands.ts';
import { type ContainerOptions, World } from '../testing/world.ts';
import { libvirtPrograms } from './libvirt.ts';

const programs = { ...baseCommands, ...libvirtPrograms };

/** The start script of the laboratory's pod that lets guests outlive it. */
const script = `for d in /host/cgroup/*/; do
  [ -f $d/cgroup.procs ] || continue
  g=$d/kk/guests; mkdir -p $g
  for f in cpuset.cpus cpuset.mems; do [ -f $d/$f ] && { cat $d/$f > $d/kk/$f; cat $d/$f > $g/$f; }; done
  echo 0 > $g/cgroup.procs || exit 1
done
grep -q kubepods /proc/self/cgroup && { cat /proc/self/cgroup; exit 1; }
mkdir -p /var/lib/libvirt/qemu /run/libvirt/qemu; rm -f /run/libvirtd.pid
exec libvirtd`;

async function host(options: Partial<ContainerOptions> = {}, start = script) {
  const world = new World();
  const run = emptyVolume();
  const files = {
    '/etc/libvirt/libvirtd.conf': 'listen_tls = 0\nauth_unix_rw = "none"\nunix_sock_rw_perms = "0777"\n',
    '/etc/libvirt/qemu.conf': 'user = "root"\nnamespaces = []\nstdio_handler = "file"\n',
    '/etc/passwd': 'root:x:0:0:root:/root:/bin/bash\n',
    '/host/cgroup/memory/cgroup.procs': '1\n',
  };
  const container = world.container({
    host: 'node1',
    programs,
    privileged: true,
    volumes: { '/run/libvirt': run },
    ...options,
    files: { ...files, ...options.files },
  });
  const daemon = container.start(['bash', '-c', start]);
  await world.clock.advance(2000);
  return { world, container, daemon, run };
}

describe('libvirtd', () => {
  it('starts from the script that moves it out of the pod, and answers virsh', async () => {
    const { container, daemon } = await host();
    expect(daemon.status()).toBeUndefined();
    const { status, output } = await container.run(['virsh', '-c', 'qemu:///system', 'version']);
    expect(status).toBe(0);
    expect(output).toContain('Running hypervisor: QEMU');
    expect(container.files.read('/host/cgroup/memory/kk/guests/cgroup.procs')).toBe('0\n');
    expect(await daemon.stop()).toBe(0);
  });

  it.each<[string, Partial<ContainerOptions>, string]>([
    [
      'a container that is not privileged',
      { privileged: false },
      "Failed to open pid file '/run/libvirtd.pid': Permission denied",
    ],
    [
      'a broken libvirtd.conf',
      { files: { '/etc/libvirt/libvirtd.conf': 'unix_sock_rw_perms = 0777 x\n' } },
      'configuration file syntax error',
    ],
    [
      'permissions that are no number',
      { files: { '/etc/libvirt/libvirtd.conf': 'unix_sock_rw_perms = "0770x"\n' } },
      "Failed to parse mode '0770x'",
    ],
    [
      'a way to log in that does not exist',
      { files: { '/etc/libvirt/libvirtd.conf': 'auth_unix_rw = "nobody"\n' } },
      'unsupported auth nobody',
    ],
    [
      'an identity that is none',
      { files: { '/etc/libvirt/libvirtd.conf': 'host_uuid = "openstack"\n' } },
      'invalid UUID: openstack',
    ],
    ['an unknown setting', { files: { '/etc/libvirt/libvirtd.conf': 'nosuch = 1\n' } }, 'unknown setting nosuch'],
    [
      'a process that is still in the pod',
      { files: { '/proc/self/cgroup': '4:memory:/kubepods/pod1\n' } },
      '/kubepods/pod1',
    ],
  ])('does not start in/with %s', async (_name, options, words) => {
    const { daemon } = await host(options);
    expect(daemon.output()).toContain(words);
    expect(daemon.status()).not.toBe(0);
    expect(daemon.status()).toBeDefined();
  });

  it('gives its socket to the group that the configuration names', async () => {
    const conf = 'unix_sock_group = "nova"\nunix_sock_rw_perms = "0770"\nauth_unix_rw = "none"\n';
    const { container, world, run } = await host({
      files: { '/etc/libvirt/libvirtd.conf': conf, '/etc/group': 'nova:x:42436:\n' },
    });
    expect(container.files.stat('/run/libvirt/libvirt-sock')).toMatchObject({
      type: 'socket',
      mode: 0o770,
      gid: 42_436,
    });
    const as = (uid: number) =>
      world.container({ host: 'node1', programs, uid, volumes: { '/run/libvirt': run } }).run(['virsh', 'version']);
    expect((await as(42_436)).status).toBe(0);
    expect((await as(42_435)).output).toContain('Permission denied');
  });

  it.each([
    ['user = "nobody-knows"\n', "Failed to parse user 'nobody-knows'"],
    ['stdio_handler = "pipe"\n', 'Unknown stdio handler pipe'],
  ])('ends when its driver cannot start with %s', async (conf, words) => {
    const { daemon } = await host({ files: { '/etc/libvirt/qemu.conf': conf } });
    expect(daemon.status()).toBe(0);
    expect(daemon.output()).toContain(words);
  });

  it('asks for polkit unless it is told not to, but never root', async () => {
    const conf = 'unix_sock_group = "nova"\nunix_sock_rw_perms = "0770"\n';
    const { container, world, run } = await host({
      files: { '/etc/libvirt/libvirtd.conf': conf, '/etc/group': 'nova:x:42436:\n' },
    });
    const user = world.container({ host: 'node1', programs, uid: 42_436, volumes: { '/run/libvirt': run } });
    expect((await user.run(['virsh', 'version'])).output).toContain('authentication unavailable: no polkit agent');
    expect((await container.run(['virsh', 'version'])).status).toBe(0);
  });

  it('is missed by virsh in the real words', async () => {
    const container = new World().container({ host: 'c', programs });
    const { status, output } = await container.run(['virsh', 'version']);
    expect(status).toBe(1);
    expect(output).toBe(
      "error: failed to connect to the hypervisor\nerror: Failed to connect socket to '/var/run/libvirt/libvirt-sock': No such file or directory\n",
    );
  });
});
