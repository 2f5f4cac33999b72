import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeMissing } from './setup.ts';

const fsid = '11111111-2222-3333-4444-555555555555';
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ceph-'));
  writeFileSync(join(directory, 'ceph.client.cinder.keyring'), '[client.cinder]\n\tkey = AQ==\n');
});
afterEach(() => rmSync(directory, { recursive: true }));

function program(name: string, text: string): void {
  writeFileSync(join(directory, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(directory, name), 0o755);
}

/** Runs it where a command that changes something is written down, and `answers` says what others print. */
function run(answers: string, ...asked: readonly string[]) {
  program('timeout', 'shift; exec "$@"');
  const record = (name: string) =>
    `shift 2; case "$*" in ${answers} fsid) echo ${fsid}; exit;; esac; echo "${name} $(printf '<%s>' "$@")" >> "$STATE/calls"`;
  for (const name of ['ceph', 'rbd']) program(name, record(name));
  const script = makeMissing.replaceAll('/etc/ceph', directory);
  const env = { PATH: `${directory}:${process.env['PATH'] ?? ''}`, STATE: directory };
  const before = ['admin', 'ceph-admin', 'bring it', fsid, '10.0.0.1'];
  const { status, stderr } = spawnSync('sh', ['-ec', script, 'sh', ...before, ...asked], { encoding: 'utf8', env });
  const calls = join(directory, 'calls');
  const made = existsSync(calls)
    ? readFileSync(calls, 'utf8').replaceAll(directory, '/etc/ceph').trim().split('\n')
    : [];
  return { status, stderr, made };
}

const cinder = [
  'user',
  'cinder',
  'profile rbd',
  'profile rbd pool=fast, profile rbd-read-only pool=images',
  'profile rbd pool=fast',
];
const has = (...lines: readonly string[]) =>
  `'auth get client.cinder') printf '%s\\n' '[client.cinder]' 'key = AQ==' ${lines.map((line) => `'caps ${line}'`).join(' ')}; exit;;`;

test.each([
  [
    'none',
    has(),
    '<mon><profile rbd><osd><profile rbd pool=fast, profile rbd-read-only pool=images><mgr><profile rbd pool=fast>',
  ],
  [
    'some, written by hand',
    has(
      'mds = "allow r"',
      'mgr = "profile rbd"',
      'osd = "allow rwx pool=fast;profile rbd pool=images ,  allow class-read object_prefix rbd_children"',
    ),
    '<mds><allow r><mgr><profile rbd><osd><allow rwx pool=fast;profile rbd pool=images ,  allow class-read object_prefix rbd_children, profile rbd pool=fast><mon><profile rbd>',
  ],
  ['more', has('mgr = "allow *"', 'mon = "allow *"', 'osd = "allow r, profile rbd"'), undefined],
  [
    'those of a pool of a similar name',
    has(
      'mgr = "profile rbd pool=fast"',
      'mon = "profile rbd"',
      'osd = "profile rbd pool=faster, profile rbd pool=images"',
    ),
    '<mgr><profile rbd pool=fast><mon><profile rbd><osd><profile rbd pool=faster, profile rbd pool=images, profile rbd pool=fast>',
  ],
])('capabilities that a user lacks are added: it has %s', (_has, answers, set) => {
  const { status, stderr, made } = run(answers, ...cinder);
  expect([status, stderr]).toEqual([0, '']);
  expect(made).toEqual(set === undefined ? [] : [`ceph <auth><caps><client.cinder>${set}`]);
});

test('what does not exist is made, a user with the key of its keyring', () => {
  const absent = '*application*|*auth\\ get*|*fs\\ get*) echo "Error ENOENT: none" >&2; exit 2;;';
  const asked = [
    'pool',
    'fast',
    '2',
    'pool',
    'slow',
    '',
    'filesystem',
    'files',
    ...cinder,
    'user',
    'manila',
    'allow r',
    '',
    'allow rw',
  ];
  expect(run(absent, ...asked).made).toEqual([
    'ceph <osd><pool><create><fast><--size=2>',
    'rbd <pool><init><fast>',
    'ceph <osd><pool><create><slow>',
    'rbd <pool><init><slow>',
    'ceph <fs><volume><create><files>',
    'ceph <auth><add><client.cinder><mon><profile rbd><mgr><profile rbd pool=fast><osd><profile rbd pool=fast, profile rbd-read-only pool=images><-i></etc/ceph/ceph.client.cinder.keyring>',
    'ceph <auth><add><client.manila><mon><allow r><mgr><allow rw><-i></etc/ceph/ceph.client.manila.keyring>',
  ]);
});

test('all that could not be made is told at once, and where it is a right that lacks, which', () => {
  const denied = '*application*) echo "Error EACCES: access denied"; exit 13;; *fs\\ get*) exit 124;;';
  const { status, stderr, made } = run(
    denied + has('mon = "allow r"').replace('AQ==', 'AR=='),
    'pool',
    'fast',
    '',
    'filesystem',
    'files',
    ...cinder,
  );
  expect([status, made]).toEqual([1, []]);
  expect(stderr).toBe(
    "client.admin cannot look at pool fast: Error EACCES: access denied (it needs mon 'allow *', osd 'allow *', mgr 'allow *'); client.admin cannot look at filesystem files: no answer within 60 seconds; client.cinder has another key in the cluster than here: bring it\n",
  );
});

test('a cluster other than the one that is expected is not written to', () => {
  const { status, stderr, made } = run('fsid) echo 00000000-2222-3333-4444-555555555555; exit;;', 'pool', 'fast', '');
  expect([status, made]).toEqual([1, []]);
  expect(stderr).toContain(
    `cluster ${fsid} was expected, and 00000000-2222-3333-4444-555555555555 has answered at 10.0.0.1`,
  );
});
