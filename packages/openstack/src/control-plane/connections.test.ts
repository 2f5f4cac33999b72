import { readFileSync } from 'node:fs';
import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../testing/compositions.ts';
import { connectionCeiling } from './connections.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const world = surroundings(read);
const services = ['keystone', 'glance', 'placement', 'neutron', 'nova'];

interface Template {
  spec: {
    replicas?: number;
    template: {
      spec: {
        containers: { env?: { name: string; value?: string }[]; envFrom?: { secretRef: { name: string } }[] }[];
        volumes: { name: string; configMap?: { name: string } }[];
      };
    };
  };
}

/** All objects of a cloud: those of the children as the control plane states them. */
function cloudOf(sample: string, change: (spec: Record<string, unknown>) => void = () => undefined): KubeObject[] {
  const controlPlane = resource(read(sample));
  const spec = structuredClone(controlPlane.spec ?? {}) as Record<string, unknown>;
  change(spec);
  const children = objectsOf(composed({ ...controlPlane, spec }, world)).map(({ object }) => ({
    ...object,
    metadata: { ...object.metadata, uid: `uid-of-${object.metadata.name}`, resourceVersion: '1' },
  }));
  return children.flatMap((child) => objectsOf(composed(child as StoredObject, world)).map(({ object }) => object));
}

const dataOf = (objects: readonly KubeObject[], kind: string, name: string) =>
  ((
    objects.find((object) => object.kind === kind && object.metadata.name === name) as {
      data?: object;
      stringData?: object;
    }
  )?.data ??
    (objects.find((object) => object.kind === kind && object.metadata.name === name) as { stringData?: object })
      ?.stringData ??
    {}) as Record<string, string>;

/** Processes of a program, of so many workers; by default a parent forks two, and one worker has none. */
const forked: Readonly<Record<string, (workers: number | undefined) => number>> = {
  'periodic-workers': () => 1,
  novncproxy: () => 1,
  'ovn-maintenance-worker': () => 2,
  'glance-api': (workers = 2) => workers + 1,
  'glance-internal': (workers = 2) => workers + 1,
  '': (workers = 2) => (workers > 1 ? workers + 1 : 1),
};

/** What all pods may open, read from what they are given: pools times processes times replicas. */
function opened(objects: readonly KubeObject[], cells = 1): number {
  let sum = 0;
  for (const object of objects.filter(({ kind }) => kind === 'Deployment')) {
    const { replicas = 1, template } = (object as unknown as Template).spec;
    const [container] = template.spec.containers;
    const secrets = (container?.envFrom ?? []).map(({ secretRef }) => dataOf(objects, 'Secret', secretRef.name));
    const databases = secrets
      .flatMap((data) => Object.keys(data))
      .filter((name) => name.endsWith('DATABASE__CONNECTION'));
    if (databases.length === 0) continue;
    const files = template.spec.volumes
      .flatMap(({ configMap }) => (configMap === undefined ? [] : [dataOf(objects, 'ConfigMap', configMap.name)]))
      .flatMap((data) => Object.values(data))
      .join('\n');
    const number = (name: string) => Number(new RegExp(`^${name} = (\\d+)$`, 'm').exec(files)?.[1] ?? 0);
    const size = number('max_pool_size') + number('max_overflow');
    expect(size).toBeGreaterThan(0);
    const workers = container?.env?.find(({ name }) => name.endsWith('WORKERS'))?.value;
    const forks = Object.entries(forked).find(([name]) => object.metadata.name?.endsWith(name))?.[1];
    const processes = /^processes = /m.test(files)
      ? number('processes')
      : (forks?.(workers === undefined ? undefined : Number(workers)) ?? 0);
    const pools = databases.length + (databases.includes('OS_API_DATABASE__CONNECTION') ? cells : 0);
    sum += replicas * processes * pools * size;
  }
  return sum;
}

function limit(objects: readonly KubeObject[]): number {
  const files = objects
    .filter(({ kind }) => kind === 'ConfigMap')
    .flatMap((object) => Object.values((object as { data?: Record<string, string> }).data ?? {}));
  return Number(/^max-connections = (\d+)$/m.exec(files.join('\n'))?.[1]);
}

test.each(['controlplane_minimal', 'controlplane_ha', 'controlplane_production'])(
  '%s: what all pools together may open, the database takes',
  (sample) => {
    const objects = cloudOf(sample);
    const most = opened(objects);
    expect(most).toBeGreaterThan(500);
    expect(limit(objects)).toBeGreaterThanOrEqual(most);
  },
);

test('more processes of an API raise the limit, and what users say of it holds', () => {
  const many = (spec: Record<string, unknown>) => {
    spec['keystone'] = { replicas: 9, components: { api: { processes: 64 } } };
  };
  const objects = cloudOf('controlplane_minimal', many);
  expect(limit(objects)).toBeGreaterThanOrEqual(opened(objects));
  expect(limit(objects)).toBeGreaterThan(4000);
  const said = cloudOf('controlplane_minimal', (spec) => {
    many(spec);
    spec['mariadb'] = { maxConnections: 700 };
  });
  expect(limit(said)).toBe(700);
});

/** The components of the services whose number of processes can be set. */
const settable: Readonly<Record<string, readonly string[]>> = {
  keystone: ['api'],
  glance: ['api'],
  placement: ['api'],
  neutron: ['server'],
  nova: ['api', 'metadata', 'scheduler', 'conductor', 'cell-conductor'],
};

test.each([undefined, 1, 5])('with %s processes of each component all that pods may open is counted', (processes) => {
  let spec: Record<string, unknown> = {};
  const objects = cloudOf('controlplane_minimal', (stated) => {
    stated['cephStorage'] = { mode: 'external', external: { monitorHosts: '10.0.0.1', keyringSecretName: 'keyrings' } };
    for (const [service, components] of Object.entries(settable))
      stated[service] = {
        ...(stated[service] as object),
        ...(service === 'glance' && { storageType: 'ceph' }),
        components: Object.fromEntries(
          components.map((name) => [name, { replicas: 2, ...(processes && { processes }) }]),
        ),
      };
    spec = stated;
  });
  expect(connectionCeiling(spec, services)).toBe(opened(objects));
});

test('services that are disabled open nothing', () => {
  expect(connectionCeiling({}, [])).toBe(0);
  expect(connectionCeiling({}, services)).toBeGreaterThan(connectionCeiling({}, ['keystone']));
});

test('one more pod of an API, or one less, is no other limit: that would restart the database', () => {
  const limits = [1, 2, 3, 4, 5, 6].flatMap((replicas) =>
    ['controlplane_minimal', 'controlplane_production'].map((sample) =>
      limit(
        cloudOf(sample, (spec) => {
          for (const service of services) spec[service] = { ...(spec[service] as object), replicas };
        }),
      ),
    ),
  );
  expect(new Set(limits)).toEqual(new Set([4000]));
});
