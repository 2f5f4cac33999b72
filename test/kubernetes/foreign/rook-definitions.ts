import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CustomResourceDefinition } from '@openstack-operator/kube';
import { parseAllDocuments } from 'yaml';
import { go } from './programs.ts';

/** Rook, whose module the proxy has without the one of its API that it is built with: its definitions alone are taken. */
const rook = {
  module: 'github.com/rook/rook@v1.19.4',
  sum: 'h1:NrgH7qR97bvZYwhM/rQOF8/Viu/8v7kmvtlMzitBUR8=',
  file: 'deploy/examples/crds.yaml',
};

/** The definitions of Rook's kinds, as users install them. @throws Error when the module is another one */
export function definitionsOfRook(): CustomResourceDefinition[] {
  // Outside of any module, so that no go.mod is changed; the sum of the module stands above.
  const answer = go(['mod', 'download', '-json', rook.module], { cwd: tmpdir(), env: { GONOSUMDB: '*' } });
  const { Dir: directory, Sum: sum } = JSON.parse(answer) as { Dir: string; Sum: string };
  if (sum !== rook.sum) throw new Error(`${rook.module}: its sum is ${sum}, not ${rook.sum}`);
  const documents = parseAllDocuments(readFileSync(join(directory, rook.file), 'utf8'));
  return documents.map((one) => one.toJS() as CustomResourceDefinition | null).filter((one) => one !== null);
}
