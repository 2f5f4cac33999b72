import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRecipes } from '../../../tools/facts/recipe.ts';
import { helpOf } from './help.ts';
import { authOptionsOf, authTypes, factsOf, pluginsOf, releases, services } from './index.ts';
import { policiesOf } from './policies.ts';

function facts(service: string) {
  const found = factsOf('2025.1', service);
  if (found === undefined) throw new Error(`no facts of ${service}`);
  return found;
}

test('a release has facts of thirty services and more, with ten thousand options, policies and programs', () => {
  for (const release of releases()) {
    const all = services(release).map((service) => factsOf(release, service));
    expect(all.length).toBeGreaterThanOrEqual(30);
    expect(all.reduce((sum, one) => sum + (one?.options.length ?? 0), 0)).toBeGreaterThanOrEqual(10_000);
    expect(services(release).flatMap((service) => policiesOf(release, service)).length).toBeGreaterThan(2000);
  }
});

test('an option has its type, limits, default, flags and former names', () => {
  expect(facts('glance').option('image_conversion', 'output_format')).toMatchObject({
    type: 'string',
    default: 'raw',
    choices: ['qcow2', 'raw', 'vmdk'],
  });
  expect(facts('nova').option('DEFAULT', 'cpu_allocation_ratio')).toMatchObject({ type: 'float', min: 0 });
  expect(facts('keystone').option('DEFAULT', 'transport_url')).toMatchObject({
    secret: true,
    namespace: 'oslo.messaging',
  });
  expect(facts('nova').option('database', 'connectoin')).toBeUndefined();
});

test('a deprecated name leads to the option that took its place', () => {
  for (const service of services('2025.1')) {
    const found = facts(service);
    const [old] = found.options.flatMap(({ deprecated }) => deprecated);
    if (old !== undefined) expect(found.renamed(...old)).toBeDefined();
  }
});

test('every option has help where its package has', () => {
  expect(helpOf('2025.1', 'nova', 'DEFAULT', 'cpu_allocation_ratio')).toContain('Virtual CPU to physical CPU');
  expect(helpOf('2025.1', 'nova', 'DEFAULT', 'no_such')).toBeUndefined();
});

test('groups that a user names are known where the option that names them is', () => {
  expect(facts('cinder').dynamicGroups).toContainEqual(
    expect.objectContaining({ namedBy: ['DEFAULT', 'enabled_backends'] }),
  );
  for (const service of services('2025.1')) {
    const groups = new Set(facts(service).options.map(({ group }) => group));
    for (const { options } of facts(service).dynamicGroups)
      for (const group of options) expect(groups).toContain(group);
  }
  expect(authOptionsOf('2025.1', 'password')?.map(({ name }) => name)).toContain(
    'user-domain-name'.replaceAll('-', '_'),
  );
});

test('plug-ins are known by the service whose files hold their options', () => {
  expect(pluginsOf('2025.1', 'octavia').map(({ name }) => name)).toEqual(['ovn-octavia-provider']);
  expect(pluginsOf('2025.1', 'placement')).toEqual([]);
  expect(authTypes('2025.1')).toContain('v3applicationcredential');
  expect(authTypes('1999.1')).toEqual([]);
});

test('programs and WSGI entries are named with what they call', () => {
  expect(facts('nova').programs).toContainEqual({ name: 'nova-conductor', target: 'nova.cmd.conductor:main' });
  expect(facts('keystone').wsgi.length).toBeGreaterThan(0);
});

test('an unknown release or service has no facts', () => {
  expect(factsOf('1999.1', 'nova')).toBeUndefined();
  expect(factsOf('2025.1', 'constructor')).toBeUndefined();
  expect(policiesOf('2025.1', 'toString')).toEqual([]);
});

test('what decides the facts has not changed since they were made', () => {
  for (const { release, hash } of readRecipes()) {
    const made = readFileSync(join(import.meta.dirname, `generated/${release}/recipe.json`), 'utf8');
    expect({ release, ...JSON.parse(made) }, 'run `make facts`').toEqual({ release, hash });
  }
});
