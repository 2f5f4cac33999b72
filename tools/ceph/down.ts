import { kubectl } from '../cloud/kubectl.ts';
import type { Place } from '../cloud/place.ts';
import { step } from '../cloud/step.ts';
import { requireCluster } from './cluster.ts';
import { namespace, selector } from './names.ts';

/** Removes Ceph with its data, and what other namespaces have of it. @throws StepError */
export async function down(place: Place): Promise<void> {
  requireCluster(place);
  await step('Ceph goes', async () => {
    // First what runs: a namespace looks for its pods again after half of their grace period.
    const foreground = ['--all', '--cascade=foreground', '--timeout=120s'];
    await kubectl(place, ['-n', namespace, 'delete', 'statefulsets', ...foreground]);
    await kubectl(place, ['delete', 'namespace', namespace, '--ignore-not-found', '--timeout=120s']);
    await kubectl(place, ['delete', 'configmaps,secrets', '--all-namespaces', '-l', selector]);
  });
}
