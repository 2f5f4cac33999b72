import { program } from '../kubernetes.ts';

const inside = ['exec', '-n', 'ceph', 'statefulset/ceph', '-c', 'mon', '--'];

/** What the program rbd prints as JSON, as the administrator. */
export async function rbd<T>(...argv: readonly string[]): Promise<T> {
  return JSON.parse(await program('kubectl', ...inside, 'rbd', '--format', 'json', ...argv)) as T;
}

/** Runs a script of a shell beside Ceph, of a block device. @returns what it prints */
export const ofDevice = (script: string, image: string) => program('kubectl', ...inside, 'bash', '-c', script, image);

/** The digest of a whole block device. */
export async function digest(image: string): Promise<string> {
  return (await ofDevice('rbd export --no-progress "$0" - | sha256sum', image)).split(' ')[0] ?? '';
}

/** Of what a block device is a clone. */
export const parentOf = async (image: string) =>
  (await rbd<{ parent?: { pool: string; image: string } }>('info', image)).parent;
