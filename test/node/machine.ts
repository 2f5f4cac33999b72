import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { instance } from './node.ts';

/** Everything of the machine that a node could leave something in, as lines. */
export type Machine = Readonly<Record<string, readonly string[]>>;

const lines = (program: string, ...argv: string[]) =>
  execFileSync(program, argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    .trimEnd()
    .split('\n');

/** Other nodes may come and go meanwhile. */
const others = `(?!${instance})[0-9]`;
const ofOthers = new RegExp(`osnode${others}|openstack-operator-node${others}`);
/** Counters, and what changes by itself. */
const restless =
  /^(fs\.(dentry-state|file-nr|inode|epoll|quota|aio-nr)|kernel\.(random|ns_last_pid|pty\.nr|tainted|perf_event_max_sample_rate|sched)|net\.netfilter\.nf_conntrack_count|net\.ipv4\.tcp_challenge|vm\.stat|dev\.)/;

function cgroups(): string[] {
  const found: string[] = [];
  const walk = (directory: string) => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const path = `${directory}/${entry.name}`;
      if (/openstack-operator-node|kubepods/.test(path)) found.push(path);
      walk(path);
    }
  };
  walk('/sys/fs/cgroup');
  return found;
}

/** Command lines that name the directory, and the processes of our cgroup. A zombie only waits for its parent. */
function processes(directory: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const ours =
          command.includes(directory) ||
          readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(`openstack-operator-node${instance}`);
        const zombie = /^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
        return ours && !zombie ? [`${pid} ${command}`] : [];
      } catch {
        return []; // it ended meanwhile
      }
    });
}

/** What the machine is now. Of a node that is to come, `directory` is where. */
export function look(directory: string): Machine {
  const all: Machine = {
    mounts: readFileSync('/proc/self/mounts', 'utf8').trimEnd().split('\n'),
    links: lines('ip', '-brief', 'link').map((line) => line.split(' ')[0] ?? ''),
    addresses: lines('ip', '-brief', 'address').map((line) => line.replaceAll(/\s+/g, ' ').trim()),
    routes: lines('ip', 'route', 'show', 'table', 'all'),
    firewall: ['iptables-save', 'ip6tables-save']
      .flatMap((program) => lines(program))
      .filter((line) => !line.startsWith('#')),
    sysctls: lines('sysctl', '--all').filter((line) => !restless.test(line)),
    files: ['/run', '/etc', '/var/lib', '/var/log', '/opt', '/dev', '/dev/shm', '/usr/libexec'].flatMap((place) =>
      readdirSync(place)
        .map((name) => `${place}/${name}`)
        // libmount makes it for the first program of a machine that mounts.
        .filter((path) => path !== '/run/mount'),
    ),
    cgroups: cgroups(),
    processes: processes(directory),
  };
  return Object.fromEntries(
    Object.entries(all).map(([name, found]) => [name, found.filter((line) => !ofOthers.test(line)).sort()]),
  );
}
