import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { services } from '../../services/index.ts';
import { composed, objectsOf, resource, samples, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const world = surroundings(read);

interface Stated {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  data?: Record<string, string>;
  spec?: { template?: { spec?: { containers?: { env?: { name: string; value?: string }[] }[] } } };
}

/** Objects by kind and name, of a sample of whose components some are as `asked`. */
function objects(sample: string, asked: Record<string, object> = {}, more: object = {}): Map<string, Stated> {
  const { spec, ...rest } = resource(read(sample));
  const { components: stated = {} } = spec as { components?: Record<string, object> };
  const merged = Object.entries(asked).map(([name, overrides]) => [name, { ...stated[name], ...overrides }]);
  const components = { ...stated, ...Object.fromEntries(merged) };
  const composition = composed({ ...rest, spec: { ...spec, ...more, components } }, world);
  const all = objectsOf(composition).map(({ object }) => object as unknown as Stated);
  return new Map(all.map((object) => [`${object.kind} ${object.metadata.name}`, object]));
}

/** What is another object with three processes of a component: the components of workloads, and other objects by name. */
function changed(sample: string, component: string, more?: object): string[] {
  const before = objects(sample, {}, more);
  return [...objects(sample, { [component]: { processes: 3 } }, more)]
    .filter(([key, object]) => JSON.stringify(object) !== JSON.stringify(before.get(key)))
    .map(([key, { metadata }]) => metadata.labels?.['app.kubernetes.io/component'] ?? key);
}

/** Names in the message of a rule of a kind's components that begins with some words. */
function namesIn(kind: string, words: string): string[] {
  const { spec } = services.find((one) => one.kind.kind === kind)?.kind ?? {};
  const rules = spec?.schema.properties?.['components']?.['x-kubernetes-validations'] ?? [];
  const message = rules.find((rule) => rule.message.startsWith(words))?.message ?? words;
  return message
    .slice(words.length)
    .replace(/:.*/, '')
    .split(',')
    .flatMap((name) => name.trim() || []);
}

const ofServices = samples
  .map((sample) => [resource(read(sample)).kind, sample] as const)
  .filter(([, sample]) => !sample.includes('_'));

test.each(ofServices)(
  '%s: a number of processes is refused, or reaches the component, and no other',
  (kind, sample) => {
    const refused = namesIn(kind, 'processes cannot be set for');
    for (const component of namesIn(kind, 'the known names are')) {
      const start = new RegExp(`^ConfigMap .*-${component}-start-[0-9a-z]+$`);
      const workloads = changed(sample, component).filter((one) => !start.test(one));
      const own = component === 'cell-conductor' ? 'cell1-conductor' : component;
      expect(workloads, component).toEqual(refused.includes(component) ? [] : [own]);
    }
  },
);

test('both APIs of Glance have the number of the one', () => {
  const inCeph = { storageType: 'ceph', cephStorageRef: { name: 'ceph' } };
  expect(changed('glance', 'api', inCeph)).toEqual(['api', 'internal']);
});

test.each([
  ['glance', 'api', 'OS_DEFAULT__WORKERS', /^workers = 2$/m],
  ['heat', 'engine', 'OS_DEFAULT__NUM_ENGINE_WORKERS', /^num_engine_workers = 2$/m],
  ['magnum', 'conductor', 'OS_CONDUCTOR__WORKERS', /^\[conductor\]\n(\w.*\n)*workers = 1$/m],
  // The hash ring of OVN is not remembered before so many workers of uwsgi are in it.
  ['neutron', 'server', 'OS_DEFAULT__API_WORKERS', /^api_workers = 2$/m],
  ['nova', 'scheduler', 'OS_SCHEDULER__WORKERS', /^\[scheduler\]\n(\w.*\n)*workers = 2$/m],
  ['nova', 'conductor', 'OS_CONDUCTOR__WORKERS', /^\[conductor\]\n(\w.*\n)*workers = 2$/m],
  ['nova', 'cell1-conductor', 'OS_CONDUCTOR__WORKERS', /^\[conductor\]\n(\w.*\n)*workers = 2$/m],
  ['trove', 'conductor', 'OS_DEFAULT__TROVE_CONDUCTOR_WORKERS', /^trove_conductor_workers = 1$/m],
  ['venus', 'api', 'OS_DEFAULT__OSAPI_VENUS_WORKERS', /^osapi_venus_workers = 2$/m],
] as const)('%s %s: %s goes before the file', (sample, component, variable, line) => {
  const value = (asked: object) =>
    [...objects(sample, { [component.replace('cell1', 'cell')]: asked }).values()]
      .find((one) => one.spec?.template && one.metadata.labels?.['app.kubernetes.io/component'] === component)
      ?.spec?.template?.spec?.containers?.[0]?.env?.find(({ name }) => name === variable)?.value;
  expect(value({})).toBeUndefined();
  expect(value({ processes: 1 })).toBe('1');
  const files = [...objects(sample).values()].flatMap(({ data = {} }) => Object.values(data));
  expect(files.join('\n')).toMatch(line);
});

test('a variable of the user for what processes says is refused', () => {
  const asked = { processes: 1, env: [{ name: 'OS_SCHEDULER__WORKERS', value: '4' }] };
  const { spec, ...rest } = resource(read('nova'));
  const { steps } = composed({ ...rest, spec: { ...spec, components: { scheduler: asked } } }, world);
  const problems = steps.flatMap(({ problem }) => problem?.message ?? []);
  expect(problems.join('\n')).toContain(
    'spec.components.scheduler.env[name=OS_SCHEDULER__WORKERS]: the operator sets this variable itself; remove it',
  );
});
