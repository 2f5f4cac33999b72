import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import type { Composition } from '../compose/compose.ts';
import type { KnownSurroundings } from '../vocabulary/surroundings.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const world = surroundings(read);

function composition(
  sample: string,
  spec: Record<string, unknown> = {},
  known: KnownSurroundings = world,
): Composition {
  const base = resource(read(sample));
  return composed({ ...base, spec: { ...base.spec, ...spec } }, known);
}

interface Templated {
  readonly spec?: { readonly template?: { readonly spec: { readonly containers: readonly Container[] } } };
}

interface Container {
  readonly env?: readonly { readonly name: string }[];
}

/** The variables of nova-compute. */
function variables(spec: Record<string, unknown>) {
  const set = objectsOf(composition('nova', spec)).find(
    ({ object }) => object.metadata.name === 'nova-compute-compute',
  );
  const [container] = (set?.object as Templated | undefined)?.spec?.template?.spec.containers ?? [];
  return container?.env ?? [];
}

test('a variable that the operator sets itself is refused, and stands once', () => {
  const spec = { components: { compute: { env: [{ name: 'OS_DEFAULT__MY_IP', value: '10.0.0.1' }] } } };
  const { steps } = composition('nova', spec);
  expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem).toEqual({
    reason: 'ConfigRefused',
    message: 'spec.components.compute.env[name=OS_DEFAULT__MY_IP]: the operator sets this variable itself; remove it',
  });
  const env = variables(spec);
  expect(env.filter(({ name }) => name === 'OS_DEFAULT__MY_IP')).toHaveLength(1);
});

test('a variable in which oslo.config looks for an option is refused', () => {
  const named = (name: string) => {
    const { steps } = composition('nova', { components: { api: { env: [{ name, value: 'x' }] } } });
    return steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message;
  };
  expect(named('OS_API__MAX_LIMIT')).toBe(
    'spec.components.api.env[name=OS_API__MAX_LIMIT]: a variable of such a name is an option of OpenStack; set it in spec.config',
  );
  expect(named('OS_CLIENT_CONFIG_FILE')).toBeUndefined();
});

test.each<[string, string, Record<string, unknown>, string]>([
  [
    'a variable that says an option',
    'ConfigReady',
    { components: { api: { env: [{ name: 'OS_API__MAX_LIMIT', value: 'x' }] } } },
    'spec.components.api.env[name=OS_API__MAX_LIMIT]: ',
  ],
  [
    'a volume of the network',
    'ConfigReady',
    { components: { api: { extraVolumes: [{ name: 'x', mountPath: '/x', nfs: { server: 'nfs', path: '/' } }] } } },
    'spec.components.api.extraVolumes[name=x].nfs: ',
  ],
  [
    'a Service of what is not exposed by one',
    'ExposureReady',
    { exposure: 'None', externalService: { scheme: 'https' } },
    'spec.externalService: ',
  ],
])('%s is refused, and told where the resource is Ready with it', (_, condition, spec, beginning) => {
  const told = (known: KnownSurroundings) =>
    composition('placement', spec, known).steps.find((step) => step.condition === condition);
  expect(told(world)?.problem?.message).toContain(beginning);
  const ready = told({ ...world, wasReady: true });
  expect(ready?.problem).toBeUndefined();
  expect(ready?.degraded).toEqual([expect.stringContaining(beginning)]);
});

test('what clashes with the operator is refused even where the resource was Ready', () => {
  const spec = { components: { compute: { env: [{ name: 'OS_DEFAULT__MY_IP', value: '10.0.0.1' }] } } };
  const { steps } = composition('nova', spec, { ...world, wasReady: true });
  expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message).toContain(
    'the operator sets this variable itself',
  );
});

test('a variable named as what every object inherits is one like any other', () => {
  const spec = { components: { compute: { env: [{ name: 'constructor', value: 'x' }] } } };
  expect(composition('nova', spec).steps.flatMap(({ problem }) => problem ?? [])).toEqual([]);
  const env = variables(spec);
  expect(env).toContainEqual({ name: 'constructor', value: 'x' });
});
