import { kubectl } from '../cloud/kubectl.ts';
import type { Place } from '../cloud/place.ts';
import { ceph, memory, requireCluster } from './cluster.ts';
import { namespace } from './names.ts';

/** Says how Ceph is. Exit code 0: HEALTH_OK, 1: not, 3: there is none. @throws StepError when it does not answer */
export async function status(place: Place): Promise<number> {
  requireCluster(place);
  if ((await kubectl(place, ['get', 'namespace', namespace, '--ignore-not-found', '-o', 'name'])) === '') {
    process.stdout.write('No Ceph runs here: node tools/ceph/main.ts up brings one up.\n');
    return 3;
  }
  const text = await ceph(place, ['status']);
  process.stdout.write(`${text}\n\n`);
  for (const { daemon, mebibytes } of await memory(place)) {
    process.stdout.write(`  ${daemon.padEnd(10)} ${mebibytes} MiB\n`);
  }
  return text.includes('HEALTH_OK') ? 0 : 1;
}
