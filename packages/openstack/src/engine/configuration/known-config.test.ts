import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { knownOptions } from '../../options/known-options.ts';
import { broughtBy } from '../../registry/kinds.ts';
import { composed, objectsOf, resource, samples, surroundings } from '../../testing/compositions.ts';
import { digest } from '../names/digest.ts';
import type { KnownSurroundings } from '../vocabulary/surroundings.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** The sample with options of users in its main file. */
function composedWith(
  sample: string,
  sections: Record<string, Record<string, unknown>>,
  more: { readonly spec?: object; readonly known?: KnownSurroundings } = {},
) {
  const base = resource(read(sample));
  const file = sample === 'glance' ? 'glance-api.conf' : `${sample}.conf`;
  const config = { [file]: sections };
  return composed({ ...base, spec: { ...base.spec, ...more.spec, config } }, { ...surroundings(read), ...more.known });
}

/** What ConfigReady says of options of users, without the path of the file. */
function said(...parameters: Parameters<typeof composedWith>) {
  const step = composedWith(...parameters).steps.find(({ condition }) => condition === 'ConfigReady');
  const short = (text: string) => text.replace(/^spec\.config\["[^"]*"\]\./u, '');
  return {
    problem: step?.problem && short(step.problem.message),
    degraded: step?.degraded?.map(short),
    remarks: step?.remarks?.map(short),
  };
}

test.each(samples)('%s: no variable carries an option that may be given many times', (sample) => {
  const { steps } = composed(resource(read(sample)), surroundings(read));
  const variables = steps
    .flatMap(({ objects }) => objects)
    .flatMap((desired) => (desired.verb === 'resolve' ? [desired.object] : []))
    .flatMap((object) => Object.keys((object as { stringData?: object }).stringData ?? {}))
    .filter((name) => /^OS_.*__/u.test(name));
  const known = knownOptions('2025.1', sample, []);
  const many = [...(known?.groups() ?? [])].flatMap((group) =>
    (known?.namesIn(group) ?? [])
      .filter((name) => known?.find(group, name)?.type === 'multi')
      .map((name) => `OS_${group}__${name}`.toUpperCase()),
  );
  expect(variables.filter((name) => many.includes(name))).toEqual([]);
});

const wayOut = ' (spec.unknownOptions: Allow lets in those of drivers of your own)';

describe('what the release does not take is refused', () => {
  test.each<[string, string, Record<string, Record<string, unknown>>, string]>([
    [
      'an option',
      'nova',
      { DEFAULT: { cpu_alocation_ratio: 4 } },
      `DEFAULT.cpu_alocation_ratio: there is no such option; did you mean cpu_allocation_ratio?${wayOut}`,
    ],
    [
      'an option of another section',
      'keystone',
      { DEFAULT: { allow_expired_window: 1 } },
      `DEFAULT.allow_expired_window: there is no such option; did you mean that of [token]?${wayOut}`,
    ],
    [
      'an option without a value',
      'nova',
      { libvirt: { cpu_modle: null } },
      `libvirt.cpu_modle: there is no such option; did you mean cpu_mode?${wayOut}`,
    ],
    [
      'a section',
      'nova',
      { libvrt: { cpu_mode: 'custom', cpu_models: 'x' } },
      `libvrt: there is no such section; did you mean libvirt?${wayOut}`,
    ],
    ['a switch', 'keystone', { DEFAULT: { debug: 'maybe' } }, 'DEFAULT.debug: expected true or false, found "maybe"'],
    [
      'a number out of range',
      'nova',
      { DEFAULT: { cpu_allocation_ratio: -1 } },
      'DEFAULT.cpu_allocation_ratio: expected a number of at least 0, found "-1"',
    ],
    [
      'a choice',
      'glance',
      { image_conversion: { output_format: 'qcow' } },
      'image_conversion.output_format: expected one of qcow2, raw, vmdk (did you mean qcow2?), found "qcow"',
    ],
    [
      'a secret in plain text',
      'keystone',
      { ldap: { password: 'x' } },
      'ldap.password: this option holds a secret, which everybody who may read ConfigMaps would see: put it into a Secret, and write secretKeyRef: { name, key } as the value',
    ],
    [
      'a former name of what is owned',
      'nova',
      { keystone_authtoken: { memcache_servers: 'x' } },
      'keystone_authtoken.memcache_servers: deprecated name of [keystone_authtoken] memcached_servers: this option follows from other fields: set spec.cacheRef instead',
    ],
    [
      'a half reference to a Secret',
      'keystone',
      { ldap: { password: { secretKeyRef: { name: 'ldap' } } } },
      'ldap.password: expected secretKeyRef: { name, key }, a key of a Secret of the namespace',
    ],
  ])('%s', (_what, sample, sections, problem) => {
    expect(said(sample, sections)).toEqual({ problem, degraded: undefined, remarks: undefined });
  });

  test('in the options of a component as well', () => {
    const base = resource(read('nova'));
    const config = { scheduler: { scheduler: { workers: 'many' } } };
    const { steps } = composed({ ...base, spec: { ...base.spec, config } }, surroundings(read));
    expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message).toBe(
      'spec.config["scheduler"].scheduler.workers: expected a whole number of at least 0, found "many"',
    );
  });
});

test('a former name works, and is told of; so is what will be removed', () => {
  expect(said('nova', { DEFAULT: { rpc_thread_pool_size: 8, config_drive_format: 'vfat' } })).toEqual({
    problem: undefined,
    degraded: undefined,
    remarks: [
      'DEFAULT.rpc_thread_pool_size: deprecated: it is called [DEFAULT] executor_thread_pool_size now; write that instead',
      expect.stringContaining(
        'DEFAULT.config_drive_format: deprecated since 19.0.0: it will be removed: This option was',
      ),
    ],
  });
});

test('what nothing knows is written where that is allowed, and told of', () => {
  const driver = { own_driver: { endpoint: 'a' }, DEFAULT: { own_option: [1, 2], debug: 'maybe' } };
  expect(said('nova', driver, { spec: { unknownOptions: 'Allow' } })).toEqual({
    problem: 'DEFAULT.debug: expected true or false, found "maybe"',
    degraded: undefined,
    remarks: ['own_driver: there is no such section', 'DEFAULT.own_option: there is no such option'],
  });
  const { own_driver } = driver;
  const objects = objectsOf(composedWith('nova', { own_driver }, { spec: { unknownOptions: 'Allow' } }));
  expect(JSON.stringify(objects)).toContain('[own_driver]\\nendpoint = a');
});

test('a service that runs with what is refused now stays as it is: it is told, and nothing is written otherwise', () => {
  const sections = { DEFAULT: { debug: 'maybe', no_such: 1 }, none: { a: 1 }, ldap: { password: 'x' } };
  const found = said('keystone', sections, { known: { wasReady: true } });
  expect(found.problem).toBeUndefined();
  expect(found.degraded).toHaveLength(4);
  const objects = objectsOf(composedWith('keystone', sections, { known: { wasReady: true } }));
  const text = JSON.stringify(objects);
  for (const line of ['debug = maybe', 'no_such = 1', '[none]\\na = 1', 'password = x']) expect(text).toContain(line);
});

test('what follows from fields is refused even so', () => {
  expect(said('keystone', { token: { provider: 'x' } }, { known: { wasReady: true } }).problem).toContain(
    'the operator sets this option itself',
  );
});

test('an option that may be given many times has a line for each entry', () => {
  const objects = objectsOf(composedWith('nova', { pci: { device_spec: ['a', 'b'] } }));
  expect(JSON.stringify(objects)).toContain('device_spec = a\\ndevice_spec = b\\n');
});

describe('a value from a Secret', () => {
  const password = { secretKeyRef: { name: 'directory', key: 'password' } };

  test('stands in a variable, and never in a ConfigMap; another content rolls the pods', () => {
    const objects = (value: string) =>
      objectsOf(composedWith('keystone', { ldap: { password } }, { known: { digests: { directory: digest(value) } } }));
    const found = objects('one').map(({ object }) => object);
    const secret = found.find(({ metadata }) => metadata.name === 'keystone-config');
    expect(secret).toMatchObject({ kind: 'Secret', stringData: { OS_LDAP__PASSWORD: '{{directory/password|oslo}}' } });
    const maps = found.filter(({ kind }) => kind === 'ConfigMap');
    expect(JSON.stringify(maps)).not.toContain('directory');
    const template = (value: string) =>
      JSON.stringify(objects(value).find(({ object }) => object.kind === 'Deployment'));
    expect(template('one')).not.toBe(template('two'));
  });

  test('is followed as the Secret of a field', () => {
    const base = resource(read('keystone'));
    const spec = { ...base.spec, config: { 'keystone.conf': { ldap: { password } } } };
    expect(broughtBy({ ...base, spec })).toContainEqual({
      kind: 'Secret',
      name: 'directory',
      field: 'spec.config.keystone.conf.ldap.password.secretKeyRef.name',
    });
  });

  test('of an option that may be given many times makes the file a Secret', () => {
    const objects = objectsOf(composedWith('nova', { cache: { backend_argument: password } }));
    const secrets = objects.filter(({ object }) => object.kind === 'Secret').map(({ object }) => object);
    expect(JSON.stringify(secrets)).toContain('backend_argument = {{directory/password|oslo}}');
  });
});
