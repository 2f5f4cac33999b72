import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import type { Swift } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('swift')) as Swift & ReturnType<typeof resource>;
const compose = (spec: Partial<Swift['spec']> = {}) =>
  composed({ ...sample, spec: { ...sample.spec, ...spec } }, surroundings(read));
const problem = (spec: Partial<Swift['spec']>) =>
  compose(spec).steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message;
const objects = (spec: Partial<Swift['spec']> = {}) => objectsOf(compose(spec)).map(({ object }) => object);
const found = (kind: string, name: string, spec: Partial<Swift['spec']> = {}) =>
  objects(spec).find((object) => object.kind === kind && object.metadata.name === name);

test('each device of each node is a volume, and stands in the rings by a name that outlives its pod', () => {
  const spec = { storageNodes: 2, devicesPerNode: 2 };
  const nodes = found('StatefulSet', 'swift-storage', spec)?.['spec'] as {
    replicas: number;
    volumeClaimTemplates: { metadata: { name: string } }[];
  };
  expect([nodes.replicas, nodes.volumeClaimTemplates.map(({ metadata }) => metadata.name)]).toEqual([2, ['d1', 'd2']]);
  const job = JSON.stringify(found('Job', 'swift-rings', spec));
  const domain = 'swift-storage.openstack.svc';
  for (const device of ['0.d1', '0.d2', '1.d1', '1.d2'].map((one) => one.split('.')))
    expect(job).toContain(`"swift-storage-${device[0]}.${domain}/${device[1]}"`);
});

test.each([
  [{ proxyReplicas: 2 }, 2],
  [{ proxyReplicas: 2, components: { proxy: { replicas: 3 } } }, 3],
  [{ replicas: 2 }, 2],
])('of %j so many proxies run', (spec, count) => {
  const { replicas: _replicas, ...others } = sample.spec;
  const { steps } = composed({ ...sample, spec: { ...others, ...spec } }, surroundings(read));
  const proxies = objectsOf({ steps } as ReturnType<typeof composed>).find(
    ({ object }) => object.metadata.name === 'swift-proxy' && object.kind === 'Deployment',
  );
  expect(proxies?.object).toMatchObject({ spec: { replicas: count } });
});

test('rings are mounted as a whole, so that servers read them anew without a restart', () => {
  for (const [kind, name] of [
    ['Deployment', 'swift-proxy'],
    ['StatefulSet', 'swift-storage'],
  ] as const)
    expect(JSON.stringify(found(kind, name))).toContain(
      '{"name":"etc-swift-rings","mountPath":"/etc/swift/rings","readOnly":true}',
    );
  // Where a name is in both, that of the policies counts.
  expect(JSON.stringify(found('Deployment', 'swift-proxy'))).toContain(
    '"sources":[{"secret":{"name":"swift-rings"}},{"secret":{"name":"swift-rings-policies"}}]',
  );
});

test('its own pods alone reach storage nodes', () => {
  const policy = JSON.stringify(found('NetworkPolicy', 'swift-storage')?.['spec']);
  expect(policy).toContain('"app.kubernetes.io/name":"swift","app.kubernetes.io/instance":"swift"}}}]');
  expect(policy).not.toContain('8080');
});

test('users lay options over its files, but for those that say where data lie', () => {
  const config = { 'proxy-server.conf': { 'filter:s3api': { s3_acl: true } } };
  expect(JSON.stringify(objects({ config }))).toContain('location = RegionOne\\ns3_acl = true\\nuse = egg:swift#s3api');
  expect(problem({ config: { 'swift.conf': { 'swift-hash': { swift_hash_path_suffix: 'x' } } } })).toBe(
    'spec.config["swift.conf"].swift-hash.swift_hash_path_suffix: the operator sets this itself: data lie where they say; remove it',
  );
});

test.each([
  ['proxy-server.conf', 'pipeline:main', 'pipeline', 'what requests pass is fixed; remove it'],
  ['proxy-server.conf', 'filter:s3api', 'use', 'what requests pass is fixed; remove it'],
  ['proxy-server.conf', 'filter:authtoken', 'paste.filter_factory', 'what requests pass is fixed; remove it'],
  ['proxy-server.conf', 'filter:authtoken', 'password', 'how Swift logs in to Keystone; remove it'],
  ['proxy-server.conf', 'filter:s3token', 'auth_uri', 'how Swift logs in to Keystone; remove it'],
  ['proxy-server.conf', 'filter:cache', 'memcache_servers', 'set spec.cacheRef instead'],
  ['proxy-server.conf', 'filter:tempurl', 'reseller_prefix', 'the accounts by their prefix; remove it'],
  ['proxy-server.conf', 'DEFAULT', 'cert_file', 'connect without TLS; remove it'],
  ['object-server.conf', 'DEFAULT', 'bind_ip', 'connect there; remove it'],
  ['object-server.conf', 'app:object-server', 'devices', 'volumes are mounted there; remove it'],
  ['object-server.conf', 'app:object-server', 'set mount_check', 'are looked for; remove it'],
  ['object-server.conf', 'object-replicator', 'swift_dir', 'rings are mounted there; remove it'],
  ['container-server.conf', 'container-replicator', 'rsync_module', 'rsync listens there; remove it'],
  ['internal-client.conf', 'filter:cache', 'memcache_servers', 'set spec.cacheRef instead'],
  ['swift.conf', 'storage-policy:0', 'name', 'set spec.storagePolicies instead'],
])('users cannot set what it owns in %s: [%s] %s', (file, section, option, words) => {
  expect(problem({ config: { [file]: { [section]: { [option]: 'x' } } } })).toMatch(
    `spec.config["${file}"].${section}`,
  );
  expect(problem({ config: { [file]: { [section]: { [option]: 'x' } } } })).toContain(words);
});

test('versions are kept where clients ask for them, and readers of a project may read it', () => {
  const files = JSON.stringify(objects());
  expect(files).toContain(
    'allow_object_versioning = true\\nallow_versioned_writes = true\\nuse = egg:swift#versioned_writes',
  );
  expect(files).toContain('project_reader_roles = reader');
});

test('an image that nobody publishes is told, with the way out', () => {
  const { imageRegistry: _registry, ...spec } = sample.spec;
  const { steps } = composed({ ...sample, spec }, surroundings(read));
  expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message).toContain(
    'spec.images.storage: quay.io/openstack.kolla has no image swift-object of 2025.1; state one, or imageRegistry, a registry that has it',
  );
  expect(problem({ images: { proxy: 'a/b:c', storage: 'a/b:c' } })).toBeUndefined();
});

const ec = { index: 2, name: 'ec', erasureCoding: { dataFragments: 2, parityFragments: 1 } };

test('each storage policy has a section, rings of its own and, for fragments, what repairs them', () => {
  const spec = { storagePolicies: [{ index: 1, name: 'gold', replicaCount: 2 }, ec], defaultStoragePolicy: 'gold' };
  const all = JSON.stringify(objects(spec));
  expect(all).toContain('[storage-policy:0]\\ndefault = false\\ndeprecated = false\\nname = Policy-0');
  expect(all).toContain('[storage-policy:1]\\ndefault = true');
  expect(all).toContain('ec_num_data_fragments = 2\\nec_num_parity_fragments = 1\\nec_type = liberasurecode_rs_vand');
  expect(found('Job', 'swift-rings', spec)).toEqual(found('Job', 'swift-rings'));
  const job = JSON.stringify(found('Job', 'swift-policies', spec));
  expect(job).toContain('"object-1:6200:2 object-2:6200:3"');
  expect(job).toContain(
    '"index=1 name=gold replicaCount=2","index=2 name=ec erasureCoding.dataFragments=2 erasureCoding.parityFragments=1"',
  );
  expect(job).toContain('"/var/lib/swift/rings/object-2.builder","/var/lib/swift/rings/object-2.ring.gz"]');
  expect(JSON.stringify(found('StatefulSet', 'swift-storage', spec))).toContain('object-reconstructor');
  expect(JSON.stringify(found('StatefulSet', 'swift-storage'))).not.toContain('object-reconstructor');
});

test('a file that is trusted for a database is no path of its own where there is none', () => {
  const config = { 'proxy-server.conf': { 'filter:slo': { file: '/etc/openstack/trust/database/ca.crt' } } };
  const objects = objectsOf(composed({ ...sample, spec: { ...sample.spec, config } }, surroundings(read)));
  expect(JSON.stringify(objects)).toContain('file = /etc/openstack/trust/database/ca.crt');
  expect(JSON.stringify(objects)).not.toContain('etc-openstack-trust');
});

test('a peer sets options of its files of data, which users cannot set then', () => {
  const withStorlets = (spec: Partial<Swift['spec']> = {}) =>
    composed({ ...sample, spec: { ...sample.spec, ...spec } }, surroundings(read, { peers: { Storlets: 'storlets' } }));
  const proxies = objectsOf(withStorlets())
    .map(({ object }) => JSON.stringify(object))
    .filter((text) => text.includes('[app:proxy-server]'));
  expect(proxies.join()).toContain('keystoneauth storlet_handler copy container-quotas');
  expect(proxies.join()).toContain('[filter:storlet_handler]\\nexecution_server = proxy');
  const config = { 'proxy-server.conf': { 'filter:storlet_handler': { execution_server: 'object' } } };
  expect(withStorlets({ config }).steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message).toBe(
    'spec.config["proxy-server.conf"].filter:storlet_handler.execution_server: the operator sets this itself: what Storlets needs; remove it',
  );
});

const inCeph = resource(read('swift_ceph')) as Swift & ReturnType<typeof resource>;

test('a gateway needs a cluster', () => {
  const { cephStorageRef: _, ...spec } = inCeph.spec;
  const { steps } = composed({ ...inCeph, spec }, surroundings(read));
  expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message).toBe(
    'spec.mode: ceph needs a cluster; set spec.cephStorageRef, or spec.cephStorage of the control plane',
  );
});

test.each([
  ['native', inCeph, 'spec.storageNodes'],
  ['ceph-rgw', sample, 'spec.mode'],
])('what was %s before is refused in the other mode, and still remembered as what it was', (was, now, field) => {
  const { steps, status } = composed(now, surroundings(read, { lasting: { [field]: was } }));
  expect(steps.find(({ condition }) => condition === 'CredentialsReady')?.problem?.message).toContain(
    `spec.mode: it was ${was} before (ConfigMap swift-lasting)`,
  );
  expect(status).toMatchObject({ lasting: { [field]: was } });
});

test('a gateway logs in as the user that the cluster has for it, and has nothing of rings', () => {
  const named = resource(read('ceph-storage'));
  const cephStorageRef = { found: { ...named, spec: { ...(named['spec'] as object), users: { swift: 'objects' } } } };
  const known = surroundings(read);
  const { steps } = composed(inCeph, { ...known, references: { ...known.references, cephStorageRef } });
  const text = JSON.stringify(objectsOf({ steps } as ReturnType<typeof composed>));
  expect(text).toContain('["dumb-init","--single-child","--","radosgw","-f","-n","client.objects"]');
  expect(text).toContain('[client.objects]\\nkeyring = /etc/ceph/ceph.client.objects.keyring\\n');
  expect(text).not.toContain('swift-rings');
});

test('a gateway has no file that users could lay options over', () => {
  const config = { 'proxy-server.conf': { DEFAULT: { workers: 4 } } };
  const { steps } = composed({ ...inCeph, spec: { ...inCeph.spec, config } }, surroundings(read));
  expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message).toContain('proxy-server.conf');
});
