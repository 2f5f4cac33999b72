import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CustomResourceDefinition, type KubeObject, realClock, sleep } from '@openstack-operator/kube';
import { group, kinds } from '@openstack-operator/openstack';
import { parse } from 'yaml';
import type { TestServer } from './server.ts';

/** Where what users install lies. */
export const config = join(import.meta.dirname, '../../../config');

/** The object in a file of `config/`. */
export const readConfig = (file: string): KubeObject => parse(readFileSync(join(config, file), 'utf8'));

/** Installs the definitions of all our kinds; waits until they are served, which comes some moments later. */
export async function serveOurKinds({ client }: TestServer): Promise<void> {
  for (const { plural } of kinds) {
    const crd = readConfig(`crd/bases/${group}_${plural}.yaml`) as CustomResourceDefinition;
    await client.apply(CustomResourceDefinition, crd, { fieldManager: 'conformance', force: true });
  }
  let missing: readonly string[] = [];
  for (let tries = 0; tries < 100; tries += 1) {
    const served = await client.discover();
    missing = kinds.flatMap(({ kind }) =>
      served.some((one) => one.group === group && one.kind === kind) ? [] : [kind],
    );
    if (missing.length === 0) return;
    await sleep(realClock, 100);
  }
  throw new Error(`${missing.join(', ')} of ${group} not served 10 s after the definition was applied`);
}
