import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { admission } from './generators/admission.ts';
import { commandLineReference } from './generators/command-line-reference.ts';
import { conditionReference } from './generators/condition-reference.ts';
import { customResourceDefinitions } from './generators/custom-resource-definitions.ts';
import type { GeneratedFile } from './generators/generated-file.ts';
import { kindReference } from './generators/kind-reference.ts';
import { libraryReferences } from './generators/library-reference.ts';
import { metricReference } from './generators/metric-reference.ts';
import { nameReference } from './generators/name-reference.ts';
import { prometheusRules } from './generators/prometheus-rules.ts';
import { rbac } from './generators/rbac.ts';
import { refusedReference } from './generators/refused-reference.ts';
import { serviceList } from './generators/service-list.ts';
import { serviceReference } from './generators/service-reference.ts';

/**
 * Writes the files that are made from code; with `--check`, says which ones are not as they would be made, and exits
 * with 1 if there are any. A generator is a function that gives files; add one to the list and it takes part.
 */
const generators: readonly (() => readonly GeneratedFile[])[] = [
  customResourceDefinitions,
  rbac,
  admission,
  kindReference,
  refusedReference,
  conditionReference,
  nameReference,
  metricReference,
  prometheusRules,
  commandLineReference,
  libraryReferences,
  serviceList,
  serviceReference,
];

const root = join(import.meta.dirname, '..');
const usage = 'usage: node tools/generate.ts [--check]';
const [flag, ...rest] = process.argv.slice(2);
if (rest.length > 0 || (flag !== undefined && flag !== '--check')) {
  console.error(usage);
  process.exit(2);
}

const stale: string[] = [];
for (const { path, content } of generators.flatMap((generator) => generator())) {
  const file = join(root, path);
  const current = await readFile(file, 'utf8').catch(() => undefined);
  if (current === content) continue;
  stale.push(path);
  if (flag === '--check') continue;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  console.log(`wrote ${path}`);
}
if (flag === '--check' && stale.length > 0) {
  console.error(
    `not as they would be generated now:\n${stale.map((path) => `  ${path}\n`).join('')}run: make generate`,
  );
  process.exitCode = 1;
}
