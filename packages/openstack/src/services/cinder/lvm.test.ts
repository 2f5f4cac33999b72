import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { knownOptions } from '../../options/known-options.ts';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import type { Cinder } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('cinder_lvm')) as Cinder & ReturnType<typeof resource>;
const [ssd, hdd] = sample.spec.backends as [
  NonNullable<Cinder['spec']['backends']>[number],
  ...Cinder['spec']['backends'],
];
const compose = (spec: Partial<Cinder['spec']> = {}, remembered: Readonly<Record<string, unknown>> = {}) => {
  const lasting = Object.fromEntries(Object.keys(remembered).map((field) => [field, 'lvm cinder@old#a on storage-1']));
  return composed({ ...sample, spec: { ...sample.spec, ...spec } }, surroundings(read, { lasting, remembered }));
};
const stepOf = (spec: Partial<Cinder['spec']>) =>
  compose(spec).steps.find(({ condition }) => condition === 'ConfigReady');
const workloads = (composition: ReturnType<typeof composed>) =>
  objectsOf(composition).flatMap(({ object }) => (object.kind === 'Deployment' ? [object] : []));
const named = (spec: Partial<Cinder['spec']>, name: string) =>
  JSON.stringify(workloads(compose(spec)).find(({ metadata }) => metadata.name === name));

test('tgtd has the network of its node, cinder-volume that of pods, and both have the devices', () => {
  const [target, volume] = [named({}, 'cinder-target-ssd'), named({}, 'cinder-volume-ssd')];
  expect(target).toContain('"hostNetwork":true');
  expect(volume).not.toContain('hostNetwork');
  // Semaphores of udev are those of the node (lvm2 waits for them).
  expect(volume).toContain('"hostIPC":true');
  for (const text of [target, volume]) {
    expect(text).toContain('"nodeSelector":{"kubernetes.io/hostname":"storage-1"}');
    expect(text).toContain('"privileged":true');
    expect(text).toContain('"hostPath":{"path":"/dev"');
    expect(text).toContain('/run/cinder/openstack/cinder/ssd/tgtd');
  }
});

test('tgtd is made of nothing that changes with Cinder', () => {
  const before = named({}, 'cinder-target-ssd');
  const config = { 'cinder.conf': { DEFAULT: { debug: true } } };
  expect(named({ config, backends: [{ ...ssd, availabilityZone: 'b' }], replicas: 3 }, 'cinder-target-ssd')).toBe(
    before,
  );
  expect(before).not.toContain('secret');
});

test('volumes are reached at the address of the node, unless another one is stated, as is its port', () => {
  expect(named({}, 'cinder-volume-ssd')).toContain('"OS_BACKEND_DEFAULTS__TARGET_IP_ADDRESS"');
  expect(knownOptions('2025.1', 'cinder', [])?.find('backend_defaults', 'target_ip_address')).toBeDefined();
  expect(named({}, 'cinder-volume-hdd')).not.toContain('TARGET_IP_ADDRESS');
  expect(named({}, 'cinder-target-hdd')).toContain('{"name":"ADDRESS","value":"10.0.1.11"}');
  const text = JSON.stringify(objectsOf(compose()));
  expect(text).toContain(
    '[hdd]\\nbackend_host = cinder\\nlvm_type = default\\ntarget_helper = tgtadm\\ntarget_ip_address = 10.0.1.11\\ntarget_port = 3261\\nvolume_backend_name = hdd\\nvolume_driver = cinder.volume.drivers.lvm.LVMVolumeDriver\\nvolume_group = cinder-archive\\n',
  );
});

test('two backends of a node have two ports', () => {
  expect(stepOf({ backends: [ssd, { ...ssd, name: 'other' }] })?.problem?.message).toBe(
    'spec.backends[name=other].lvmPort: backend ssd has port 3260 of node storage-1; choose another',
  );
  expect(stepOf({ backends: [ssd, { ...ssd, name: 'other', lvmNode: 'storage-2' }] })?.problem).toBeUndefined();
});

test('what follows from fields is no option', () => {
  const config = { 'cinder.conf': { ssd: { volume_group: 'other' } } };
  expect(stepOf({ backends: [{ ...ssd, config }] })?.problem?.message).toContain(
    'set spec.backends[name=ssd].lvmVolumeGroup instead',
  );
});

test('nobody is told to expect backups of them', () => {
  expect(stepOf({ backup: { type: 'pvc' } })?.remarks).toEqual([
    'spec.backup: volumes of type lvm (ssd, hdd) cannot be backed up: no pod reaches them by iSCSI',
  ]);
  expect(stepOf({})?.remarks ?? []).toEqual([]);
});

test('no process with the devices of a node is made of what a ConfigMap says', () => {
  const field = 'spec.backends[name=old]';
  for (const entry of [
    { ...ssd, name: 'old' },
    { ...ssd, name: 'old', rootHelpers: false },
  ]) {
    const composition = compose({ backends: hdd === undefined ? [] : [hdd] }, { [field]: entry });
    const old = workloads(composition).filter(({ metadata }) => metadata.name?.endsWith('-old') === true);
    expect(JSON.stringify(old)).not.toContain('privileged');
  }
  expect(compose({ backends: [ssd] }, { [field]: { ...ssd, name: 'old' } }).staying?.components).toEqual([
    'volume-old',
    'target-old',
  ]);
});

test('nova-compute has the name of its node to targets where volumes are of that type', () => {
  const nova = (backends: readonly object[]) => {
    const told = { peers: { Cinder: 'cinder' }, peerSpecs: { Cinder: { backends } } };
    return JSON.stringify(objectsOf(composed(resource(read('nova')), surroundings(read, told))));
  };
  expect(nova([ssd])).toContain('{"name":"etc-iscsi","mountPath":"/etc/iscsi"}');
  expect(nova([{ name: 'fast', type: 'ceph', cephPoolName: 'volumes' }])).not.toContain('iscsi');
});

test('an address and a port by which volumes are found stay while there are any', () => {
  const [ssd] = sample.spec.backends ?? [];
  const at = `spec.backends[name=${ssd?.name}]`;
  const lasting = { [`${at}.lvmAddress`]: 'that of the node', [`${at}.lvmPort`]: '3260' };
  const composition = (more: object) => {
    const spec = { ...sample.spec, backends: [{ ...ssd, ...more }] } as Cinder['spec'];
    return composed({ ...sample, spec }, surroundings(read, { lasting }));
  };
  const refused = (more: object) =>
    composition(more).steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message;
  expect(composition({}).status).toMatchObject({ lasting });
  expect(refused({ lvmPort: 3260 })).toBeUndefined();
  expect(refused({ lvmAddress: '10.0.0.11' })).toContain(
    `${at}.lvmAddress: it was that of the node before (status.lasting, ConfigMap cinder-lasting), and is 10.0.0.11 now: data that are found by it are out of reach; state what it was, or another name, or take the backend away, wait until RemovedBackendsEmpty is True`,
  );
  expect(refused({ lvmPort: 3261 })).toContain(`${at}.lvmPort: it was 3260 before`);
});
