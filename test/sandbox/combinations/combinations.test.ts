import { renderAll } from '@openstack-operator/cli';
import { controllerReference, type KubeObject, type StoredObject } from '@openstack-operator/kube';
import { children, planUpkeep, statedObjects } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { liveWith } from '../../../packages/openstack/src/plan/testing.ts';
import {
  cloudOf,
  full,
  heldIn,
  mended,
  minimal,
  mistakesOf,
  optional,
  refusedOf,
  type Spec,
  withServices,
} from './clouds.ts';

/** Nothing is wrong with any of these clouds once those that lack services have those that their conditions name. */
function sayWhatTheyLack(specs: readonly Spec[]): void {
  expect(specs.flatMap((spec) => mistakesOf(mended(spec)))).toEqual([]);
}

test('each service that may be left out, alone with what every cloud has', () => {
  const specs = optional.map((field) => withServices(minimal, [field]));
  expect(specs.flatMap(refusedOf)).toEqual([]);
  sayWhatTheyLack(specs);
});

test('each two of them', () => {
  const pairs = optional.flatMap((one, index) => optional.slice(index + 1).map((other) => [one, other]));
  expect(pairs.length).toBeGreaterThan(400);
  sayWhatTheyLack(pairs.map((pair) => withServices(minimal, pair)));
});

describe('every service but one', () => {
  /** The specs without it: that disable it and, where that is another thing, that do not state it. */
  const without = (field: string): readonly Spec[] => {
    const { [field]: template, ...others } = full;
    const disabled = { ...others, [field]: { ...(template as object | undefined), enabled: false } };
    return optional.includes(field) ? [others, disabled] : [disabled];
  };

  test('is valid, or says what lacks that one', () => {
    const specs = children.flatMap(({ field }) => without(field));
    expect(specs.flatMap(refusedOf)).toEqual([]);
    sayWhatTheyLack(specs);
  });

  const [before, ...childrenBefore] = renderAll([cloudOf(full)], new Set());

  test.each(children.map(({ field, kind }) => [field, kind] as const))('%s: nothing else is deleted', (field, kind) => {
    for (const spec of without(field)) {
      const held = heldIn(spec).map(({ condition }) => condition);
      const [after, ...childrenAfter] = renderAll([cloudOf(spec)], new Set());
      expect(deleted(before, after)).toEqual(held.length === 0 ? [kind] : []);
      // What is held stays as it is.
      const others = childrenAfter.filter((child) => !held.includes(`${child.resource.kind}Ready`));
      expect(
        others.flatMap((child) =>
          deleted(
            childrenBefore.find(({ resource }) => resource.kind === child.resource.kind),
            child,
          ),
        ),
      ).toEqual([]);
    }
  });
});

type Rendered = ReturnType<typeof renderAll>[number];

/**
 * Kinds of what a resource had before and is deleted after; left out is configuration that nobody mounts any more, and the
 * Job that made a user at the broker for notifications that nobody hears any more.
 */
function deleted(before: Rendered | undefined, after: Rendered | undefined): string[] {
  if (before === undefined || after === undefined) throw new Error('a service is there only before, or only after');
  const resource = after.resource as StoredObject;
  const objects = statedObjects(before.composition.steps).map((object) => ownedBy(resource, object));
  const done = new Set(after.composition.steps.map(({ condition }) => condition));
  const { actions } = planUpkeep(after.composition, liveWith(objects, { resource, done }));
  return actions.flatMap((action) =>
    action.verb !== 'delete' || action.live.kind === 'ConfigMap' || action.live.metadata.name.endsWith('-mq-create')
      ? []
      : [action.live.kind],
  );
}

/** An object as a cluster has it that its owner has made. */
function ownedBy(owner: StoredObject, object: KubeObject): StoredObject {
  const { name = '', namespace = 'openstack' } = object.metadata;
  const ownerReferences = [controllerReference(owner)];
  const metadata = { ...object.metadata, name, namespace, uid: `${object.kind} ${name}`, resourceVersion: '1' };
  return { ...object, metadata: { ...metadata, ownerReferences } };
}

describe('what a service says when nothing else is there', () => {
  const identity = ['mariadb', 'memcached', 'keystone'];
  const messaging = ['mariadb', 'rabbitmq', 'memcached', 'keystone'];
  const network = [...messaging, 'ovnNetwork', 'neutron'];
  const compute = [...network, 'glance', 'placement', 'nova'];

  const rules: [field: string, needs: readonly string[], template?: object][] = [
    ['mariadb', []],
    ['rabbitmq', []],
    ['memcached', []],
    ['ovnNetwork', []],
    ['cephStorage', []],
    ['keystone', ['mariadb', 'memcached']],
    ['glance', identity],
    ['glance', [...identity, 'swift'], { storageType: 'swift' }],
    ['glance', [...identity, 'cephStorage'], { storageType: 'ceph' }],
    ['placement', identity],
    ['neutron', [...messaging, 'ovnNetwork']],
    ['nova', [...network, 'glance', 'placement']],
    ['nova', [...network, 'glance', 'placement', 'cephStorage'], { ephemeralStorage: 'ceph' }],
    ['cinder', messaging, { backends: [{ name: 'one', type: 'custom' }] }],
    ['cinder', [...messaging, 'cephStorage'], { backends: [{ name: 'one', type: 'ceph' }] }],
    ['swift', identity],
    ['barbican', messaging],
    ['manila', messaging, { backends: [{ name: 'one', type: 'custom' }] }],
    ['manila', [...messaging, 'cephStorage'], { backends: [{ name: 'one', type: 'cephfs' }] }],
    ['heat', messaging],
    ['watcher', compute],
    ['blazar', compute],
    ['horizon', identity],
    ['skyline', network],
    ['mistral', messaging],
    ['magnum', [...compute, 'heat']],
    ['magnum', [...compute, 'heat', 'barbican'], { certificateStore: 'barbican' }],
    ['trove', [...compute, 'cinder']],
    ['designate', messaging],
    ['octavia', network],
    ['gnocchi', identity],
    ['ceilometer', messaging],
    ['ceilometer', [...messaging, 'gnocchi'], { metricsBackend: 'gnocchi' }],
    ['aodh', messaging],
    ['cyborg', compute],
    ['zaqar', identity],
    ['masakari', messaging],
    ['cloudKitty', [...messaging, 'gnocchi']],
    ['vitrage', messaging],
    ['ironic', [...messaging, 'glance']],
    ['adjutant', identity],
    ['freezer', [...identity, 'swift']],
    ['tacker', [...compute, 'heat']],
    ['tacker', [...compute, 'heat', 'barbican'], { vimKeyStore: 'barbican' }],
    ['zun', [...network, 'placement']],
    ['venus', identity],
    ['storlets', [...identity, 'swift']],
  ];

  test('is known of all', () => {
    expect(new Set(rules.map(([field]) => field))).toEqual(new Set(children.map(({ field }) => field)));
  });

  test.each(rules)('%s needs %j', (...[field, needs, template = {}]) => {
    const nothing = Object.fromEntries(children.map((child) => [child.field, { enabled: false }]));
    const spec = mended({ ...nothing, [field]: template }, {}) as Readonly<Record<string, { enabled?: boolean }>>;
    const enabled = Object.keys(spec).filter((name) => name !== field && spec[name]?.enabled !== false);
    expect(new Set(enabled)).toEqual(new Set(needs));
  });
});
