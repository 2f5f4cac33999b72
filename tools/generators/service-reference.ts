import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { objectsOf, renderAll } from '@openstack-operator/cli';
import type { KubeObject } from '@openstack-operator/kube';
import { children, services } from '@openstack-operator/openstack';
import { parse } from 'yaml';
import { readResults, resultsFile } from '../cloud/cloud-results.ts';
import { root } from '../cloud/place.ts';
import type { GeneratedFile } from './generated-file.ts';
import { page, table } from './markdown.ts';

type Sample = KubeObject & { readonly spec: Readonly<Record<string, object>> };

/** Suites on a real cloud, whose cloud is such a sample: services that it has from the beginning are tested by all of them. */
const suites = { 'test/cloud': 'minimal', 'test/cloud/storage': 'ceph' };

/** What has never run of a service on these suites' clouds, and why: by kind. */
const notRunFile = 'test/cloud/not-run.yaml';

/** The reference of services: what runs, what they need, where they are found, and what has been done with them on a real cloud. */
export function serviceReference(): GeneratedFile[] {
  const full = sample('full');
  const notRun = parse(readFileSync(join(root, notRunFile), 'utf8')) as Readonly<Record<string, string>>;
  const unknown = Object.keys(notRun).filter((kind) => !children.some((child) => child.kind === kind));
  if (unknown.length > 0) throw new Error(`${notRunFile}: ${unknown.join(', ')}: no kind of a service`);
  const rendered = renderAll([full], new Set());
  const rows = children.map(({ kind, field, needs }) => {
    const own = rendered.filter(({ resource }) => resource.kind === kind);
    const objects = own.flatMap((one) => objectsOf(one.composition));
    const components = objects.flatMap(({ apiVersion, metadata }) =>
      apiVersion === 'apps/v1' ? [metadata.labels?.['app.kubernetes.io/component'] ?? ''] : [],
    );
    const needed = needs(full.spec[field] ?? {});
    const service = services.find((one) => one.kind.kind === kind);
    const catalogue = service?.identity?.catalogue ?? [];
    const single = own.flatMap(({ resource }) => service?.single?.((resource['spec'] ?? {}) as never) ?? []);
    return [
      `[${kind}](kinds/${kind.toLowerCase()}.md)`,
      [...new Set(components)].join(', '),
      single.join(', '),
      children.flatMap((child) => (needed.includes(child.field) ? [child.kind] : [])).join(', '),
      [...new Set(catalogue.map(({ type }) => `\`${type}\``))].join(', '),
      memoryOf(field),
      testsOf(field),
      notRun[kind] ?? '',
    ];
  });
  return [
    page('services.md', 'Services', [
      'What runs of each service, what it needs, its types in the catalogue, and what was done with it on a real cloud. Of what stands under "One pod only", several pods would contradict each other, or share a volume that one of them can use. Components and needs are those of [config/samples/controlplane_full.yaml](../../config/samples/controlplane_full.yaml); other fields may ask for others. "MiB" is the memory of its pods on a real cloud when it was Ready (working set).',
      `Tests on a real cloud are recorded when they are asked to be (\`make test-cloud-services RECORD=yes\`) in \`${resultsFile}\`. What has never run there stands in the last column: models, the sandbox and \`oslo-config-validator\` alone have seen it.`,
      table(
        ['Service', 'Components', 'One pod only', 'Needs', 'Catalogue', 'MiB', 'Tests on a real cloud', 'Never ran'],
        rows,
      ),
    ]),
  ];
}

const sample = (name: string) =>
  parse(readFileSync(join(root, `config/samples/controlplane_${name}.yaml`), 'utf8')) as Sample;

/** MiB of memory that it had on a real cloud when it was Ready, the most of all tests that are recorded. */
function memoryOf(field: string): string {
  const found = Object.values(readResults()).flatMap((results) =>
    results.flatMap(({ memory }) => memory?.[field] ?? []),
  );
  return found.length === 0 ? '' : String(Math.max(...found));
}

/** The tests of a service: those that enable it, or else the suites on clouds that have it from the beginning. */
function testsOf(field: string): string {
  const enabling = globSync('test/cloud/*/*.test.ts', { cwd: root })
    .filter((path) => readFileSync(join(root, path), 'utf8').includes(`optionalService('${field}'`))
    .toSorted();
  if (enabling.length > 0)
    return enabling.map((path) => `[${basename(path, '.test.ts')}](../../${path}): ${told(path)}`).join('; ');
  const isOptional = children.some((child) => child.field === field && child.optional);
  const having = Object.entries(suites).flatMap(([path, name]) =>
    !isOptional || sample(name).spec[field] !== undefined ? [path] : [],
  );
  return having.length === 0
    ? 'none'
    : having.map((path) => `all of [${path}](../../${path}): ${told(path)}`).join('; ');
}

/** What is recorded of a file, or of the files of a folder. */
function told(path: string): string {
  const found = Object.entries(readResults()).flatMap(([file, results]) =>
    file === path || file.slice(0, file.lastIndexOf('/')) === path ? results : [],
  );
  if (found.length === 0) return 'not recorded';
  if (!path.endsWith('.ts')) {
    const passed = found.filter(({ result }) => result === 'passed');
    return `${passed.length} of ${found.length} passed, ${found.reduce((sum, { seconds }) => sum + seconds, 0)} s`;
  }
  return found.map(({ test, result, seconds }) => `${test} (${result}, ${seconds} s)`).join(', ');
}
