import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import type { Glance } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('glance')) as Glance & ReturnType<typeof resource>;
const compose = (spec: Partial<Glance['spec']>) =>
  composed({ ...sample, spec: { ...sample.spec, ...spec } }, surroundings(read));
const inCeph = { storageType: 'ceph', cephPoolName: 'images', cephStorageRef: { name: 'ceph' } } as const;

test('images in Ceph need no volume, and the internal API alone shows where they are', () => {
  const objects = objectsOf(compose(inCeph)).map(({ object }) => object);
  const named = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(named).toEqual(expect.arrayContaining(['Deployment glance-api', 'Deployment glance-internal']));
  expect(named.filter((name) => name.startsWith('PersistentVolumeClaim'))).toEqual([]);
  const showing = objects.filter((object) => JSON.stringify(object).includes('show_image_direct_url = true'));
  expect(showing.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
    ['ConfigMap', expect.stringMatching(/^glance-internal-config-/)],
  ]);
  const records = JSON.stringify(objects.find(({ metadata }) => metadata.name === 'glance-endpoint-create'));
  expect(records).toContain('\\"internal\\": \\"http://glance-internal.openstack.svc:9292\\"');
  expect(records).not.toContain('\\"public\\": \\"http://glance-internal');
});

test('who may see where images are is told where nobody says which networks are those of nodes', () => {
  const remarks = (spec: Partial<Glance['spec']>) =>
    compose(spec).steps.find(({ condition }) => condition === 'ConfigReady')?.remarks ?? [];
  const policy = (spec: Partial<Glance['spec']>) =>
    objectsOf(compose(spec)).find(({ object: { kind, metadata } }) => `${kind} ${metadata.name}` === ofInternal)
      ?.object;
  const ofInternal = 'NetworkPolicy glance-internal';
  expect(remarks(inCeph)).toEqual([expect.stringContaining('spec.nodeNetworks: not set')]);
  expect(JSON.stringify(policy(inCeph))).not.toContain('ipBlock');
  const nodeNetworks = ['10.0.0.0/16'];
  expect(remarks({ ...inCeph, nodeNetworks })).toEqual([]);
  expect(JSON.stringify(policy({ ...inCeph, nodeNetworks }))).toContain('"ipBlock":{"cidr":"10.0.0.0/16"}');
  expect(remarks({})).toEqual([]);
});

test('what is said of the API holds for the internal one, too', () => {
  const objects = objectsOf(compose({ ...inCeph, image: 'registry.example.com/glance:patched', replicas: 0 }));
  const apis = objects.flatMap(({ object: { kind, spec } }) => (kind === 'Deployment' ? [spec] : []));
  const container = { image: 'registry.example.com/glance:patched' };
  expect(apis).toMatchObject([1, 2].map(() => ({ replicas: 0, template: { spec: { containers: [container] } } })));
});

test('with images in Ceph there may be more than one pod, on a volume there may not', () => {
  const components = { api: { replicas: 2 } };
  const problem = (spec: object) =>
    compose(spec).steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message;
  expect(problem({ ...inCeph, components })).toBeUndefined();
  expect(problem({ components })).toContain('spec.components.api.replicas: replicas of api is at most 1');
});

test('locations are set at the internal API alone, by who has a token of a service', () => {
  const objects = objectsOf(compose(inCeph)).map(({ object }) => object);
  const setting = objects.filter((object) => JSON.stringify(object).includes('show_multiple_locations = true'));
  expect(setting.map(({ metadata }) => metadata.name)).toEqual([expect.stringMatching(/^glance-internal-config-/)]);
  expect(JSON.stringify(setting)).toContain('set_image_location: service_roles:service');
});

const objectsInSwift = { storageType: 'swift', swiftRef: { name: 'swift' } } as const;

test('images in Swift need no volume, and the file that says how to log in is a Secret', () => {
  const all = objectsOf(compose({ ...objectsInSwift, replicas: 2 }));
  const named = all.map(({ object: { kind, metadata } }) => `${kind} ${metadata.name}`);
  expect(named.filter((name) => /^(?:PersistentVolumeClaim|Deployment glance-internal)/u.test(name))).toEqual([]);
  const holding = all.filter(({ object }) => JSON.stringify(object).includes('auth_address = '));
  expect(holding).toMatchObject([{ verb: 'resolve', object: { kind: 'Secret' } }]);
  const text = JSON.stringify(holding);
  expect(text).toContain('key = \\"{{glance-service-password/password|percent}}\\"');
  expect(text).toContain('user = service:glance');
  const [conf] = all.filter(({ object }) => JSON.stringify(object).includes('enabled_backends = swift:swift'));
  expect(JSON.stringify(conf)).toContain('swift_store_config_file = /etc/glance/glance-swift.conf');
  const pods = all.filter(({ object: { kind } }) => kind === 'Deployment');
  expect(JSON.stringify(pods)).toContain('OS_DEFAULT__WORKER_SELF_REFERENCE_URL');
});

test('the API waits for Swift where images are kept there, and not elsewhere', () => {
  const awaited = (spec: Partial<Glance['spec']>) =>
    compose(spec)
      .steps.find(({ condition }) => condition === 'DeploymentReady')
      ?.awaits.map(({ kind, name }) => `${kind.kind} ${name}`);
  expect(awaited(objectsInSwift)).toEqual(['Keystone keystone', 'Swift swift']);
  expect(awaited({ swiftRef: { name: 'swift' } })).toEqual(['Keystone keystone']);
});

test('images in Swift are found by its name, and another one is refused, and so is none', () => {
  const told = (spec: Partial<Glance['spec']>, lasting = {}) => {
    const { status, steps } = composed(
      { ...sample, spec: { ...sample.spec, ...spec } },
      surroundings(read, { lasting }),
    );
    const message = steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message ?? '';
    return { lasting: (status as { lasting?: object }).lasting, message };
  };
  const lasting = { 'spec.storageType': 'swift', 'spec.swiftRef': 'Swift swift' };
  expect(told(objectsInSwift)).toEqual({ lasting, message: '' });
  expect(told(objectsInSwift, { ...lasting, 'spec.swiftRef': 'Swift other' }).message).toContain(
    'spec.swiftRef: it was Swift other before',
  );
  expect(told({ storageType: 'pvc' }, lasting).message).toContain('spec.storageType: it was swift before');
  expect(told({ storageType: 'swift' }).message).toBe(
    'spec.storageType: swift needs a Swift; set spec.swiftRef, or spec.swift of the control plane',
  );
});

test('images in Ceph need a cluster', () => {
  const { steps } = compose({ storageType: 'ceph', cephStorageRef: undefined } as never);
  expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message).toBe(
    'spec.storageType: ceph needs a cluster; set spec.cephStorageRef, or spec.cephStorage of the control plane',
  );
});

const fast = { name: 'fast', type: 'ceph', cephPoolName: 'fast-images', description: 'on flash' } as const;
const archive = { name: 'archive', type: 'swift' } as const;
const remote = {
  name: 'remote',
  type: 's3',
  s3: { endpoint: 'https://s3.example.com', bucket: 'images', region: 'eu-1', secretName: 's3-keys' },
} as const;
const problemOf = (composition: ReturnType<typeof compose>) =>
  composition.steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message;
/** What objects say of the public API's file. */
const fileOf = (spec: Partial<Glance['spec']>) =>
  JSON.stringify(objectsOf(compose(spec)).find(({ object }) => JSON.stringify(object).includes('enabled_backends')));

test('further stores have sections of their names, and the first one stays the default', () => {
  const more = { ...objectsInSwift, cephStorageRef: { name: 'ceph' }, additionalStores: [fast, archive] };
  const file = fileOf(more);
  for (const line of [
    'enabled_backends = swift:swift,fast:rbd,archive:swift\\n',
    'default_backend = swift\\n',
    '[fast]\\nrbd_store_ceph_conf = /etc/ceph/ceph.conf\\nrbd_store_pool = fast-images\\nrbd_store_user = glance\\nstore_description = on flash\\n',
    'swift_store_container = glance\\n',
    'swift_store_container = glance-archive\\n',
  ])
    expect(file).toContain(line);
  const names = objectsOf(compose(more)).map(({ object: { kind, metadata } }) => `${kind} ${metadata.name}`);
  expect(names).toContain('Deployment glance-internal');
  expect(names.some((name) => name.startsWith('PersistentVolumeClaim'))).toBe(false);
});

test('new images go to a further store, and those of storageType are found in theirs', () => {
  const file = fileOf({ additionalStores: [remote], defaultStore: 'remote' });
  for (const line of ['enabled_backends = local:file,remote:s3\\n', 'default_backend = remote\\n', '[local]\\n'])
    expect(file).toContain(line);
});

test('keys of S3 stand in no ConfigMap, and the client sends no checksums that servers do not know', () => {
  const all = objectsOf(compose({ ...objectsInSwift, additionalStores: [remote] }));
  expect(fileOf({ ...objectsInSwift, additionalStores: [remote] })).toContain(
    '[remote]\\ns3_store_bucket = images\\ns3_store_host = https://s3.example.com\\ns3_store_region_name = eu-1\\n',
  );
  const keys = all.filter(({ object }) => JSON.stringify(object).includes('s3-keys'));
  expect(keys.map(({ object: { kind } }) => kind)).toEqual(['Secret']);
  expect(JSON.stringify(keys)).toContain('"OS_REMOTE__S3_STORE_SECRET_KEY":"{{s3-keys/secretKey}}"');
  const pods = all.filter(({ object: { kind } }) => kind === 'Deployment');
  expect(JSON.stringify(pods)).toContain('{"name":"AWS_REQUEST_CHECKSUM_CALCULATION","value":"when_required"}');
});

const blocks = { name: 'blocks', type: 'cinder', volumeType: 'images' } as const;
const inVolumes = {
  ...inCeph,
  cinderRef: { name: 'cinder' },
  nodeNetworks: ['10.0.0.0/16'],
  additionalStores: [blocks],
} as const;
/** Beside a Cinder of such a spec. */
function besideCinder(
  spec: Partial<Glance['spec']>,
  { lasting = {}, ...cinder }: { lasting?: Record<string, string>; [field: string]: unknown } = {},
) {
  const world = surroundings(read, { lasting });
  const found = resource(read('cinder'));
  const backends = [{ name: 'ceph', type: 'ceph', cephPoolName: 'volumes' }];
  const cinderRef = { found: { ...found, spec: { ...found.spec, backends, ...cinder } } };
  const known = { ...world, references: { ...world.references, cinderRef } };
  return composed({ ...sample, spec: { ...sample.spec, ...spec } }, known);
}

test('a store of volumes logs in as Glance, has the key of the user of volumes, and needs no capability', () => {
  const all = objectsOf(besideCinder(inVolumes)).map(({ object }) => object);
  const file = JSON.stringify(all.find((object) => JSON.stringify(object).includes('enabled_backends')));
  for (const line of [
    'enabled_backends = ceph:rbd,blocks:cinder\\n',
    '[blocks]\\ncinder_os_region_name = RegionOne\\ncinder_store_auth_address = http://keystone-api.openstack.svc:5000/v3\\n',
    'cinder_store_project_domain_name = Default\\ncinder_store_project_name = service\\n',
    'cinder_store_user_name = glance\\ncinder_volume_type = images\\n',
    '[privsep_osbrick]\\ncapabilities = \\nhelper_command = privsep-helper --config-file /etc/glance/glance-api.conf\\n',
  ])
    expect(file).toContain(line);
  const secrets = all.filter((object) => JSON.stringify(object).includes('OS_BLOCKS__CINDER_STORE_PASSWORD'));
  expect(secrets.map(({ kind }) => kind)).toContain('Secret');
  expect(JSON.stringify(all)).toContain('ceph.client.cinder.keyring');
  expect(all.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name)).toEqual([
    'glance-api',
    'glance-internal',
  ]);
  expect(JSON.stringify(all)).not.toContain('SYS_ADMIN');
  expect(besideCinder(inVolumes).steps.find(({ condition }) => condition === 'DeploymentReady')?.awaits).toMatchObject([
    { name: 'keystone' },
    { name: 'cinder' },
  ]);
});

test('in Swift and in volumes, no key of images in Ceph is in the pods; beside a volume images are copied', () => {
  const file = JSON.stringify(
    objectsOf(
      besideCinder({ ...inVolumes, ...objectsInSwift, additionalStores: [{ name: 'blocks', type: 'cinder' }] }),
    ),
  );
  expect(file).not.toContain('ceph.client.glance.keyring');
  expect(file).not.toContain('cinder_volume_type');
  expect(file).toContain('Deployment');
  const { steps } = besideCinder({ ...inVolumes, storageType: 'pvc', cephPoolName: undefined } as never);
  expect(steps.find(({ condition }) => condition === 'ConfigReady')?.remarks).toEqual([
    expect.stringContaining('spec.additionalStores: volumes copy the images that lie in Cinder'),
  ]);
});

test('images as volumes need a Cinder, and volumes that lie in Ceph', () => {
  const at = 'spec.additionalStores[name=blocks].type';
  expect(problemOf(besideCinder(inVolumes))).toBeUndefined();
  expect(problemOf(besideCinder({ ...inVolumes, cinderRef: undefined } as never))).toBe(
    `${at}: cinder needs a Cinder; set spec.cinderRef, or spec.cinder of the control plane`,
  );
  expect(problemOf(besideCinder({ ...inVolumes, ...objectsInSwift, cephStorageRef: undefined } as never))).toBe(
    `${at}: ceph needs a cluster; set spec.cephStorageRef, or spec.cephStorage of the control plane`,
  );
  const backends = [
    { name: 'ceph', type: 'ceph', cephPoolName: 'volumes' },
    { name: 'share', type: 'custom' },
  ];
  const told = (volumeType: string | undefined, spec: object = {}) =>
    problemOf(
      besideCinder(
        { ...inVolumes, additionalStores: [{ name: 'blocks', type: 'cinder', ...(volumeType && { volumeType }) }] },
        { backends, ...spec },
      ),
    );
  expect(told('ceph')).toBeUndefined();
  expect(told(undefined)).toBeUndefined();
  expect(told('share')).toBe(
    `${at}: volumes of type share may lie in backend share of the Cinder, and images are kept as volumes in backends of type ceph only; set volumeType to a type of such a one`,
  );
  expect(told(undefined, { defaultBackend: 'share' })).toContain(
    'volumes of the default type may lie in backend share',
  );
  expect(told('images', { volumeTypes: [{ name: 'images' }] })).toContain('in backend share of the Cinder');
  expect(told('images', { volumeTypes: [{ name: 'images', backend: 'ceph' }] })).toBeUndefined();
});

test('which Cinder has them is remembered; the type of new volumes may change', () => {
  const { status } = besideCinder(inVolumes);
  const lasting = { 'spec.additionalStores[name=blocks]': 'cinder', 'spec.cinderRef': 'Cinder cinder' };
  expect(status).toMatchObject({ lasting });
  const told = (spec: object, was = lasting) => problemOf(besideCinder({ ...inVolumes, ...spec }, { lasting: was }));
  expect(told({ additionalStores: [{ ...blocks, volumeType: 'ceph' }] })).toBeUndefined();
  expect(told({}, { ...lasting, 'spec.cinderRef': 'Cinder other' })).toContain('spec.cinderRef: it was Cinder other');
});

test('beside a volume images in Ceph are copied, and one pod runs', () => {
  const spec = { cephStorageRef: { name: 'ceph' }, nodeNetworks: ['10.0.0.0/16'], additionalStores: [fast] };
  const made = compose(spec);
  const names = objectsOf(made).map(({ object: { kind, metadata } }) => `${kind} ${metadata.name}`);
  expect(names).not.toContain('Deployment glance-internal');
  expect(names).toContain('PersistentVolumeClaim glance-images');
  expect(made.steps.find(({ condition }) => condition === 'ConfigReady')?.remarks).toEqual([
    expect.stringContaining('spec.additionalStores: volumes and servers copy the images that lie in Ceph'),
  ]);
  expect(problemOf(compose({ ...spec, components: { api: { replicas: 2 } } }))).toContain('at most 1');
});

test('a further store needs what keeps it', () => {
  expect(problemOf(compose({ additionalStores: [archive] }))).toBe(
    'spec.additionalStores[name=archive].type: swift needs a Swift; set spec.swiftRef, or spec.swift of the control plane',
  );
  const { cephStorageRef: _, ...spec } = sample.spec;
  expect(
    problemOf(
      composed({ ...sample, spec: { ...spec, additionalStores: [fast] } as Glance['spec'] }, surroundings(read)),
    ),
  ).toBe(
    'spec.additionalStores[name=fast].type: ceph needs a cluster; set spec.cephStorageRef, or spec.cephStorage of the control plane',
  );
});

test('what a further store is, is remembered: it is neither taken away nor changed', () => {
  const at = 'spec.additionalStores[name=fast]';
  const told = (additionalStores: Glance['spec']['additionalStores'], lasting = {}) =>
    composed(
      { ...sample, spec: { ...sample.spec, ...inCeph, nodeNetworks: [], additionalStores } as Glance['spec'] },
      surroundings(read, { lasting }),
    );
  expect(told([fast, remote]).status).toMatchObject({
    lasting: {
      [at]: 'ceph fast-images',
      'spec.additionalStores[name=remote]': 's3 images at https://s3.example.com',
      'spec.cephPoolName': 'images',
    },
  });
  const lasting = { [at]: 'ceph fast-images' };
  expect(problemOf(told([fast], lasting))).toBeUndefined();
  expect(problemOf(told([{ ...fast, cephPoolName: 'other' }], lasting))).toContain(
    `${at}: it was ceph fast-images before`,
  );
  expect(problemOf(told([], lasting))).toContain(
    `${at}: it was ceph fast-images before (status.lasting, ConfigMap glance-lasting), and is stated no more`,
  );
});

test('options of a further store that follow from its fields are refused, with the field; others are taken', () => {
  const said = (options: Record<string, string | number>) =>
    compose({ ...inCeph, additionalStores: [fast], config: { 'glance-api.conf': { fast: options } } });
  expect(problemOf(said({ rbd_store_pool: 'other' }))).toContain('spec.additionalStores[name=fast].cephPoolName');
  expect(problemOf(said({ store_description: 'x' }))).toContain('spec.additionalStores[name=fast].description');
  const more = said({ rbd_store_chunk_size: 4, weight: 10 });
  expect(problemOf(more)).toBeUndefined();
  expect(JSON.stringify(objectsOf(more))).toContain('store_description = on flash\\nweight = 10');
});

test('images that are imported are converted where the field is set; else plug-ins are those of users', () => {
  const plugins = { image_import_plugins: '[inject_image_metadata]' };
  const config = { 'glance-api.conf': { image_import_opts: plugins } };
  expect(fileOf({})).not.toContain('image_import_plugins');
  expect(fileOf({ config })).toContain('image_import_plugins = [inject_image_metadata]');
  const imageImport = { convertTo: 'raw' } as const;
  expect(fileOf({ imageImport })).toContain(
    '[image_conversion]\\noutput_format = raw\\n\\n[image_import_opts]\\nimage_import_plugins = [image_conversion]\\n',
  );
  expect(problemOf(compose({ imageImport, config }))).toContain('spec.imageImport.convertTo');
});

test('limits of Keystone are asked for once the endpoint is known, as the system, and where Keystone answers', () => {
  const limited = (found?: object, config = {}) =>
    composed(
      {
        ...sample,
        spec: {
          ...sample.spec,
          config,
          registeredLimits: { imageSizeTotal: '1.5Gi', imageCountTotal: 7 },
        } as Glance['spec'],
        status: { found },
      },
      surroundings(read),
    );
  const records = JSON.stringify(
    objectsOf(limited()).find(({ object }) => object.metadata.name === 'glance-endpoint-create'),
  );
  for (const part of ['image_size_total\\": 1536', 'image_stage_total\\": 10240', 'image_count_total\\": 7'])
    expect(records).toContain(part);
  expect(records.replaceAll(/\\[n"]|\s/gu, '')).toContain('systemRoles:[reader]');
  const waiting = (made: ReturnType<typeof limited>) =>
    made.steps.find(({ condition }) => condition === 'RegisteredLimitsReady')?.problem;
  expect(waiting(limited())).toMatchObject({
    reason: 'Waiting',
    message: expect.stringContaining('the Job glance-endpoint-create tells it') as string,
  });
  expect(JSON.stringify(objectsOf(limited()))).not.toContain('use_keystone_limits');
  const found = { 'endpoint image': 'abc' };
  expect(waiting(limited(found))).toBeUndefined();
  const text = JSON.stringify(objectsOf(limited(found)));
  for (const line of ['use_keystone_limits = true', 'endpoint_id = abc', 'system_scope = all', 'auth_type = password'])
    expect(text).toContain(line);
  expect(/\[oslo_limit\][^[]*/u.exec(text)?.[0]).not.toContain('project_name');
  const said = (options: object) => problemOf(limited(found, { 'glance-api.conf': { oslo_limit: options } }));
  expect(said({ endpoint_service_type: 'image' })).toContain('spec.registeredLimits');
  expect(said({ cafile: '/etc/ssl/mine.crt' })).toBeUndefined();
});

test('copies are kept in each pod, and a container beside the API removes those that have no room', () => {
  const spec = { ...objectsInSwift, imageCache: { maxSize: '1Gi' } };
  const file = fileOf(spec);
  for (const line of [
    'image_cache_max_size = 1073741824',
    'flavor = keystone+cachemanagement',
    'image_cache_dir = /var',
  ])
    expect(file).toContain(line);
  const pods = objectsOf(compose(spec)).filter(({ object: { kind } }) => kind === 'Deployment');
  const containers = pods.map(
    ({ object }) =>
      (object as { spec?: { template?: { spec?: { containers?: object[] } } } }).spec?.template?.spec?.containers,
  );
  const mounted = { volumeMounts: expect.arrayContaining([{ name: 'var-lib-glance', mountPath: '/var/lib/glance' }]) };
  const named = [{ name: 'api' }, { name: 'cache-pruner' }];
  expect(containers).toMatchObject([named.map((one) => ({ ...one, ...mounted }))]);
  const config = { 'glance-api.conf': { DEFAULT: { image_cache_max_size: 1 } } };
  expect(problemOf(compose({ ...spec, config }))).toContain('spec.imageCache');
});
