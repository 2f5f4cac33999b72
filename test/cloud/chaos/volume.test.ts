import { afterAll, beforeAll, expect, test } from 'vitest';
import { program } from '../kubernetes.ts';
import { inNode } from '../node.ts';
import { deletePod, podOf, pods } from '../pods.ts';
import { until } from '../until.ts';
import { chaos } from './cloud.ts';
import { type Chaos, printRecoveries, recovers } from './recovery.ts';

const database = 'app.kubernetes.io/name=mariadb';
const kind = 'mariadbs.openstack.k8s.io';
/** Where the volume is kept while a small one stands in its place. */
const aside = '/run/chaos-volume';

let cloud: Chaos;
let directory: string;
beforeAll(async () => {
  cloud = await chaos();
  directory = await program('kubectl', 'get', 'pv', '-o', `jsonpath=${path}`);
}, 900_000);
afterAll(printRecoveries);

/** Directory of the node that is the volume. */
const path = '{.items[?(@.spec.claimRef.name=="data-my-cloud-mariadb-0")].spec.local.path}';

/** Takes the server down while something is done to its volume; the operator is told to look away. */
async function whileDown(work: () => Promise<unknown>): Promise<void> {
  const pause = (value: string) =>
    program('kubectl', 'annotate', kind, '--all-namespaces', '--all', '--overwrite', `openstack.k8s.io/paused${value}`);
  const scale = (replicas: number) =>
    program('kubectl', 'scale', 'statefulset', '-n', 'openstack', '-l', database, `--replicas=${replicas}`);
  await pause('=true');
  await scale(0);
  await until({
    what: 'the database server to be gone',
    seconds: 300,
    probe: async () => ((await pods(database)).length === 0 ? true : undefined),
  });
  try {
    await work();
  } finally {
    await scale(1);
    await pause('-');
  }
}

/** A file system of its own with the same data and some room, which a node's own disk cannot be made to be. */
const shrink = `set -e
# What is mounted on a directory appears wherever the directory is bound as well, and goes with it: the kubelet lets go of
# the volume a moment after its pod is gone.
until ! grep -q "/volumes/$(basename "$1") " /proc/self/mountinfo; do sleep 1; done
mkdir -p "$2"
mount --bind "$1" "$2"
# What is mounted over the one is not to appear over the other.
mount --make-private "$2"
size=$(du -sm "$2" | cut -f 1)
mount -t tmpfs -o "mode=0777,size=$((size + 64))m" tmpfs "$1"
cp -a "$2/." "$1/"
chown --reference="$2" "$1"
chmod --reference="$2" "$1"`;
const grow = `set -e
mountpoint -q "$1"
rm -f "$1/chaos"
find "$2" -mindepth 1 -delete
cp -a "$1/." "$2/"
umount "$1"
umount "$2"`;
const fill = `set -e
mountpoint -q "$1"
dd if=/dev/zero of="$1/chaos" bs=1M 2> /dev/null || true
dd if=/dev/zero of="$1/chaos" bs=1 oflag=append conv=notrunc count=4096 2> /dev/null || true
df --output=avail "$1" | tail -n 1`;

test('a full volume of the database is named by the condition; it goes on once there is room', async () => {
  await recovers('database moved to a small volume', {
    ...cloud,
    happen: () => whileDown(() => inNode('sh', '-c', shrink, 'sh', directory, aside)),
    within: 300,
  });
  try {
    await recovers('database volume full, then freed', {
      ...cloud,
      happen: async () => {
        expect(Number(await inNode('sh', '-c', fill, 'sh', directory))).toBe(0);
        await deletePod(await podOf(database), { force: true });
        const message = await until({
          what: 'a condition that names the full volume',
          seconds: 600,
          probe: async () => {
            const said = await readyMessage();
            return /no space left|disk (is )?full|out of disk space/i.test(said) ? said : undefined;
          },
          explain: readyMessage,
        });
        process.stdout.write(`with a full volume: ${message}\n`);
        await inNode('rm', `${directory}/chaos`);
      },
      within: 600,
    });
  } finally {
    await whileDown(() => inNode('sh', '-c', grow, 'sh', directory, aside));
  }
  await recovers('database moved back', { ...cloud, happen: async () => {}, within: 300 });
});

async function readyMessage(): Promise<string> {
  return await program(
    'kubectl',
    'get',
    kind,
    '--all-namespaces',
    '-o',
    'jsonpath={.items[0].status.conditions[?(@.type=="Ready")].message}',
  );
}
