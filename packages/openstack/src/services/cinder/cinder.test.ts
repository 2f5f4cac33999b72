import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { label, nameLength } from '../../api/names.ts';
import { knownOptions } from '../../options/known-options.ts';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import { type Cinder, taken } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('cinder')) as Cinder & ReturnType<typeof resource>;
const compose = (
  spec: Partial<Cinder['spec']> = {},
  lasting: Readonly<Record<string, string>> = {},
  remembered: Readonly<Record<string, unknown>> = {},
) => composed({ ...sample, spec: { ...sample.spec, ...spec } }, surroundings(read, { lasting, remembered }));
const problem = (spec: Partial<Cinder['spec']>) =>
  compose(spec).steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message;

const pool = (name: string) => ({ name, type: 'ceph', cephPoolName: name }) as const;

test('no backend has the name of a section of cinder.conf that is there for something else', () => {
  const groups = [...(knownOptions('2025.1', 'cinder', [])?.groups() ?? [])];
  const possible = groups.filter((group) => new RegExp(label.pattern).test(group) && group.length <= nameLength.part);
  expect(taken).toEqual(expect.arrayContaining(possible));
});

test('each backend has a process, a volume type and a file of its own', () => {
  const objects = objectsOf(compose({ backends: [pool('fast'), pool('slow')] })).map(({ object }) => object);
  const named = (name: RegExp) =>
    objects.flatMap(({ kind, metadata }) => (name.test(metadata.name ?? '') ? [kind] : []));
  expect(named(/^cinder-volume-(fast|slow)$/)).toEqual(['Deployment', 'NetworkPolicy', 'Deployment', 'NetworkPolicy']);
  expect(named(/^cinder-volume-fast-config(-files)?$/)).toEqual(['Secret', 'Secret']);
  expect(JSON.stringify(objects)).toContain(
    '[client.cinder]\\n\\tkey = {{ceph-keyrings/ceph.client.cinder.keyring|cephkey}}\\n',
  );
});

test('a driver that nobody names is refused', () => {
  expect(problem({ backends: [{ name: 'flash', type: 'custom' }] })).toBe(
    'spec.backends[name=flash].config: type custom needs the option volume_driver of section flash of cinder.conf: the class of the driver',
  );
});

test.each([
  [
    'NfsDriver',
    'expected the class of a driver of Cinder, got "NfsDriver"; did you mean cinder.volume.drivers.nfs.NfsDriver?',
  ],
  ['cinder.volume.drivers.pure.PureISCIDriver', 'did you mean cinder.volume.drivers.pure.PureISCSIDriver?'],
  ['cinder.volume.drivers.nfs.NfsDriver', 'spec.backends[name=flash].rootHelpers: '],
])('the driver %s is refused', (volume_driver, words) => {
  const flash = { name: 'flash', type: 'custom', config: { 'cinder.conf': { flash: { volume_driver } } } } as const;
  expect(problem({ backends: [flash] })).toContain(words);
  expect(problem({ backends: [{ ...flash, rootHelpers: true }], unknownOptions: 'Allow' })).toBeUndefined();
});

test('what an earlier version took of drivers is told, and stops nothing, where a Cinder is Ready with it', () => {
  const config = { 'cinder.conf': { flash: { volume_driver: 'cinder.volume.drivers.acme.AcmeDriver' } } };
  const copies = { 'cinder.conf': { DEFAULT: { backup_driver: 'cinder.backup.drivers.acme.AcmeDriver' } } };
  const spec: Cinder['spec'] = {
    ...sample.spec,
    backends: [{ name: 'flash', type: 'custom', config }],
    backup: { type: 'custom', config: copies },
  };
  const { steps } = composed({ ...sample, spec }, surroundings(read, { wasReady: true }));
  const step = steps.find(({ condition }) => condition === 'ConfigReady');
  expect(step?.problem).toBeUndefined();
  expect(step?.degraded).toEqual([
    expect.stringContaining('flash.volume_driver: expected the class of a driver of Cinder'),
    expect.stringContaining('DEFAULT.backup_driver: expected the class of a driver of Cinder'),
  ]);
});

test('a driver of another package is not judged, one by a former name is known', () => {
  for (const volume_driver of ['acme.cinder.AcmeDriver', 'cinder.volume.drivers.nimble.NimbleFCDriver'])
    expect(
      problem({ backends: [{ name: 'x', type: 'custom', config: { 'cinder.conf': { x: { volume_driver } } } }] }),
    ).toBeUndefined();
});

test('backups of type custom need a driver that Cinder has, and one process', () => {
  const withDriver = (options: object) =>
    problem({ backup: { type: 'custom', config: { 'cinder.conf': { DEFAULT: options } } } } as never);
  expect(problem({ backup: { type: 'custom' } })).toContain(
    'spec.backup.config: type custom needs the option backup_driver of section DEFAULT',
  );
  const backup_driver = 'cinder.backup.drivers.nfs.NFSBackupDriver';
  expect(withDriver({ backup_driver: 'cinder.backup.drivers.nfs' })).toContain(`did you mean ${backup_driver}?`);
  expect(withDriver({ backup_driver, backup_workers: 4 })).toContain('backup_workers');
  expect(withDriver({ backup_driver })).toBeUndefined();
});

test('processes that mount have no profile of AppArmor, the others have the default one', () => {
  const objects = objectsOf(compose({ backends: [{ ...pool('fast'), rootHelpers: true }, pool('slow')] }));
  const text = (name: string) =>
    JSON.stringify(objects.find(({ object }) => object.metadata.name === name && object.kind === 'Deployment'));
  expect(text('cinder-volume-fast')).toContain('"appArmorProfile":{"type":"Unconfined"}');
  expect(text('cinder-volume-slow')).not.toContain('appArmorProfile');
});

test('a backend of NFS has its shares in a file, and says of files what its fields say', () => {
  const nfs = {
    shares: ['10.0.0.20:/a', '[fd00::1]:/b'],
    mountOptions: 'vers=4.2',
    snapshots: true,
    secureFiles: false,
  };
  const backend = { name: 'files', type: 'nfs', nfs, rootHelpers: true } as const;
  const text = JSON.stringify(objectsOf(compose({ backends: [backend] })));
  expect(text).toContain('10.0.0.20:/a\\n[fd00::1]:/b\\n');
  expect(text).toContain('"mountPath":"/etc/cinder/nfs_shares"');
  expect(text).toContain(
    '[files]\\nbackend_host = cinder\\nnas_secure_file_operations = false\\nnas_secure_file_permissions = false\\nnfs_mount_options = vers=4.2\\nnfs_shares_config = /etc/cinder/nfs_shares\\nnfs_snapshot_support = true\\nvolume_backend_name = files\\nvolume_driver = cinder.volume.drivers.nfs.NfsDriver\\n',
  );
  expect(problem({ backends: [backend] })).toBeUndefined();
  const config = { 'cinder.conf': { files: { nas_host: 'nas' } } };
  expect(problem({ backends: [{ ...backend, config }] })).toContain('set spec.backends[name=files].nfs.shares instead');
});

test('what follows from fields is no option', () => {
  const config = { 'cinder.conf': { fast: { rbd_pool: 'other' } } };
  expect(problem({ backends: [{ ...pool('fast'), config }] })).toBe(
    'spec.backends[name=fast].config["cinder.conf"].fast.rbd_pool: this option follows from other fields: set spec.backends[name=fast].cephPoolName instead',
  );
});

test('what a backend is is said of the backend alone', () => {
  const section = { fast: { rbd_pool: 'other' } };
  expect(problem({ backends: [pool('fast')], config: { 'cinder.conf': section } })).toBe(
    'spec.config["cinder.conf"].fast: the section of a backend is set in spec.backends[name=fast].config',
  );
  const config = { 'cinder.conf': { DEFAULT: { backup_driver: 'x' } } };
  expect(problem({ backup: { type: 'ceph', config } })).toContain('set spec.backup.type instead');
});

test('a pool is in a cluster that somebody names', () => {
  const spec = { backends: [pool('fast')], backup: { type: 'ceph' } } as const;
  expect(problem({ ...spec, cephStorageRef: undefined } as never)).toBe(
    'spec.backends[name=fast].type: ceph needs a cluster; set spec.cephStorageRef, or spec.cephStorage of the control plane; ' +
      'spec.backup.type: ceph needs a cluster; set spec.cephStorageRef, or spec.cephStorage of the control plane',
  );
  expect(problem(spec)).toBeUndefined();
});

test('a backend that was another one is refused under its name, also after it was gone', () => {
  const lasting = { 'spec.backends[name=fast]': 'ceph cinder@fast#old', 'spec.backup': 'pvc' };
  const again = compose({ backends: [pool('fast')], backup: { type: 'ceph' } }, lasting);
  const { problem } = again.steps.find(({ condition }) => condition === 'ConfigReady') ?? {};
  expect(problem?.message).toBe(
    'spec.backends[name=fast]: it was ceph cinder@fast#old before (status.lasting, ConfigMap cinder-lasting), and is ceph cinder@fast#fast now: data that are found by it are out of reach; state what it was, or another name, or take the backend away, wait until RemovedBackendsEmpty is True, and add it as it is to be; ' +
      'spec.backup: it was pvc before (status.lasting, ConfigMap cinder-lasting), and is ceph backups now: data that are found by it are out of reach; state what it was, or another name',
  );
  expect(again.status).toMatchObject({ lasting });
  expect(compose({ backends: [pool('fast')] }).status).toMatchObject({
    lasting: { 'spec.backends[name=fast]': 'ceph cinder@fast#fast', 'spec.backup': 'custom' },
  });
});

const flash = (volume_driver: string) =>
  ({ name: 'flash', type: 'custom', config: { 'cinder.conf': { flash: { volume_driver } } } }) as const;
const driverField = 'spec.backends[name=flash].config["cinder.conf"].flash.volume_driver';
const pure = 'cinder.volume.drivers.pure.PureISCSIDriver';

test('a custom backend keeps its driver, which may be stated by a former name', () => {
  const refused = (volume_driver: string, was: string) =>
    compose({ backends: [flash(volume_driver)] }, { [driverField]: was }).steps.find(
      ({ condition }) => condition === 'ConfigReady',
    )?.problem?.message;
  expect(compose({ backends: [flash(pure)] }).status).toMatchObject({ lasting: { [driverField]: pure } });
  expect(refused(pure, pure)).toBeUndefined();
  expect(refused('acme.cinder.AcmeDriver', pure)).toContain(
    `${driverField}: it was ${pure} before (status.lasting, ConfigMap cinder-lasting), and is acme.cinder.AcmeDriver now`,
  );
  expect(
    refused('cinder.volume.drivers.nimble.NimbleFCDriver', 'cinder.volume.drivers.hpe.nimble.NimbleFCDriver'),
  ).toBeUndefined();
});

test('a driver that is refused is not remembered, as it is to be corrected', () => {
  const mistyped = { backends: [flash('cinder.volume.drivers.pure.PureISCIDriver')] };
  expect(compose(mistyped).status).not.toHaveProperty(['lasting', driverField]);
  expect(compose({ ...mistyped, unknownOptions: 'Allow' }).status).toHaveProperty(['lasting', driverField]);
});

test('what is remembered of a backend goes with it', () => {
  const gone = { 'spec.backends[name=flash]': 'custom cinder@flash', [driverField]: pure };
  expect(compose({ backends: [pool('fast')] }, gone).staying).toMatchObject({ fields: Object.keys(gone) });
});

const both = {
  'spec.backends[name=slow]': 'ceph cinder@slow#slow',
  'spec.backends[name=fast]': 'ceph cinder@fast#fast',
};
const disabled = 'cinder-volume cinder@slow';

test('a backend that is stated no more gets nothing new, and is counted before it is forgotten', () => {
  const { steps, staying, status } = compose({ backends: [pool('fast')] }, both, {
    'spec.backends[name=slow]': pool('slow'),
  });
  const asked = steps.find(({ condition }) => condition === 'RemovedBackendsEmpty');
  expect(JSON.stringify(asked?.objects)).toContain('["openstack-operator","count","');
  expect(staying).toMatchObject({
    step: 'RemovedBackendsEmpty',
    plan: { backends: { binary: 'cinder-volume', gone: ['cinder@slow'], back: [] } },
    fields: ['spec.backends[name=slow]'],
    components: [],
  });
  expect(status).toMatchObject({ lasting: { ...both, [disabled]: 'disabled' } });
  expect(compose({ backends: [pool('fast')] }).staying).toBeUndefined();
  // Who is no administrator there is shown no volumes of others.
  const policy = { context_is_admin: 'role:cloud_admin' };
  const doubtful = compose({ backends: [pool('fast')], policy }, both, {}).steps;
  expect(doubtful.find(({ condition }) => condition === 'RemovedBackendsEmpty')?.problem?.message).toContain(
    'spec.policy.context_is_admin: by another rule',
  );
  expect(asked?.problem).toBeUndefined();
});

test('its process is made from its entry as all others are, or left as it is where nobody knows that', () => {
  const slow = { ...pool('slow'), config: { 'cinder.conf': { slow: { rbd_flatten_volume_from_snapshot: true } } } };
  const of = (remembered: Readonly<Record<string, unknown>>) => {
    const { staying, ...composition } = compose(
      { backends: [pool('fast')], release: '2025.1', imageTag: 'newer' },
      both,
      remembered,
    );
    const processes = objectsOf(composition).filter(
      ({ object: { kind, metadata } }) => kind === 'Deployment' && metadata.name === 'cinder-volume-slow',
    );
    return { staying, text: JSON.stringify(processes), all: JSON.stringify(objectsOf(composition)) };
  };
  const known = of({ 'spec.backends[name=slow]': slow });
  expect(known.text).toContain(':newer');
  expect(known.all).toContain('rbd_flatten_volume_from_snapshot = true');
  expect(known.all).not.toContain('volume type/slow');
  const written = (entry: unknown) => of({ 'spec.backends[name=slow]': entry });
  // Whoever may write the ConfigMap has no process made that may become root, nor one of another name.
  for (const entry of [undefined, null, 'slow', { ...slow, name: 'api' }, { ...slow, rootHelpers: true }])
    expect(written(entry)).toMatchObject({ text: '[]', staying: { components: ['volume-slow', 'target-slow'] } });
});

test('a removed backend needs its cluster for as long as it may have volumes', () => {
  const flash = {
    name: 'flash',
    type: 'custom',
    config: { 'cinder.conf': { flash: { volume_driver: 'a.B' } } },
  } as const;
  const spec = { backends: [flash], backup: undefined, cephStorageRef: undefined } as never;
  const { steps } = compose(spec, both, { 'spec.backends[name=slow]': pool('slow') });
  expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message).toContain(
    'spec.backends[name=slow], which was removed, and may have volumes: ceph needs a cluster',
  );
});

test('a backend that is stated again is enabled, once', () => {
  const backends = [pool('fast'), pool('slow')];
  const again = compose({ backends }, { ...both, [disabled]: 'disabled' });
  expect(again.staying).toMatchObject({ plan: { backends: { gone: [], back: ['cinder@slow'] } }, fields: [disabled] });
  expect(compose({ backends }, both).staying).toBeUndefined();
});

test('what is remembered outlives the Cinder, with the entries that processes are made from', () => {
  const kept = (deletionPolicy: 'Retain' | 'Delete') =>
    objectsOf(compose({ backends: [pool('fast')], deletionPolicy })).find(
      ({ object }) => object.metadata.name === 'cinder-lasting',
    );
  const found = kept('Retain');
  expect(found).toMatchObject({ verb: 'apply', retained: true });
  expect(kept('Delete')).not.toHaveProperty('retained');
  const { 'lasting.json': text = '' } = (found?.object['data'] ?? {}) as Record<string, string>;
  expect(JSON.parse(text)).toMatchObject({
    'spec.backends[name=fast]': { is: 'ceph cinder@fast#fast', entry: pool('fast') },
    'spec.backup': { is: 'custom' },
  });
});

test('copies lie on a volume where nobody names another place', () => {
  const objects = objectsOf(compose({ backup: { type: 'pvc' } }));
  expect(objects.map(({ object }) => `${object.kind} ${object.metadata.name}`)).toContain(
    'PersistentVolumeClaim cinder-backups',
  );
});

test('a Nova of the same cloud is told where volumes are, and logs in as itself', () => {
  const nova = composed(resource(read('nova')), surroundings(read, { peers: { Cinder: 'cinder' } }));
  const text = JSON.stringify(objectsOf(nova));
  expect(text).toMatch(
    /\[cinder\]\\nauth_type = password\\n.*?catalog_info = volumev3::internalURL\\nos_region_name = RegionOne/,
  );
  expect(text).toContain('OS_CINDER__PASSWORD');
  expect(JSON.stringify(objectsOf(composed(resource(read('nova')), surroundings(read))))).not.toContain('[cinder]');
});

test('rows of deleted volumes are purged every night, of the age that is stated', () => {
  const job = (spec: Partial<Cinder['spec']>) =>
    objectsOf(compose(spec)).find(({ object }) => object.metadata.name === 'cinder-db-purge')?.object;
  expect(JSON.stringify(job({}))).toContain('["cinder-manage","db","purge","30"]');
  const housekeeping = { schedule: '5 4 * * *', suspend: true, purgeAfterDays: 7 };
  expect(job({ housekeeping })).toMatchObject({ spec: { schedule: '5 4 * * *', suspend: true } });
  expect(JSON.stringify(job({ housekeeping }))).toContain('["cinder-manage","db","purge","7"]');
});

test('images are converted in as much room as is stated, which the node has to have', () => {
  const text = (more: object) =>
    JSON.stringify(
      objectsOf(compose({ backends: [{ ...pool('fast'), ...more }] })).find(
        ({ object }) => object.kind === 'Deployment' && object.metadata.name === 'cinder-volume-fast',
      ),
    );
  const stated = text({ conversionSize: '20Gi' });
  expect(stated).toContain('{"name":"var-lib-cinder-conversion","emptyDir":{"sizeLimit":"20Gi"}}');
  expect(stated).toContain('"ephemeral-storage":"20Gi"');
  expect(text({})).not.toContain('conversion');
});

test('types of volumes are records, with what they ask for; a zone is a zone of services and of a backend', () => {
  const spec = {
    backends: [{ ...pool('fast'), availabilityZone: 'b' }],
    defaultBackend: undefined,
    availabilityZone: 'a',
    volumeTypes: [
      {
        name: 'gold',
        backend: 'fast',
        isPublic: false,
        extraSpecs: { multiattach: '<is> True' },
        qos: { specs: { total_iops_sec: '900' } },
      },
      { name: 'any' },
    ],
    defaultVolumeType: 'any',
  };
  const text = JSON.stringify(objectsOf(compose(spec as never)));
  const records = JSON.parse(
    objectsOf(compose(spec as never)).flatMap(({ object }) => {
      const { 'records.json': file } = (object['stringData'] ?? {}) as Record<string, string>;
      return file?.includes('volume type') === true ? [file] : [];
    })[0] ?? '',
  ) as { resources: { kind: string; name: string; attributes: object }[] };
  expect(records.resources.map(({ kind, name, attributes }) => [kind, name, attributes])).toEqual([
    ['volume type', 'fast', { extra_specs: { volume_backend_name: 'fast' } }],
    ['QoS specs', 'gold', { consumer: 'back-end', specs: { total_iops_sec: '900' } }],
    [
      'volume type',
      'gold',
      {
        is_public: false,
        extra_specs: { multiattach: '<is> True', volume_backend_name: 'fast' },
        qos_specs_id: { idOf: 'QoS specs/gold' },
      },
    ],
    ['volume type', 'any', { is_public: true, extra_specs: {} }],
  ]);
  expect(text).toContain('default_volume_type = any');
  expect(text).toContain('storage_availability_zone = a');
  expect(text).toContain('backend_availability_zone = b');
});

test('types are encrypted where somebody keeps the keys', () => {
  const volumeTypes = [{ name: 'safe', encryption: {} }];
  const spec = { backends: [pool('fast')], volumeTypes };
  expect(problem(spec)).toBe(
    'spec.volumeTypes[name=safe].encryption: nobody keeps its keys; state barbican in the control plane, or backend of section key_manager in spec.config',
  );
  const config = { 'cinder.conf': { key_manager: { backend: 'vault' } } };
  expect(problem({ ...spec, config })).toBeUndefined();
  const known = surroundings(read, { peers: { Barbican: 'barbican' } });
  const composition = composed({ ...sample, spec: { ...sample.spec, ...spec } }, known);
  expect(composition.steps.find(({ condition }) => condition === 'ConfigReady')?.problem).toBeUndefined();
  const text = JSON.stringify(objectsOf(composition));
  expect(text).toContain('[key_manager]\\nbackend = barbican\\n');
  expect(text).toContain('barbican_endpoint_type = internal');
  expect(text).toContain('OS_BARBICAN_SERVICE_USER__PASSWORD');
  expect(JSON.stringify(objectsOf(composed(resource(read('nova')), known)))).toContain(
    '[key_manager]\\nbackend = barbican\\n',
  );
});

test('a backend keeps volumes of images once the project and the user of these are known', () => {
  const backends = [{ ...pool('fast'), imageCache: { maxSize: '20.5Gi' } }, pool('slow')];
  const composedWith = (found: Readonly<Record<string, string>>) => {
    const resource = { ...sample, status: { found }, spec: { ...sample.spec, backends } };
    const composition = composed(resource, surroundings(read));
    const objects = objectsOf(composition).map(({ object }) => object);
    const files = (name: string) =>
      JSON.stringify(objects.filter(({ metadata }) => metadata.name?.startsWith(`cinder-volume-${name}-config`)));
    const waits = composition.steps.find(({ condition }) => condition === 'ImageCacheReady')?.problem;
    return { files, waits, finds: composition.finds, all: JSON.stringify(objects) };
  };
  const before = composedWith({});
  expect(before.waits).toEqual({
    reason: 'Waiting',
    message: expect.stringContaining(
      'the Job cinder-resource-create tells them, and each run of the CronJob cinder-records-audit',
    ),
  });
  expect(before.files('fast')).not.toContain('image_volume_cache');
  const { finds } = before.finds?.get('cinder-resource-create') ?? {};
  expect(before.finds?.get('cinder-records-audit')?.finds).toBe(finds);
  const words = [
    '{project cinder-internal: a1}',
    '{user cinder-internal: b2}',
    '{user other: c3}',
    'nothing to change',
  ];
  const found = finds?.(words, { kept: 'yes' }) ?? {};
  expect(found).toEqual({ kept: 'yes', 'project cinder-internal': 'a1', 'user cinder-internal': 'b2' });
  const after = composedWith(found);
  expect(after.waits).toBeUndefined();
  expect(after.files('fast')).toContain(
    'cinder_internal_tenant_project_id = a1\\ncinder_internal_tenant_user_id = b2\\n',
  );
  expect(after.files('fast')).toContain('image_volume_cache_enabled = true\\nimage_volume_cache_max_size_gb = 20\\n');
  expect(after.files('slow')).not.toMatch(/image_volume_cache|internal_tenant/);
  // Who may write a status may read no Secret by it.
  const stolen = composedWith({ ...found, 'user cinder-internal': '{{cinder-db-password/password}}' });
  expect(stolen.waits).toBeDefined();
  expect(stolen.all).not.toContain('internal_tenant');
  expect(finds?.(['{user cinder-internal: {{a/b}}}'], {})).toEqual({});
});

test('where Glance keeps images as volumes, its project has no bounds for them, and they are cloned', () => {
  const texts = (additionalStores: readonly object[]) => {
    const told = { peers: { Glance: 'glance' }, peerSpecs: { Glance: { storageType: 'ceph', additionalStores } } };
    return JSON.stringify(objectsOf(composed(sample, surroundings(read, told))));
  };
  const [none, some] = [texts([]), texts([{ name: 'blocks', type: 'cinder' }])];
  expect(none).not.toMatch(/allowed_direct_url_schemes|found project/u);
  expect(some).toContain('allowed_direct_url_schemes = cinder');
  expect(some).toContain('found project/service');
  expect(some).toContain('gigabytes');
});
