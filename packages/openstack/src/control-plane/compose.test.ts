import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { surroundingsOf } from '../engine/vocabulary/surroundings.ts';
import { resource } from '../testing/compositions.ts';
import { composeControlPlane, phaseOf } from './compose.ts';

const minimal = resource(
  readFileSync(new URL('../../../../config/samples/controlplane_minimal.yaml', import.meta.url), 'utf8'),
);
const compose = (spec: object = {}) => composeControlPlane({ ...minimal, spec: spec }, surroundingsOf());

/** Spec of the child of that kind; undefined when there is none. */
function child(kind: string, spec: object = {}): Record<string, unknown> | undefined {
  const objects = compose(spec).steps.flatMap(({ objects }) => objects);
  const found = objects.find((desired) => 'object' in desired && desired.object.kind === kind);
  return found !== undefined && 'object' in found ? (found.object['spec'] as Record<string, unknown>) : undefined;
}
const claims = (spec: object = {}) =>
  compose(spec).steps.flatMap(({ objects }) => objects.filter(({ verb }) => verb === 'claim'));

test('what does not depend on each other comes up side by side', () => {
  const needs = Object.fromEntries(compose().steps.map(({ condition, needs }) => [condition, needs]));
  expect(needs['KeystoneReady']).toEqual(['MariaDBReady']);
  expect(needs['GlanceReady']).toEqual(['MariaDBReady']);
  expect(needs['NovaReady']).toEqual(['NodesReady', 'MariaDBReady']);
});

test('children refer to each other by name', () => {
  expect(child('Nova')).toMatchObject({
    databaseRef: { name: 'my-cloud-mariadb' },
    neutronRef: { name: 'my-cloud-neutron' },
  });
  expect(child('Neutron')).toMatchObject({ ovnRef: { name: 'my-cloud-ovn' }, novaRef: { name: 'my-cloud-nova' } });
});

test('Keystone and Glance have an account at the broker while somebody listens who can', () => {
  const broker = { name: 'my-cloud-rabbitmq' };
  expect(child('Keystone')).not.toHaveProperty('messageQueueRef');
  expect(child('Keystone', { barbican: {} })).toMatchObject({ messageQueueRef: broker });
  expect(child('Glance', { barbican: {} })).not.toHaveProperty('messageQueueRef');
  // What it needs is disabled: it does not come, and they are not told of a broker that does not either.
  expect(child('Keystone', { barbican: {}, rabbitmq: { enabled: false } })).not.toHaveProperty('messageQueueRef');
});

test('host names follow the domain, unless they are said', () => {
  expect(child('Nova', { publicDomain: 'example.org' })).toMatchObject({
    publicHostname: 'nova.example.org',
    consolePublicHostname: 'console.example.org',
  });
  expect(child('Keystone', { keystone: { publicHostname: 'id.example.org' } })).toMatchObject({
    publicHostname: 'id.example.org',
  });
  expect(child('MariaDB', { publicDomain: 'example.org' })).not.toHaveProperty('publicHostname');
});

test('a cloud has an optional service where its field is there and does not disable it', () => {
  const skipped = (spec: object) => compose(spec).steps.find(({ condition }) => condition === 'BarbicanReady')?.skipped;
  const absent = {
    message: 'spec.barbican is absent',
    of: { kind: 'Barbican', metadata: { name: 'my-cloud-barbican' } },
  };
  expect(skipped({})).toMatchObject(absent);
  expect(skipped({ barbican: null })).toMatchObject(absent);
  expect(skipped({ barbican: {} })).toBeUndefined();
  expect(skipped({ barbican: { enabled: false } })).toEqual({
    reason: 'Disabled',
    message: 'spec.barbican.enabled is false',
    of: { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Barbican', metadata: expect.anything() },
  });
});

describe('a service that is disabled', () => {
  const steps = (spec: object) => new Map(compose(spec).steps.map((step) => [step.condition, step]));
  /** Conditions of the steps with a problem, by its reason. */
  const problems = (spec: object) =>
    compose(spec).steps.flatMap(({ condition, problem }) =>
      problem === undefined ? [] : [`${condition} ${problem.reason}`],
    );
  const everything = Object.fromEntries(
    ['ovnNetwork', 'keystone', 'glance', 'placement', 'neutron', 'nova'].map((name) => [name, { enabled: false }]),
  );

  test('is skipped when nothing that is on needs it', () => {
    const off = steps({ ...everything, memcached: { enabled: false } }).get('MemcachedReady');
    expect(off).toMatchObject({ objects: [], skipped: { reason: 'Disabled' } });
    expect(off?.problem).toBeUndefined();
  });

  test('keeps its objects, and those of what needs it, with words on both sides', () => {
    const found = steps({ neutron: { enabled: false } });
    expect(found.get('NeutronReady')?.problem).toEqual({
      reason: 'InUse',
      message:
        'spec.neutron.enabled is false, but spec.nova needs it: the Neutron is kept until nothing needs it; enable it, disable what needs it, or set another reference there',
    });
    expect(found.get('NovaReady')?.problem).toEqual({
      reason: 'DependencyDisabled',
      message:
        'Nova needs spec.neutron, which is disabled; enable it, set spec.nova.neutronRef, or disable spec.nova as well; until then the Nova is not changed or deleted',
    });
    for (const kind of ['Neutron', 'Nova']) expect(child(kind, { neutron: { enabled: false } })).toBeDefined();
  });

  test('is named to what needs it at second hand, with what to do about it', () => {
    expect(steps({ memcached: { enabled: false } }).get('NovaReady')?.problem?.message).toBe(
      'Nova needs spec.glance, which needs spec.memcached, which is disabled; enable it, or disable spec.nova as well; until then the Nova is not changed or deleted',
    );
  });

  test('is needed by what refers to it by one field, whatever another field may do', () => {
    const keystoneRef = { external: { url: 'https://id.example.org/v3', secretName: 'admin' } };
    const ceilometer = { keystoneRef, messageQueueRef: { external: { host: 'mq.example.org', secretName: 'mq' } } };
    expect(problems({ ...everything, memcached: { enabled: false }, ceilometer })).toEqual([
      'MemcachedReady InUse',
      'CeilometerReady DependencyDisabled',
    ]);
  });

  test('is told apart from one that is not stated', () => {
    const found = steps({ glance: { storageType: 'swift' } });
    expect(found.get('SwiftReady')?.problem).toEqual({
      reason: 'InUse',
      message:
        'spec.swift is absent, but spec.glance needs it: a Swift that is there is kept until nothing needs it; state it, disable what needs it, or set another reference there',
    });
    expect(found.get('GlanceReady')?.problem).toEqual({
      reason: 'DependencyDisabled',
      message:
        'Glance needs spec.swift, which is absent; state it, set spec.glance.swiftRef, or disable spec.glance as well; until then the Glance is not changed or deleted',
    });
  });

  test('is a problem of what needs it at second hand, but of nothing that has its own elsewhere', () => {
    const off = { mariadb: { enabled: false } };
    expect(problems(off)).toEqual([
      'MariaDBReady InUse',
      'KeystoneReady DependencyDisabled',
      'GlanceReady DependencyDisabled',
      'PlacementReady DependencyDisabled',
      'NeutronReady DependencyDisabled',
      'NovaReady DependencyDisabled',
    ]);
    const databaseRef = { external: { host: 'db.example.org', secretName: 'db-admin' } };
    const external = Object.fromEntries(
      ['keystone', 'glance', 'placement', 'neutron', 'nova'].map((name) => [name, { databaseRef }]),
    );
    expect(problems({ ...off, ...external })).toEqual([]);
    expect(problems({ ...off, ...external, neutron: {} })).toEqual([
      'MariaDBReady InUse',
      'NeutronReady DependencyDisabled',
      'NovaReady DependencyDisabled',
    ]);
  });

  test('takes nothing from what does not need it: nodes stay claimed, references stay', () => {
    expect(claims({ mariadb: { enabled: false } })).toEqual(claims());
    expect(child('Neutron', { glance: { enabled: false } })).toEqual(child('Neutron'));
  });

  test('is a need where a template makes use of it, and then referred to even by what only may', () => {
    const ceph = { cephStorage: { enabled: false }, nova: {} };
    expect(problems(ceph)).toEqual([]);
    expect(child('Nova', ceph)).not.toHaveProperty('cephStorageRef');
    const used = { ...ceph, glance: { storageType: 'ceph' } };
    expect(problems(used)).toEqual([
      'CephStorageReady InUse',
      'GlanceReady DependencyDisabled',
      'NovaReady DependencyDisabled',
    ]);
    expect(child('Nova', used)).toHaveProperty('cephStorageRef', { name: 'my-cloud-ceph' });
    const elsewhere = { ...ceph, glance: { storageType: 'ceph', cephStorageRef: { name: 'another' } } };
    expect(problems(elsewhere)).toEqual([]);
    const optional = { cephStorage: { enabled: false }, cinder: { backends: [{ name: 'one', type: 'ceph' }] } };
    expect(problems(optional)).toEqual(['CephStorageReady InUse', 'CinderReady DependencyDisabled']);
  });

  test('does not ask for pools, and what refers to another cluster does not either', () => {
    const pools = (spec: object) =>
      (
        child('CephStorage', { cephStorage: {}, ...spec }) as { pools?: { name: string; purpose: string }[] }
      ).pools?.map(({ name, purpose }) => `${name} for ${purpose}`);
    const cinder = { backends: [{ name: 'one', type: 'ceph', cephPoolName: 'fast' }], backup: { type: 'ceph' } };
    const all = { glance: { storageType: 'ceph' }, cinder, nova: { ephemeralStorage: 'ceph' } };
    expect(pools(all)).toEqual([
      'glance-images for glance-images',
      'vms for nova-ephemeral',
      'fast for cinder-volumes',
      'backups for cinder-backups',
    ]);
    const stated = [{ name: 'vms', purpose: 'nova-ephemeral' }];
    expect(pools({ ...all, cephStorage: { pools: stated }, cinder: { ...cinder, enabled: false } })).toEqual([
      'vms for nova-ephemeral',
      'glance-images for glance-images',
    ]);
    expect(pools({ glance: { storageType: 'ceph', cephStorageRef: { name: 'another' } } })).toBeUndefined();
  });

  test('is not referred to', () => {
    expect(child('Neutron', { nova: { enabled: false } })).not.toHaveProperty('novaRef');
  });
});

describe('nodes', () => {
  const labels = (group: string, compute: boolean) => ({
    'openstack.k8s.io/cloud': 'openstack.my-cloud',
    'openstack.k8s.io/node-group': group,
    ...(compute ? { 'openstack.k8s.io/compute': 'true' } : {}),
  });

  test('one group of all nodes by default, of as many as asked for', () => {
    expect(claims()).toMatchObject([{ verb: 'claim', labels: labels('default', true), selector: {} }]);
    expect(claims()[0]).not.toHaveProperty('count');
    expect(claims({ nova: { computeReplicas: 2 } })).toMatchObject([{ count: 2 }]);
    expect(claims({ nova: { enabled: false } })).toEqual([]);
  });

  test("Nova's groups, and chassis without guests; OVN is told of both", () => {
    const spec = {
      nova: { nodeGroups: [{ name: 'big', nodeSelector: { size: 'big' }, gateway: false, virtType: 'kvm' }] },
      ovnNetwork: { nodeGroups: [{ name: 'edge', nodeSelector: { role: 'edge' } }] },
    };
    expect(claims(spec)).toMatchObject([
      { verb: 'claim', labels: labels('big', true), selector: { size: 'big' } },
      { verb: 'claim', labels: labels('edge', false), selector: { role: 'edge' } },
    ]);
    expect(child('OVNNetwork', spec)?.['nodeGroups']).toEqual([
      { name: 'big', nodeSelector: { size: 'big' }, gateway: false },
      { name: 'edge', nodeSelector: { role: 'edge' } },
    ]);
  });

  test('a group of both is a mistake', () => {
    const groups = { nodeGroups: [{ name: 'a' }] };
    expect(compose({ nova: groups, ovnNetwork: groups }).steps[0]?.problem?.message).toBe(
      'spec.ovnNetwork.nodeGroups[name=a]: Nova has a group of this name, whose nodes carry networks as well; choose another name',
    );
  });

  test("bridges are Neutron's, unless OVN is told others", () => {
    const own = [{ physicalNetwork: 'x', bridge: 'br-x' }];
    expect(child('OVNNetwork')?.['bridgeMappings']).toEqual([{ physicalNetwork: 'physnet1', bridge: 'br-ex' }]);
    expect(child('OVNNetwork', { neutron: { externalBridge: 'br-two' } })?.['bridgeMappings']).toEqual([
      { physicalNetwork: 'physnet1', bridge: 'br-two' },
    ]);
    expect(child('OVNNetwork', { neutron: { bridgeMappings: own } })?.['bridgeMappings']).toEqual(own);
    expect(child('OVNNetwork', { ovnNetwork: { bridgeMappings: own } })?.['bridgeMappings']).toEqual(own);
  });

  test('a bridge that nobody states is not made beside those of groups', () => {
    const bridges = (spec: object) => child('OVNNetwork', spec)?.['bridgeMappings'];
    const own = [{ physicalNetwork: 'physnet1', bridge: 'br-ex', interface: 'eth1' }];
    const standard = [{ physicalNetwork: 'physnet1', bridge: 'br-ex' }];
    const nodeGroups = [{ name: 'a', bridgeMappings: own }, { name: 'b' }];
    expect(bridges({ nova: { nodeGroups } })).toBeUndefined();
    expect(bridges({ ovnNetwork: { nodeGroups } })).toBeUndefined();
    expect(bridges({ nova: { nodeGroups }, neutron: { externalBridge: 'br-ex' } })).toEqual(standard);
    expect(bridges({ nova: { nodeGroups }, neutron: { bridgeMappings: standard } })).toEqual(standard);
    expect(bridges({ nova: { nodeGroups: [{ name: 'a', bridgeMappings: [] }, { name: 'b' }] } })).toEqual(standard);
    const other = [{ physicalNetwork: 'physnet2', bridge: 'br-two', interface: 'eth2' }];
    expect(bridges({ nova: { nodeGroups: [{ name: 'a' }, { name: 'b', bridgeMappings: other }] } })).toEqual(standard);
  });
});

test.each([
  [{}, 'Ready'],
  [{ MariaDBReady: 'False', NovaReady: 'False' }, 'Infrastructure'],
  [{ KeystoneReady: 'False', NovaReady: 'False' }, 'Identity'],
  [{ TLSReady: 'False' }, 'Identity'],
  [{ GlanceReady: 'False', NovaReady: 'False' }, 'CoreServices'],
  [{ NovaReady: 'False' }, 'Compute'],
] as const)('phase of %j is %s', (open, phase) => {
  const conditions = [...compose().steps.map(({ condition }) => condition), 'TLSReady'];
  const progress = conditions.map((condition) => ({
    condition,
    status: condition in open ? ('False' as const) : ('True' as const),
    reason: 'Progressing' as const,
    message: '',
  }));
  expect(phaseOf(progress, minimal)).toBe(phase);
});

test('what only somebody can mend is a failure; running Jobs again is asked of the children', () => {
  const [first, ...rest] = compose().steps.map(({ condition }) => ({
    condition,
    status: 'True' as const,
    reason: 'Done' as const,
    message: '',
  }));
  expect(phaseOf([{ ...first!, status: 'False', reason: 'VolumeLost' }, ...rest], minimal)).toBe('Failed');
  const metadata = { ...minimal.metadata, annotations: { 'openstack.k8s.io/reconcile-at': 'now' } };
  const [step] = composeControlPlane({ ...minimal, metadata }, surroundingsOf()).steps.slice(1);
  expect(step?.objects).toMatchObject([{ object: { metadata: { annotations: metadata.annotations } } }]);
});

test.each<[string, object]>([
  ['its last backend there', { cinder: {} }],
  ['the whole service', { cinder: { enabled: false } }],
  ['the service, which the spec names no more', {}],
])('a Ceph cluster that goes with %s stays while volumes in it are remembered', (_, spec) => {
  const entry = { name: 'fast', type: 'ceph', cephPoolName: 'volumes' };
  const step = (peersRemembered: object, more: object = {}) =>
    composeControlPlane(
      { ...minimal, spec: { ...spec, ...more } },
      surroundingsOf({ peersRemembered: peersRemembered as never }),
    ).steps;
  const ceph = (...of: Parameters<typeof step>) =>
    step(...of).find(({ condition }) => condition === 'CephStorageReady');
  const nova = (...of: Parameters<typeof step>) =>
    step(...of)
      .flatMap(({ objects }) => objects)
      .flatMap((desired) => ('object' in desired && desired.object.kind === 'Nova' ? [desired.object['spec']] : []));
  const remembered = { Cinder: { 'spec.backends[name=fast]': entry } };
  expect(ceph(remembered)?.problem?.reason).toBe('InUse');
  expect(ceph(remembered)?.problem?.message).toContain(
    'what spec.cinder had there is remembered (ConfigMap my-cloud-cinder-lasting): the CephStorage is kept',
  );
  expect(nova(remembered)).toMatchObject([{ cephStorageRef: { name: 'my-cloud-ceph' } }]);
  for (const other of [{}, { Cinder: { 'spec.backends[name=fast]': { ...entry, type: 'custom' } } }]) {
    expect(ceph(other)).toMatchObject({ objects: [], skipped: { reason: 'Disabled' } });
    expect(nova(other)).not.toHaveProperty('[0].cephStorageRef');
  }
  expect(ceph(remembered, { cinder: { cephStorageRef: { name: 'other' } } })?.problem).toBeUndefined();
});
