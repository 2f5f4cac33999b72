import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { label, nameLength } from '../../api/names.ts';
import { knownOptions } from '../../options/known-options.ts';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import { type Manila, taken } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('manila')) as Manila & ReturnType<typeof resource>;
const compose = (spec: Partial<Manila['spec']> = {}) =>
  composed({ ...sample, spec: { ...sample.spec, ...spec } }, surroundings(read));
const problem = (spec: Partial<Manila['spec']>) =>
  compose(spec).steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message;
const textOf = (spec: Partial<Manila['spec']>) => JSON.stringify(objectsOf(compose(spec)));

/** The extra specs of each share type, by its name. */
function typesOf(spec: Partial<Manila['spec']>): Record<string, unknown> {
  const records = objectsOf(compose(spec)).flatMap(({ object }) => {
    const text = (object['stringData'] as Record<string, string> | undefined)?.['records.json'];
    return text === undefined ? [] : [JSON.parse(text) as { resources?: { name: string; attributes: object }[] }];
  });
  const types = records.flatMap(({ resources = [] }) => resources);
  return Object.fromEntries(
    types.map(({ name, attributes }) => [name, (attributes as { extra_specs: object }).extra_specs]),
  );
}

const snapshots = { snapshot_support: 'True', create_share_from_snapshot_support: 'True' };

const filesystem = (name: string) => ({ name, type: 'cephfs', cephFSName: name }) as const;

test('no backend has the name of a section of manila.conf that is there for something else', () => {
  const groups = [...(knownOptions('2025.1', 'manila', [])?.groups() ?? [])];
  const possible = groups.filter((group) => new RegExp(label.pattern).test(group) && group.length <= nameLength.part);
  expect(taken).toEqual(expect.arrayContaining([...possible, 'coordination']));
});

test('each backend has a process, a share type and a file of its own', () => {
  const objects = objectsOf(compose({ backends: [filesystem('fast'), filesystem('slow')] })).map(
    ({ object }) => object,
  );
  const named = (name: RegExp) =>
    objects.flatMap(({ kind, metadata }) => (name.test(metadata.name ?? '') ? [kind] : []));
  expect(named(/^manila-share-(fast|slow)$/)).toEqual(['Deployment', 'NetworkPolicy', 'Deployment', 'NetworkPolicy']);
  const text = JSON.stringify(objects);
  expect(text).toContain('[client.manila]\\n\\tkey = {{ceph-keyrings/ceph.client.manila.keyring|cephkey}}\\n');
  expect(typesOf({ backends: [filesystem('slow')] })).toEqual({
    slow: { share_backend_name: 'slow', driver_handles_share_servers: 'False', ...snapshots },
  });
});

test('one pod runs for each backend, or none, as the spec says by either of its fields', () => {
  const replicas = (spec: Partial<Manila['spec']>) =>
    objectsOf(compose({ backends: [filesystem('fast')], ...spec })).flatMap(({ object: { kind, metadata, spec } }) =>
      kind === 'Deployment' && metadata.name === 'manila-share-fast' ? [(spec as { replicas?: number }).replicas] : [],
    );
  expect(replicas({})).toEqual([1]);
  expect(replicas({ shareReplicas: 0 })).toEqual([0]);
  expect(replicas({ components: { share: { replicas: 0 } } })).toEqual([0]);
});

test('where shares are mounted from is written anew when the monitors change', () => {
  const salt = (monitorHosts: string) => {
    const known = surroundings(read);
    const ceph = resource(read('ceph-storage'));
    const external = { ...(ceph.spec as { external?: object }).external, monitorHosts };
    const found = { ...ceph, spec: { ...ceph.spec, external } };
    const references = { ...known.references, cephStorageRef: { found } };
    const spec = { ...sample.spec, backends: [filesystem('fast')] };
    const text = JSON.stringify(objectsOf(composed({ ...sample, spec }, { ...known, references })));
    return /cephfs_ensure_all_shares_salt = ([a-z0-9]+)/.exec(text)?.[1];
  };
  expect(salt('10.0.0.1')).toBeDefined();
  expect(salt('10.0.0.1')).toBe(salt('10.0.0.1'));
  expect(salt('10.0.0.2')).not.toBe(salt('10.0.0.1'));
});

test('what a backend was is remembered, share servers included; one that is gone keeps its process', () => {
  const filer = { name: 'filer', type: 'netapp', shareServers: true } as const;
  const { steps } = compose({ backends: [filesystem('fast'), filer] });
  const text = JSON.stringify(steps);
  expect(text).toContain('netapp-with-share-servers manila@filer');
  const lasting = { 'spec.backends[name=slow]': 'cephfs manila@slow#slow' };
  const remembered = { 'spec.backends[name=slow]': filesystem('slow') };
  const spec = { ...sample.spec, backends: [filesystem('fast')] };
  const gone = composed({ ...sample, spec }, surroundings(read, { lasting, remembered }));
  expect(objectsOf(gone).map(({ object }) => `${object.kind} ${object.metadata.name}`)).toContain(
    'Deployment manila-share-slow',
  );
  expect(gone.staying).toMatchObject({ plan: { backends: { binary: 'manila-share', gone: ['manila@slow'] } } });
});

test('CephFS asks no other service, other drivers may', () => {
  const cephfs = { backends: [filesystem('fast')] };
  const generic = { backends: [{ name: 'servers', type: 'generic' }] } as const;
  expect(textOf(cephfs)).not.toContain('[neutron]');
  expect(textOf(cephfs)).toContain('enabled_share_protocols = CEPHFS\\n');
  const text = textOf(generic);
  for (const section of ['neutron', 'nova', 'cinder', 'glance']) expect(text).toContain(`[${section}]`);
  expect(text).toContain('driver_handles_share_servers = true');
  expect(typesOf(generic)['servers']).toMatchObject({ driver_handles_share_servers: 'True' });
});

test('what a driver that nobody knows can do with snapshots its type does not promise', () => {
  const config = { 'manila.conf': { filer: { share_driver: 'vendor.Driver' } } };
  const custom = { name: 'filer', type: 'custom', shareServers: true, config } as const;
  expect(typesOf({ backends: [custom] })).toEqual({
    filer: { share_backend_name: 'filer', driver_handles_share_servers: 'True' },
  });
  expect(typesOf({ backends: [{ name: 'filer', type: 'netapp' }] })['filer']).toMatchObject(snapshots);
});

test('types of shares are records: they lead to their backend with what that can do, and say what is stated', () => {
  const shareTypes = [
    { name: 'gold', description: 'Fast.', backend: 'fast', isPublic: false, extraSpecs: { dedupe: 'True' } },
    { name: 'plain', backend: 'fast', extraSpecs: { snapshot_support: 'False' } },
    { name: 'any', driverHandlesShareServers: true },
    { name: 'servers', backend: 'generic' },
  ];
  const spec = {
    backends: [filesystem('fast'), { name: 'generic', type: 'generic' } as const],
    shareTypes,
    defaultBackend: undefined,
    defaultShareType: 'gold',
  };
  const objects = objectsOf(compose(spec as never));
  const records = objects.flatMap(({ object }) => {
    const { 'records.json': text } = (object['stringData'] ?? {}) as Record<string, string>;
    return text?.includes('stated share type') === true ? [text] : [];
  });
  const { resources } = JSON.parse(records[0] ?? '') as {
    resources: { kind: string; name: string; attributes: object }[];
  };
  const servers = (value: string) => ({ driver_handles_share_servers: value });
  const own = { share_backend_name: 'fast', ...servers('False') };
  const access = 'share_type_access:is_public';
  expect(resources.slice(2).map(({ name, attributes }) => [name, attributes])).toEqual([
    ['gold', { description: 'Fast.', [access]: false, extra_specs: { ...own, ...snapshots, dedupe: 'True' } }],
    ['plain', { [access]: true, extra_specs: { ...own, snapshot_support: 'False' } }],
    ['any', { [access]: true, extra_specs: servers('True') }],
    ['servers', { [access]: true, extra_specs: { share_backend_name: 'generic', ...servers('True'), ...snapshots } }],
  ]);
  expect(JSON.stringify(objects)).toContain('default_share_type = gold\\n');
});

test.each<[string, Partial<Manila['spec']>, string]>([
  [
    'a driver that nobody names',
    { backends: [{ name: 'filer', type: 'custom' }] },
    'spec.backends[name=filer].config: type custom needs the option share_driver of section filer of manila.conf: the class of the driver',
  ],
  [
    'an option that follows from a field',
    { backends: [{ ...filesystem('fast'), config: { 'manila.conf': { fast: { cephfs_filesystem_name: 'other' } } } }] },
    'spec.backends[name=fast].config["manila.conf"].fast.cephfs_filesystem_name: this option follows from other fields: set spec.backends[name=fast].cephFSName instead',
  ],
  [
    'a section of a backend elsewhere',
    { backends: [filesystem('fast')], config: { 'manila.conf': { fast: { cephfs_auth_id: 'other' } } } },
    'spec.config["manila.conf"].fast: the section of a backend is set in spec.backends[name=fast].config',
  ],
  [
    'a filesystem in no cluster',
    { backends: [filesystem('fast')], cephStorageRef: undefined } as never,
    'spec.backends[name=fast].type: ceph needs a cluster; set spec.cephStorageRef, or spec.cephStorage of the control plane',
  ],
])('%s is refused', (_what, spec, words) => {
  expect(problem(spec)).toBe(words);
});
