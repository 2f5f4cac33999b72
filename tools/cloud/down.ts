import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Place, root } from './place.ts';
import { run, step } from './step.ts';

/** Ends the cloud with its node. The caches stay: images, compiled programs. */
export async function down(place: Place): Promise<void> {
  await step('Kubernetes node', () =>
    run(join(root, 'tools/kubernetes/down'), ['--dir', place.kubernetes], { log: place.log('down') }),
  );
  if (!existsSync(place.directory)) return;
  for (const name of readdirSync(place.directory)) {
    const path = join(place.directory, name);
    if (path !== place.kubernetes) rmSync(path, { recursive: true });
  }
}
