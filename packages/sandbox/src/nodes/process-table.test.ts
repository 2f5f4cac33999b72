import { expect, test } from 'vitest';
import { Host } from '../network/host.ts';
import { ContainerFileSystem } from '../programs/file-system.ts';
import { directoryNode } from '../programs/file-tree.ts';
import { ProcessTable } from './process-table.ts';

const identity = {
  uid: 1000,
  gid: 1000,
  groups: [],
  privileged: false,
  overridesPermissions: false,
  mayHave: () => false,
};

test('/proc shows command lines, parents and the sockets of connections, as long as they are there, and the machine', () => {
  const host = new Host({ address: '10.244.0.12' });
  const table = new ProcessTable(identity, host, { cpu: '2', memory: '8Gi' });
  const proc = { path: '/', node: table.directory, volume: { root: table.directory, used: 0 }, readOnly: true };
  const files = new ContainerFileSystem({ mounts: [proc], identity });
  table.begin(1, 0, ['init']);
  const closed = new AbortController();
  const { opened } = table.begin(2, 1, ['/usr/bin/server', '--port', '5672']);
  expect(files.read('/2/oom_score_adj')).toBe('0\n');
  const inode = host.opened({ address: '10.96.0.7', port: 5672 }, 1000, closed.signal);
  opened(inode, closed.signal);

  expect(files.list('/')).toEqual(['1', '2', 'cpuinfo', 'meminfo', 'net']);
  expect(files.read('/cpuinfo').match(/^processor/gm)).toHaveLength(2);
  expect(files.read('/meminfo')).toBe('MemTotal:        8388608 kB\n');
  expect(files.read('/2/cmdline')).toBe('/usr/bin/server\0--port\x005672\0');
  expect(files.read('/2/stat').split(' ').slice(0, 4)).toEqual(['2', '(server)', 'S', '1']);
  expect(files.readlink('/2/fd/3')).toBe(`socket:[${inode}]`);
  const [, line = ''] = files.read('/net/tcp').split('\n');
  const fields = line.trim().split(/\s+/);
  expect([fields[2], fields[3], fields[7], fields[9]]).toEqual(['0700600A:1628', '01', '1000', String(inode)]);

  closed.abort();
  table.end(1);
  expect(files.list('/')).toEqual(['2', 'cpuinfo', 'meminfo', 'net']);
  expect(files.list('/2/fd')).toEqual([]);
  expect(files.read('/net/tcp').split('\n')).toHaveLength(2);
});

test("in the node's process namespace /proc shows what outlives containers, and keeps what is made there", () => {
  const node = directoryNode();
  const files = (host: string) => {
    const table = new ProcessTable(
      { ...identity, uid: 0, overridesPermissions: true },
      new Host({ address: host }),
      { cpu: '1', memory: '1Gi' },
      node,
    );
    table.begin(1, 0, ['/usr/sbin/libvirtd']);
    const proc = { path: '/', node: table.directory, volume: { root: table.directory, used: 0 }, readOnly: false };
    return new ContainerFileSystem({ mounts: [proc], identity: { ...identity, uid: 0, overridesPermissions: true } });
  };
  const first = files('10.0.0.1');
  first.mkdir('/77');
  first.write('/77/comm', 'qemu-system-x86\n');
  const second = files('10.0.0.2');
  expect(second.list('/')).toEqual(['1', '77', 'cpuinfo', 'meminfo', 'net']);
  expect([second.read('/1/comm'), second.read('/77/comm')]).toEqual(['libvirtd\n', 'qemu-system-x86\n']);
  second.remove('/77/comm');
  second.remove('/77');
  expect(first.list('/')).toEqual(['1', 'cpuinfo', 'meminfo', 'net']);
});
