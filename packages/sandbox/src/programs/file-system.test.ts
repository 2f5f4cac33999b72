import { expect, test } from 'vitest';
import { type ProjectedFile, writeProjectedFiles } from '../nodes/projected-files.ts';
import { ContainerFileSystem, type Identity } from './file-system.ts';
import { applyFsGroup, directoryNode, emptyVolume, fileNode, plant, type Volume } from './file-tree.ts';
import type { Mount } from './mount.ts';

const mayHave = () => false;
const root: Identity = { uid: 0, gid: 0, groups: [], privileged: false, overridesPermissions: true, mayHave };
const nova: Identity = { uid: 42436, gid: 42436, groups: [], privileged: false, overridesPermissions: false, mayHave };

function mount(path: string, volume: Volume, readOnly = false): Mount {
  return { path, node: volume.root, volume, readOnly };
}

function files(options: { identity?: Identity; mounts?: Mount[]; readOnly?: boolean } = {}): ContainerFileSystem {
  const disk = directoryNode();
  plant(disk, '/etc/passwd', fileNode('root:x:0:0'));
  plant(disk, '/tmp/.keep', fileNode(''));
  plant(disk, '/var/run', { type: 'link', target: '/run', mode: 0o777, uid: 0, gid: 0 });
  plant(disk, '/run/.keep', fileNode(''));
  const tmp = disk.children.get('tmp');
  if (tmp) tmp.mode = 0o1777;
  const base = { path: '/', node: disk, volume: { root: disk, used: 0 }, readOnly: options.readOnly === true };
  return new ContainerFileSystem({ mounts: [base, ...(options.mounts ?? [])], identity: options.identity ?? root });
}

const code = (expected: string) => expect.objectContaining({ code: expected });

function failure(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test('files are written, appended to, listed, renamed and removed', () => {
  const disk = files();
  disk.mkdir('/data');
  disk.write('/data/a', 'one');
  disk.write('/data/a', '+two', { append: true });
  disk.rename('/data/a', '/data/b');
  disk.symlink('b', '/data/c');
  expect(disk.read('/data/c')).toBe('one+two');
  expect(disk.list('/data')).toEqual(['b', 'c']);
  expect(failure(() => disk.remove('/data'))).toEqual(code('ENOTEMPTY'));
  disk.remove('/data/c');
  disk.remove('/data/b');
  disk.remove('/data');
  expect(disk.exists('/data')).toBe(false);
});

test('extended attributes of a file have a block on ext4, and 64 KiB each on others', () => {
  const small = emptyVolume();
  const disk = files({ mounts: [mount('/xfs', emptyVolume()), mount('/ext4', { ...small, fileSystem: 'ext4' })] });
  for (const folder of ['/xfs', '/ext4']) disk.write(`${folder}/a`, '');
  expect([disk.fileSystem('/xfs/a'), disk.fileSystem('/ext4')]).toEqual(['xfs', 'ext4']);
  disk.setAttribute('/ext4/a', 'user.one', 'x'.repeat(3000));
  expect(failure(() => disk.setAttribute('/ext4/a', 'user.two', 'x'.repeat(3000)))).toEqual(code('ENOSPC'));
  disk.setAttribute('/ext4/a', 'user.one', 'x');
  disk.setAttribute('/ext4/a', 'user.two', 'x'.repeat(3000));
  disk.setAttribute('/xfs/a', 'user.one', 'x'.repeat(60_000));
  expect(failure(() => disk.setAttribute('/xfs/a', 'user.two', 'x'.repeat(70_000)))).toEqual(code('ENOSPC'));
  expect(failure(() => disk.setAttribute('/xfs/b', 'user.one', ''))).toEqual(code('ENOENT'));
});

test('errors carry the code of the system call and the path', () => {
  const disk = files();
  expect(failure(() => disk.read('/nope'))).toMatchObject({
    code: 'ENOENT',
    message: "No such file or directory: '/nope'",
  });
  expect(failure(() => disk.read('/etc'))).toEqual(code('EISDIR'));
  expect(failure(() => disk.list('/etc/passwd'))).toEqual(code('ENOTDIR'));
  expect(failure(() => disk.write('/no/such/dir', 'x'))).toEqual(code('ENOENT'));
  expect(failure(() => disk.mkdir('/etc'))).toEqual(code('EEXIST'));
  disk.symlink('/loop', '/loop');
  expect(failure(() => disk.read('/loop'))).toEqual(code('ELOOP'));
});

test('permission bits hold a service user back, but not root', () => {
  const volume = emptyVolume({ ownership: { mode: 0o755 } });
  plant(volume.root, '/secret', fileNode('x', { mode: 0o400 }));
  const asNova = files({ identity: nova, mounts: [mount('/v', volume)] });
  expect(failure(() => asNova.read('/v/secret'))).toEqual(code('EACCES'));
  expect(failure(() => asNova.write('/v/new', 'x'))).toEqual(code('EACCES'));
  expect(failure(() => asNova.chmod('/v/secret', 0o777))).toEqual(code('EPERM'));
  expect(files({ mounts: [mount('/v', volume)] }).read('/v/secret')).toBe('x');
});

test('the fsGroup opens a volume to its pod', () => {
  const volume = emptyVolume({ ownership: { mode: 0o755 } });
  plant(volume.root, '/old', fileNode('x', { mode: 0o600 }));
  applyFsGroup(volume.root, 42436, false);
  const disk = files({ identity: { ...nova, gid: 1, groups: [42436] }, mounts: [mount('/v', volume)] });
  expect(disk.read('/v/old')).toBe('x');
  disk.mkdir('/v/sub');
  disk.write('/v/sub/file', 'y');
  // The setgid bit hands the group down.
  expect(disk.stat('/v/sub/file')).toMatchObject({ gid: 42436, uid: 42436, mode: 0o644 });
});

test('everybody may write to /tmp, but remove only what is his own', () => {
  const disk = files({ identity: nova });
  disk.write('/tmp/mine', 'x');
  disk.remove('/tmp/mine');
  expect(failure(() => disk.remove('/tmp/.keep'))).toEqual(code('EPERM'));
});

test('a read-only root file system leaves volumes writable', () => {
  const disk = files({ readOnly: true, mounts: [mount('/var/lib/nova', emptyVolume({ ownership: { mode: 0o777 } }))] });
  expect(failure(() => disk.write('/etc/new', 'x'))).toEqual(code('EROFS'));
  expect(failure(() => disk.remove('/etc/passwd'))).toEqual(code('EROFS'));
  disk.write('/var/lib/nova/x', 'y');
  expect(disk.read('/var/lib/nova/x')).toBe('y');
});

test('a full volume is ENOSPC; what is removed makes room', () => {
  const volume = emptyVolume({ capacity: 10, ownership: { mode: 0o777 } });
  const disk = files({ mounts: [mount('/v', volume)] });
  disk.write('/v/a', '12345678');
  expect(failure(() => disk.write('/v/b', '123'))).toEqual(code('ENOSPC'));
  disk.remove('/v/a');
  disk.write('/v/b', '123');
  expect(failure(() => disk.attach('/v/db', () => ({}), { bytes: 8 }))).toEqual(code('ENOSPC'));
});

test('a live structure stays with its volume', () => {
  const volume = emptyVolume({ ownership: { mode: 0o777 } });
  const rows = files({ mounts: [mount('/v', volume)] }).attach<{ rows: number }>('/v/db', () => ({ rows: 0 }));
  rows.rows = 7;
  const again = files({ mounts: [mount('/elsewhere', volume)] });
  expect(again.attach<{ rows: number }>('/elsewhere/db', () => ({ rows: 0 })).rows).toBe(7);
});

test('a ConfigMap looks as the kubelet makes it, and its files are reached through links', () => {
  const volume = emptyVolume();
  const content = new Map<string, ProjectedFile>([
    ['nova.conf', { content: '[DEFAULT]', mode: 0o644 }],
    ['sub/x', { content: 'y', mode: 0o600 }],
  ]);
  writeProjectedFiles(volume.root, content, '2026_01_02_03_04_05.1', undefined);
  const disk = files({ mounts: [mount('/etc/nova', volume, true)] });
  expect(disk.list('/etc/nova')).toEqual(['..2026_01_02_03_04_05.1', '..data', 'nova.conf', 'sub']);
  expect(disk.read('/etc/nova/nova.conf')).toBe('[DEFAULT]');
  expect(disk.stat('/etc/nova/sub/x')).toMatchObject({ type: 'file', mode: 0o600 });
  expect(failure(() => disk.write('/etc/nova/nova.conf', 'x'))).toEqual(code('EROFS'));
});

test('mounts follow links, and cannot be removed', () => {
  const volume = emptyVolume({ ownership: { mode: 0o777 } });
  const disk = files({ mounts: [mount('/var/run/nova', volume)] });
  disk.write('/run/nova/pid', '1');
  expect(disk.read('/var/run/nova/pid')).toBe('1');
  expect(failure(() => disk.remove('/run/nova'))).toEqual(code('EBUSY'));
  expect(failure(() => disk.rename('/run/nova/pid', '/run/pid'))).toEqual(code('EXDEV'));
});

test('devices open for privileged containers only', () => {
  const volume = emptyVolume();
  plant(volume.root, '/kvm', { ...fileNode(''), device: true });
  expect(failure(() => files({ mounts: [mount('/dev', volume)] }).read('/dev/kvm'))).toEqual(code('EPERM'));
  expect(files({ identity: { ...root, privileged: true }, mounts: [mount('/dev', volume)] }).read('/dev/kvm')).toBe('');
});

test('what is mounted on the node below a path of it is a file system of its own, and goes when it is unmounted', () => {
  const [disk, sdb] = [emptyVolume(), { ...emptyVolume({ capacity: 8 }), fileSystem: 'ext4' }];
  plant(disk.root, '/srv/node/sdb/.keep', fileNode(''));
  const mounts = new Map([['/srv/node/sdb', sdb]]);
  const node = disk.root.children.get('srv') as typeof disk.root;
  const below = { from: '/srv', mounts };
  const container = files({ mounts: [{ path: '/data', node, volume: disk, readOnly: false, below }] });
  const path = '/data/node/sdb';
  expect([container.isMountPoint(path), container.fileSystem(path), container.list(path)]).toEqual([true, 'ext4', []]);
  expect([container.isMountPoint('/data'), container.isMountPoint('/data/node')]).toEqual([true, false]);
  container.write(`${path}/a`, '12345678');
  container.rename(`${path}/a`, `${path}/b`);
  expect(failure(() => container.write(`${path}/c`, '9'))).toEqual(code('ENOSPC'));
  expect(failure(() => container.rename(`${path}/b`, '/data/node/b'))).toEqual(code('EXDEV'));
  expect(failure(() => container.remove(path))).toEqual(code('EBUSY'));
  mounts.clear();
  expect([container.isMountPoint(path), container.list(path)]).toEqual([false, ['.keep']]);
});
