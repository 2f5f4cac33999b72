import { program } from './kubernetes.ts';

const inCeph = ['exec', '-n', 'ceph', 'statefulset/ceph', '-c', 'mon', '--'] as const;
const rbd = (...argv: readonly string[]) => program('kubectl', ...inCeph, 'rbd', ...argv);

/**
 * Removes what Cinder leaves in a pool of volumes: a volume that another one was made from stays as `<volume>.deleted`, and keeps its
 * image from being deleted. The driver of 2025.1 forgets it where it removes the other one at once (cinder/volume/drivers/rbd.py,
 * _delete_volume: the quick removal ends before _delete_clone_parent_refs).
 */
export async function removeLeftovers(): Promise<void> {
  const ceph = await program('kubectl', 'get', '-n', 'ceph', 'statefulset', 'ceph', '--ignore-not-found', '-o', 'name');
  if (ceph === '') return;
  const names = JSON.parse(await rbd('ls', 'volumes', '--format', 'json')) as readonly string[];
  for (const name of names.filter((one) => one.endsWith('.deleted'))) {
    const snapshots = JSON.parse(await rbd('snap', 'ls', `volumes/${name}`, '--format', 'json')) as { name: string }[];
    for (const { name: snapshot } of snapshots) {
      await rbd('snap', 'unprotect', `volumes/${name}@${snapshot}`);
      await rbd('snap', 'rm', `volumes/${name}@${snapshot}`);
    }
    await rbd('rm', '--no-progress', `volumes/${name}`);
  }
}
