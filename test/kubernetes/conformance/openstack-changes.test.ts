import { CustomResourceDefinition, defineKind, realClock, sleep } from '@openstack-operator/kube';
import { type Api, group, kinds, type OpenApiSchema, version } from '@openstack-operator/openstack';
import { beforeAll, describe, expect, test } from 'vitest';
import { minimalSpecs } from './minimal-specs.ts';
import { readConfig, serveOurKinds } from './openstack-definitions.ts';
import { refusal } from './refusal.ts';
import { type TestServer, testServer } from './server.ts';

/** A schema with rules. */
interface Rules {
  'x-kubernetes-validations'?: unknown;
}

let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await testServer();
  await serveOurKinds(server);
  namespace = await server.namespace();
});

const controlPlane = kinds.find(({ kind }) => kind === 'OpenStackControlPlane') as Api;
const objectOf = (api: Api, spec: object, name: string) => ({
  apiVersion: `${group}/${version}`,
  kind: api.kind,
  metadata: { name, namespace },
  spec: { ...minimalSpecs.get(api.kind), ...spec },
});

/** What a field may say; none where it may say anything, or not yet. */
function choicesAt({ spec }: Api, path: readonly string[]): readonly unknown[] {
  const field = path.reduce<OpenApiSchema | undefined>((schema, name) => schema?.properties?.[name], spec.schema);
  return field?.enum ?? [];
}

describe.each(kinds.map((api) => [api.kind, api] as const))('a change of a %s', (_kind, api) => {
  test('is refused for what stays as it was, and only then', async () => {
    await server.client.create(api, objectOf(api, {}, 'changing'));
    const change = (spec: unknown) =>
      refusal(
        server.client.patch(
          api,
          { namespace, name: 'changing' },
          'merge',
          { spec },
          {
            dryRun: true,
            fieldValidation: 'Strict',
          },
        ),
      );
    for (const { path, absent, message } of api.spec.transitions) {
      // Nothing can be taken from what is empty at first.
      if (['storagePolicies', 'additionalStores', 'flavorID'].includes(path.at(-1) ?? '')) continue;
      // What a field needs beside it.
      const beside: Readonly<Record<string, object | undefined>> = { backup: { type: 'pvc' } };
      const place = (value: unknown) =>
        path.reduceRight<unknown>((inner, name) => {
          const more = beside[name];
          return { [name]: typeof inner === 'object' && !Array.isArray(inner) ? { ...more, ...inner } : inner };
        }, value);
      const words = expect.stringContaining(message);
      const same = JSON.parse(absent);
      const number = typeof same === 'number' ? (same > 1 ? same - 1 : same + 1) : undefined;
      const text = choicesAt(api, path).find((choice) => choice !== same) ?? 'other';
      const other = path.at(-1) === 'cells' ? [{ name: 'other' }] : (number ?? text);
      expect(await change(place(other))).toContainEqual(
        expect.objectContaining({ field: `spec.${path.join('.')}`, message: words }),
      );
      if (typeof same === 'number' || same.length > 0)
        expect(await change(place(same)), path.join('.')).toBeUndefined();
    }
  });
});

test('a field that stays as it was cannot be left out either', async () => {
  const api = controlPlane;
  const spec = { nova: { cellName: 'first' }, mariadb: { storage: { size: '50Gi', storageClassName: 'fast' } } };
  await server.client.create(api, objectOf(api, spec, 'shrinking'));
  const change = (patch: unknown) =>
    refusal(server.client.patch(api, { namespace, name: 'shrinking' }, 'merge', { spec: patch }, { dryRun: true }));
  expect(await change({ nova: null })).toMatchObject([{ field: 'spec.nova.cellName' }]);
  expect(await change({ mariadb: null })).toMatchObject([{ field: 'spec.mariadb.storage.storageClassName' }]);
  // A size that no volume has come to, as its StorageClass lets none grow, is taken back so.
  expect(await change({ mariadb: { storage: { size: null } } })).toBeUndefined();
  expect(await change({ mariadb: { storage: { size: '1Gi' } } })).toBeUndefined();
});

test('another issuer signs when no client trusts the one before any more', async () => {
  const own = { enabled: true };
  const [one, other] = ['one', 'other'].map((name) => ({ ...own, issuerRef: { name } }));
  for (const [kind, allowed] of [
    ['MariaDB', true],
    ['RabbitMQ', true],
    ['OVNNetwork', true],
    ['Keystone', false],
  ] as const) {
    const api = kinds.find((one) => one.kind === kind) as Api;
    const changes = async (from: object | undefined, to: object | null) => {
      const name = `signed-${Math.abs(JSON.stringify([from, to]).length)}`;
      await server.client.create(api, objectOf(api, from === undefined ? {} : { tls: from }, name));
      const patch = server.client.patch(api, { namespace, name }, 'merge', { spec: { tls: to } }, { dryRun: true });
      const refused = await refusal(patch);
      await server.client.delete(api, { namespace, name });
      return refused?.map(({ field }) => field);
    };
    const refused = ['spec.tls.issuerRef'];
    expect(await changes(own, one ?? null)).toEqual(refused);
    expect(await changes(one, other ?? null)).toEqual(refused);
    expect(await changes(one, { enabled: false, issuerRef: null })).toEqual(refused);
    expect(await changes({ ...one, enabled: false }, other ?? null)).toEqual(allowed ? undefined : refused);
    expect(await changes(one, null)).toBeUndefined();
    expect(await changes(undefined, one ?? null)).toBeUndefined();
  }
});

test('what encrypts the secrets of Barbican stays as it was while there is a Barbican', async () => {
  const key = (name: string) => ({ keyEncryptionKeySecretName: name });
  const refused = [{ field: 'spec.barbican.keyEncryptionKeySecretName' }];
  const api = controlPlane;
  const changing = async (name: string, barbican: object | undefined) => {
    await server.client.create(api, objectOf(api, barbican === undefined ? {} : { barbican }, name));
    return (to: object | null) =>
      refusal(server.client.patch(api, { namespace, name }, 'merge', { spec: { barbican: to } }, { dryRun: true }));
  };
  const named = await changing('named', key('own'));
  expect(await named({ keyEncryptionKeySecretName: null })).toMatchObject(refused);
  expect(await named({ enabled: false, ...key('other') })).toMatchObject(refused);
  expect(await named({ enabled: false })).toBeUndefined();
  expect(await named(null)).toBeUndefined();
  const generated = await changing('generated', {});
  expect(await generated(key('own'))).toMatchObject(refused);
  const without = await changing('without', undefined);
  expect(await without(key('own'))).toBeUndefined();
});

test('the provider amphora is not removed, and may be changed', async () => {
  const api = kinds.find(({ kind }) => kind === 'Octavia') as Api;
  const amphora = {
    flavorID: 'small',
    imageOwnerID: 'service',
    managementNetworkID: 'management',
    securityGroupIDs: ['amphorae'],
    controllerAddresses: ['192.0.2.1:5555'],
  };
  await server.client.create(api, objectOf(api, { amphora }, 'balancing'));
  const change = (to: object | null) =>
    refusal(
      server.client.patch(api, { namespace, name: 'balancing' }, 'merge', { spec: { amphora: to } }, { dryRun: true }),
    );
  expect(await change(null)).toMatchObject([{ field: 'spec.amphora.flavorID' }]);
  expect(await change({ flavorID: 'large' })).toBeUndefined();
});

test('a cell is not removed', async () => {
  const api = kinds.find(({ kind }) => kind === 'Nova') as Api;
  await server.client.create(api, objectOf(api, { cells: [{ name: 'a' }] }, 'cells'));
  const ref = { namespace, name: 'cells' };
  const renamed = server.client.patch(api, ref, 'merge', { spec: { cells: [{ name: 'b' }] } }, { dryRun: true });
  expect(await refusal(renamed)).toMatchObject([{ field: 'spec.cells' }]);
});

test('a storage policy is neither removed nor made another one', async () => {
  const api = kinds.find(({ kind }) => kind === 'Swift') as Api;
  const gold = { index: 1, name: 'gold', replicaCount: 2 };
  await server.client.create(api, objectOf(api, { storagePolicies: [gold] }, 'policies'));
  const change = (storagePolicies: object[]) =>
    refusal(
      server.client.patch(
        api,
        { namespace, name: 'policies' },
        'merge',
        { spec: { storagePolicies } },
        { dryRun: true },
      ),
    );
  for (const wrong of [[], [{ ...gold, replicaCount: 3 }], [{ ...gold, name: 'silver' }], [{ ...gold, index: 2 }]])
    expect((await change(wrong))?.[0]).toMatchObject({ field: 'spec.storagePolicies' });
  expect(
    await change([
      { ...gold, deprecated: true },
      { index: 2, name: 'silver' },
    ]),
  ).toBeUndefined();
});

test('a store of images is neither removed nor put elsewhere', async () => {
  const api = kinds.find(({ kind }) => kind === 'Glance') as Api;
  const fast = { name: 'fast', type: 'ceph', cephPoolName: 'fast-images' };
  await server.client.create(api, objectOf(api, { additionalStores: [fast] }, 'stores'));
  const change = (spec: object) =>
    refusal(server.client.patch(api, { namespace, name: 'stores' }, 'merge', { spec }, { dryRun: true }));
  const swift = { name: 'fast', type: 'swift' };
  for (const wrong of [[], null, [swift], [{ ...fast, cephPoolName: 'others' }], [{ ...fast, name: 'faster' }]])
    expect((await change({ additionalStores: wrong }))?.[0]).toMatchObject({
      field: 'spec.additionalStores',
      message: expect.stringContaining('a store can neither be taken away nor get another type, pool'),
    });
  const archive = { name: 'archive', type: 'swift' };
  expect(await change({ additionalStores: [archive, { ...fast, description: 'on flash' }] })).toBeUndefined();
});

test('a group of storage nodes keeps its volumes, or its devices of nodes', async () => {
  const api = kinds.find(({ kind }) => kind === 'Swift') as Api;
  const disks = { name: 'disks', zone: 1, nodeSelector: { disks: 'yes' }, hostPath: { devices: ['sdb', 'sdc'] } };
  const volumes = { name: 'volumes', zone: 2 };
  await server.client.create(api, objectOf(api, { storageGroups: [disks, volumes] }, 'disks'));
  const change = (...storageGroups: object[]) =>
    refusal(
      server.client.patch(api, { namespace, name: 'disks' }, 'merge', { spec: { storageGroups } }, { dryRun: true }),
    );
  const refusals: readonly (readonly [object, object, string, string])[] = [
    [{ name: 'disks', zone: 1 }, volumes, '[0].hostPath', 'keeps its volumes or its hostPath'],
    [disks, { ...disks, ...volumes }, '[1].hostPath', 'keeps its volumes or its hostPath'],
    [{ ...disks, hostPath: { devices: ['sdb'] } }, volumes, '[0].hostPath.devices', 'no device can be taken away'],
    [
      { ...disks, hostPath: { ...disks.hostPath, path: '/data' } },
      volumes,
      '[0].hostPath.path',
      'cannot be changed after creation',
    ],
  ];
  for (const [first, second, at, words] of refusals)
    expect((await change(first, second))?.[0]).toMatchObject({
      field: `spec.storageGroups${at}`,
      message: expect.stringContaining(words),
    });
  const more = { ...disks, hostPath: { devices: ['sdb', 'sdc', 'sdd'] } };
  expect(await change(more, volumes)).toBeUndefined();
});

test('a Swift without storage nodes of its own says later in which StorageClass their volumes are', async () => {
  const api = kinds.find(({ kind }) => kind === 'Swift') as Api;
  const spec = { storageNodes: 0, storageGroups: [{ name: 'volumes', zone: 1, storageNodes: 3 }] };
  const change = (name: string) => {
    const patch = { spec: { storageNodes: 3, storage: { storageClassName: 'xfs' } } };
    return refusal(server.client.patch(api, { namespace, name }, 'merge', patch, { dryRun: true }));
  };
  await server.client.create(api, objectOf(api, spec, 'none'));
  expect(await change('none')).toBeUndefined();
  await server.client.create(api, objectOf(api, { ...spec, storageNodes: 1 }, 'some'));
  expect((await change('some'))?.[0]).toMatchObject({ field: 'spec.storage.storageClassName' });
});

test('a backend keeps its volumes where they are', async () => {
  const api = kinds.find(({ kind }) => kind === 'Cinder') as Api;
  const backend = { name: 'fast', type: 'ceph', cephPoolName: 'volumes' };
  await server.client.create(api, objectOf(api, { backends: [backend] }, 'backends'));
  const ref = { namespace, name: 'backends' };
  const change = (more: object) =>
    refusal(
      server.client.patch(api, ref, 'merge', { spec: { backends: [{ ...backend, ...more }] } }, { dryRun: true }),
    );
  expect(await change({ cephPoolName: 'others' })).toMatchObject([{ field: 'spec.backends' }]);
  expect(await change({ backendHost: 'others' })).toMatchObject([{ field: 'spec.backends' }]);
  expect(await change({ rootHelpers: true })).toBeUndefined();
});

test('backups stay where they are, for as long as any are stated', async () => {
  const api = kinds.find(({ kind }) => kind === 'Cinder') as Api;
  await server.client.create(api, objectOf(api, { backup: { type: 'ceph' } }, 'backups'));
  const change = (backup: object | null) =>
    refusal(server.client.patch(api, { namespace, name: 'backups' }, 'merge', { spec: { backup } }, { dryRun: true }));
  expect(await change({ type: 'pvc' })).toMatchObject([{ field: 'spec.backup' }]);
  expect(await change({ cephPoolName: 'others' })).toMatchObject([{ field: 'spec.backup' }]);
  expect(await change({ cephPoolName: 'backups' })).toBeUndefined();
  expect(await change(null)).toBeUndefined();
});

test('an optional service that was stated as disabled is bound by what it has stated, not by defaults', async () => {
  const disabled = { enabled: false, storage: { storageClassName: 'fast' } };
  await server.client.create(controlPlane, objectOf(controlPlane, { swift: disabled }, 'disabled'));
  const change = (swift: object) =>
    refusal(
      server.client.patch(
        controlPlane,
        { namespace, name: 'disabled' },
        'merge',
        { spec: { swift } },
        { dryRun: true },
      ),
    );
  expect(await change({ enabled: true, devicesPerNode: 2 })).toBeUndefined();
  expect(await change({ enabled: true, storage: { storageClassName: 'slow' } })).toMatchObject([
    { field: 'spec.swift.storage.storageClassName' },
  ]);
});

test('a Swift whose rings were too large before that was a rule can be changed, and does not grow', async () => {
  const [definition, earlier] = [false, true].map((isEarlier) => {
    const crd = readConfig(`crd/bases/${group}_swifts.yaml`) as CustomResourceDefinition & {
      spec: { group: string; versions: [{ schema: { openAPIV3Schema: { properties: { spec: Rules } } } }] };
    };
    crd.metadata.name = `swifts.earlier.${group}`;
    crd.spec.group = `earlier.${group}`;
    if (isEarlier) delete crd.spec.versions[0].schema.openAPIV3Schema.properties.spec['x-kubernetes-validations'];
    return crd;
  });
  const Earlier = defineKind(`earlier.${group}/${version}`, 'Swift', 'swifts');
  const install = async (crd: CustomResourceDefinition | undefined) =>
    await server.client.apply(CustomResourceDefinition, crd as CustomResourceDefinition, {
      fieldManager: 'conformance',
      force: true,
    });
  const api = kinds.find(({ kind }) => kind === 'Swift') as Api;
  const spec = { storageNodes: 97, storagePolicy: { partitionPower: 14 } };
  const object = { ...objectOf(api, spec, 'large'), apiVersion: `earlier.${group}/${version}` };
  const change = (more: object) =>
    refusal(server.client.patch(Earlier, { namespace, name: 'large' }, 'merge', { spec: more }, { dryRun: true }));
  // A definition counts some moments after it was installed.
  const until = async (holds: () => Promise<boolean>) => {
    for (let tries = 0; tries < 100 && !(await holds()); tries += 1) await sleep(realClock, 100);
  };
  await install(earlier);
  await until(() =>
    server.client.create(Earlier, object).then(
      () => true,
      () => false,
    ),
  );
  await install(definition);
  await until(async () => (await change({ storageNodes: 98 })) !== undefined);
  expect(await change({ storageNodes: 98 })).toMatchObject([{ field: 'spec.storageNodes' }]);
  expect(await change({ replicas: 2 })).toBeUndefined();
  expect(
    await refusal(server.client.create(Earlier, { ...object, metadata: { name: 'new', namespace } })),
  ).toMatchObject([{ field: 'spec.storageNodes' }]);
});
