import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tryAll } from './scripts.ts';

const fsid = '11111111-2222-3333-4444-555555555555';
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ceph-'));
  // What a pool has are files. A slow cluster does what it is asked, but its answer is awaited for too long.
  program('timeout', 'shift; "$@"; code=$?; [ ! -e "$STATE/slow" ] || [ "$1" = ceph ] || exit 124; exit $code');
  program(
    'rados',
    `file="$STATE/object-$6"
case $5 in
  create) [ ! -e "$file" ] || { echo "error creating volumes/$6: (17) File exists"; exit 1; }; : > "$file" ;;
  rm) [ ! -e "$STATE/slow" ] || exit 0; rm "$file" ;;
esac`,
  );
  program('ceph', `case $3 in health) echo HEALTH_OK ;; fsid) echo ${fsid} ;; esac`);
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function program(name: string, text: string): void {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

function run(...more: readonly string[]) {
  const script = tryAll('spec.external.monitorHosts', true).replace('/dev/termination-log', join(directory, 'said'));
  const env = { PATH: `${directory}:${process.env['PATH'] ?? ''}`, STATE: directory };
  return spawnSync('sh', ['-ec', script, 'sh', ...more], { encoding: 'utf8', env });
}

const said = () => readFileSync(join(directory, 'said'), 'utf8').trimStart();
const left = () => readdirSync(directory).filter((name) => name.startsWith('object-'));
const trial = (expected = '') => ['probe', expected, '10.0.0.1', 'cinder', 'volumes', 'write'];

test('what a slow cluster has made after all is removed by the next run', () => {
  writeFileSync(join(directory, 'slow'), '');
  const slow = run(...trial());
  expect(slow.status).toBe(1);
  expect(slow.stderr).toContain('client.cinder cannot write in pool volumes: no answer within 15 seconds');
  expect(left()).toEqual(['object-probe']);
  rmSync(join(directory, 'slow'));
  expect(run(...trial())).toMatchObject({ status: 0, stderr: '' });
  expect(left()).toEqual([]);
});

test('the cluster that has answered is said, and another one than is expected is not written to', () => {
  expect(run(...trial(fsid)).status).toBe(0);
  expect(said()).toBe(`HEALTH_OK\ncluster ${fsid} at 10.0.0.1`);
  program('rados', 'touch "$STATE/object-any"');
  const other = run(...trial('00000000-0000-0000-0000-000000000000'));
  expect(other.status).toBe(1);
  expect(other.stderr).toContain(`cluster 00000000-0000-0000-0000-000000000000 was expected, and ${fsid} has answered`);
  expect(left()).toEqual([]);
});

test('monitors that do not answer are told at once; what is wrong with the cluster is told with its details', () => {
  program('timeout', 'exit 124');
  expect(run(...trial()).stderr).toBe(
    'the monitors at 10.0.0.1 give client.cinder no answer within 15 seconds: nothing was tried\n',
  );
  program('timeout', 'shift; "$@"');
  program('rados', 'exit 1');
  const detail = `[WRN] POOL_FULL: 1 pool(s) full\n    pool 'volumes' is full (running out of quota)`;
  program('ceph', `[ "$3" != health ] || cat <<'END'\nHEALTH_WARN 1 pool(s) full\n${detail}\nEND`);
  expect(run(...trial()).stderr).toMatch(
    /; the cluster says HEALTH_WARN 1 pool\(s\) full; pool 'volumes' is full \(running out of quota\)\n$/,
  );
});

/** What Ceph 18.2 prints, with a class of devices and fields that are not asked for. */
const df = `
{
    "stats": {
        "total_bytes": 1000,
        "total_avail_bytes": 900,
        "total_used_bytes": 90,
        "total_used_raw_bytes": 100,
        "total_used_raw_ratio": 0.1
    },
    "stats_by_class": {
        "hdd": {
            "total_bytes": 1,
            "total_avail_bytes": 1,
            "total_used_raw_bytes": 1
        }
    },
    "pools": [${['volumes', 'other', 'data', 'more']
      .map(
        (name, index) => `
        {
            "name": "${name}",
            "id": ${index},
            "stats": {
                "stored": 1${index},
                "objects": 0,
                "kb_used": 7,
                "bytes_used": 2${index},
                "percent_used": 0.25,
                "max_avail": 3${index}
            }
        }`,
      )
      .join(',')}
    ]
}`;

test('room is told in all, in the pools that are tried, and where the filesystems keep data, of a failed run as well', () => {
  program(
    'ceph',
    `case "$*" in
  *health*) echo HEALTH_OK ;;
  *fsid) echo ${fsid} ;;
  *'cinder df --format json-pretty') cat << 'END'
${df}
END
    ;;
  *'manila fs ls') printf 'name: %s, metadata pool: meta, data pools: [%s ]\\n' files 'data more' rest other ;;
esac`,
  );
  const facts = `{"fileSystem":"files","pools":"data more"}
{"pool":"volumes","stored":10,"used":20,"available":30}
{"pool":"data","stored":12,"used":22,"available":32}
{"pool":"more","stored":13,"used":23,"available":33}
{"total":1000,"used":100,"available":900}
HEALTH_OK
`;
  const all = [...trial(), 'manila', 'files', 'share'];
  expect(run(...all)).toMatchObject({ status: 0, stderr: '' });
  expect(said()).toBe(`${facts}cluster ${fsid} at 10.0.0.1`);
  program('rados', 'exit 1');
  const { status, stderr } = run(...all);
  expect(status).toBe(1);
  expect(said()).toBe(`${facts}${stderr.trimEnd()}`);
});

test('of very many pools the first ones are told', () => {
  const pools = Array.from({ length: 100 }, (_, index) => `volumes-${index}`);
  const one = (name: string) =>
    `"name": "${name}",\n"stored": 1099511627776,\n"bytes_used": 1099511627776,\n"max_avail": 1099511627776`;
  program('ceph', `case "$*" in *df*) cat << 'END'\n"total_bytes": 1,\n${pools.map(one).join('\n')}\nEND\n;; esac`);
  const trials = pools.flatMap((name) => ['cinder', name, 'write']);
  expect(run('probe', '', '10.0.0.1', ...trials).status).toBe(0);
  const lines = said().split('\n');
  expect(lines.filter((line) => line.includes('"pool"')).length).toBeGreaterThan(20);
  expect(said().length).toBeLessThan(3000);
  expect(lines.some((line) => line.includes('"total"'))).toBe(true);
});

test('what a gateway has to be able to do: to make a pool of its own, and to write there', () => {
  const gateway = ['probe', '', '10.0.0.1', 'swift', '.rgw.root', 'serve'];
  program(
    'ceph',
    `[ "$3" = osd ] || exit 0
case $*:$(cat "$STATE/asked" 2> /dev/null) in
  *' get .rgw.root:'*enable*) printf '{\n    "rgw": {}\n}\n' ;;
  *) echo "$*" >> "$STATE/asked" ;;
esac`,
  );
  // Each time that it is enabled is another map of the cluster.
  for (const _ of [1, 2]) expect(run(...gateway)).toMatchObject({ status: 0, stderr: '' });
  const create = '--id swift osd pool create .rgw.root --yes-i-really-mean-it';
  const get = '--id swift osd pool application get .rgw.root';
  expect(readFileSync(join(directory, 'asked'), 'utf8').trimEnd().split('\n')).toEqual([
    create,
    get,
    '--id swift osd pool application enable .rgw.root rgw',
    create,
  ]);
  expect(left()).toEqual([]);
  program('ceph', `[ "$3" != osd ] || { echo 'Error EACCES: access denied' >&2; exit 13; }`);
  expect(run(...gateway).stderr).toBe(
    "client.swift cannot serve objects from pool .rgw.root: Error EACCES: access denied (it needs mon 'allow rw', osd 'allow rwx')\n",
  );
});

test('of a cluster whose devices hang the health is told, and it is left in time', () => {
  writeFileSync(join(directory, 'slow'), '');
  program('ceph', `case $3 in health) echo 'a warning of the client' >&2; echo HEALTH_WARN slow ops ;; esac`);
  const trials = Array.from({ length: 9 }, (_, index) => ['cinder', `volumes-${index}`, 'write']).flat();
  const { status, stderr } = run('probe', '', '10.0.0.1', ...trials);
  expect(status).toBe(1);
  expect(stderr.match(/no answer within 15 seconds/g)).toHaveLength(5);
  expect(stderr).toContain('; nothing else was tried; the cluster says HEALTH_WARN slow ops');
  expect(said().split('\n')[0]).toBe('HEALTH_WARN slow ops');
});
