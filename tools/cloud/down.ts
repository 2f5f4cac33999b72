import { join } from 'node:path';
import { emptyDirectory, takeDirectory } from './directory.ts';
import { type Place, root } from './place.ts';
import { run, step } from './step.ts';

/** Ends the cloud with its node. The caches stay: images, compiled programs. */
export async function down(place: Place): Promise<void> {
  takeDirectory(place);
  await step('Kubernetes node', () =>
    run(join(root, 'tools/kubernetes/down'), ['--dir', place.kubernetes], { log: place.log('down') }),
  );
  emptyDirectory(place);
}
