import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Image, type Layer, readLayerCommand } from './image-set.ts';

const defaultPath = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What a command in an image did. */
export interface Result {
  readonly status: number | null;
  readonly output: string;
}

/**
 * Unpacks the layers of images below `directory`, each once, in the form that an overlay mount takes. Needs root.
 */
export function unpack(images: readonly Image[], directory: string): void {
  for (const { layers } of images) {
    for (const [depth, layer] of layers.entries()) {
      const target = join(directory, layerName(layer));
      if (existsSync(target)) continue;
      mkdirSync(target);
      const [program = '', ...options] = readLayerCommand(layer);
      const quoted = [program, ...options].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
      // A pipe, so that the layer of an archive is not on disk twice; devices of Kolla's images are nobody's.
      execFileSync(
        'bash',
        [
          '-ec',
          `set -o pipefail; ${quoted} | tar --extract ${layer.compression ?? ''} --numeric-owner --xattrs --exclude=./dev/* --exclude=dev/* --directory="$0"`,
          target,
        ],
        {
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      );
      applyWhiteouts(
        target,
        layers.slice(0, depth).map((lower) => join(directory, layerName(lower))),
      );
    }
  }
}

/** OCI's marks of deleted files become overlay's. */
function applyWhiteouts(layer: string, lowers: readonly string[]): void {
  const marks = execFileSync('find', [layer, '-name', '.wh.*', '-print0'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  for (const mark of marks.split('\0').filter((path) => path !== '')) {
    rmSync(mark, { recursive: true });
    const parent = dirname(mark);
    const name = basename(mark).slice('.wh.'.length);
    // Opaque: everything that lies below is gone, and nothing of this layer.
    const gone = name === '.wh..opq' ? entriesBelow(lowers, parent.slice(layer.length)) : [name];
    for (const entry of gone) {
      const path = join(parent, entry);
      if (!existsSync(path)) execFileSync('mknod', [path, 'c', '0', '0']);
    }
  }
}

function entriesBelow(lowers: readonly string[], directory: string): Set<string> {
  return new Set(
    lowers
      .map((lower) => join(lower, directory))
      .filter((path) => existsSync(path))
      .flatMap((path) => readdirSync(path)),
  );
}

const layerName = ({ digest }: Layer) => digest.slice(-12);

/**
 * Runs a command in an image as a pod does: read-only root, writable /tmp, the image's environment, one user with the
 * groups that /etc/group gives it. The mounts live in namespaces that end with the command.
 */
export function runInImage(
  image: Image,
  options: { directory: string; uid: number; groups: readonly number[]; command: readonly string[]; input?: string },
): Result {
  const { directory, uid, groups, command, input = '' } = options;
  // Relative names, uppermost first: all of them must fit into one page. Overlay wants two at least.
  const lowers = [...new Set(image.layers.map(layerName))].reverse();
  const script = `
    ip link set lo up
    mount -t tmpfs tmpfs "$1/empty"
    mkdir "$1/empty/none" "$1/empty/root"
    cd "$1"
    mount -t overlay -o "ro,lowerdir=$2:empty/none" overlay empty/root
    cd empty/root
    for place in tmp dev; do if [ -d $place ]; then mount -t tmpfs -o mode=1777 tmpfs $place; fi; done
    if [ -d dev ]; then
      for device in null zero full random urandom; do : > dev/$device; mount --bind /dev/$device dev/$device; done
      ln -s /proc/self/fd dev/fd
      mkdir -m 1777 dev/shm
    fi
    if [ -d proc ]; then mount -t proc proc proc; fi
    user=$3 groups=$4 chroot=$(command -v chroot)
    shift 4
    exec env -i "\${@:2:$1}" "$chroot" "--userspec=$user:$user" "--groups=$groups" . "\${@:$1 + 2}"`;
  mkdirSync(join(directory, 'empty'), { recursive: true });
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--net', '--uts'];
  const environment = image.env.some((entry) => entry.startsWith('PATH=')) ? image.env : [defaultPath, ...image.env];
  const words = [
    directory,
    lowers.join(':'),
    String(uid),
    groups.join(','),
    String(environment.length),
    ...environment,
  ];
  const { status, stdout, stderr, error } = spawnSync(
    'unshare',
    [...namespaces, 'bash', '-ec', script, 'bash', ...words, ...command],
    { input, encoding: 'utf8', timeout: 60_000, maxBuffer: 1 << 26 },
  );
  if (error !== undefined && status === null) return { status, output: `${command[0]}: ${error.message}` };
  return { status, output: `${stdout}${stderr}`.trim() };
}
