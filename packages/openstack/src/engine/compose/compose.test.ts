import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import { canonical } from '../names/digest.ts';
import type { KnownSurroundings } from '../vocabulary/surroundings.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

type Spec = Record<string, unknown>;
const world = surroundings(read);

function objects(sample: string, spec: Spec = {}, more: KnownSurroundings = {}): Map<string, string> {
  const base = resource(read(sample));
  const changed = { ...base, spec: { ...(base.spec as Spec), ...spec } } as typeof base;
  const all = objectsOf(composed(changed, { ...world, ...more }));
  return new Map(all.map((desired) => [`${desired.object.kind} ${desired.object.metadata.name}`, canonical(desired)]));
}

/** What a change touches: the digests at the end of names are left out. */
function touched(sample: string, spec: Spec, more: KnownSurroundings = {}): string[] {
  const [before, after] = [objects(sample), objects(sample, spec, more)];
  const names = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  );
  return [...new Set(names.map((name) => name.replace(/^(ConfigMap .*)-[a-z0-5]{10}$/, '$1')))].sort();
}

test('a schedule that no CronJob takes is refused, and told where the resource is Ready with it', () => {
  const base = resource(read('placement'));
  const said = (more: KnownSurroundings) =>
    composed({ ...base, spec: { ...base.spec, recordsAudit: { schedule: '0 5-1 * * *' } } } as typeof base, {
      ...world,
      ...more,
    }).steps.find(({ condition }) => condition === 'ConfigReady');
  const message = 'spec.recordsAudit.schedule: "0 5-1 * * *": hour 5-1 ends before it begins: write 1-5, or 5-23,0-1';
  expect(said({})?.problem).toEqual({ reason: 'SpecRefused', message });
  expect(said({ wasReady: true })).toMatchObject({ degraded: [message] });
});

test('two databases of one service are not one', () => {
  const base = resource(read('nova'));
  const said = (names: Spec) => composed({ ...base, spec: { ...base.spec, database: { names } } as Spec }, world);
  expect(said({ nova_cell0: 'other' }).complete).toBe(true);
  for (const names of [{ nova_api: 'one', nova_cell0: 'one' }, { nova_api: 'nova_cell0' }])
    expect(said(names)).toMatchObject({
      complete: false,
      steps: [
        { problem: { message: expect.stringMatching(/^spec.database.names: nova_api and nova_cell0 are both /u) } },
      ],
    });
});

describe('one field changes, and only what depends on it', () => {
  test.each<[string, string, Spec, string[]]>([
    [
      'replicas of the scheduler',
      'nova',
      { components: { scheduler: { replicas: 3 } } },
      ['Deployment nova-scheduler'],
    ],
    ['replicas of the API', 'placement', { replicas: 4 }, ['Deployment placement-api']],
    [
      'an image of one component, and the Jobs that run the same',
      'glance',
      { images: { api: 'registry.example.org/glance:1' } },
      ['CronJob glance-db-purge', 'Deployment glance-api', 'Job glance-db-sync', 'Job glance-load-metadefs'],
    ],
    [
      'the tag of every image',
      'placement',
      { imageTag: '2025.1-mirrored' },
      [
        'CronJob placement-records-audit',
        'Deployment placement-api',
        'Job placement-db-create',
        'Job placement-db-sync',
      ],
    ],
    [
      'resources of the main component alone',
      'neutron',
      { resources: { requests: { cpu: '1' } } },
      ['Deployment neutron-server'],
    ],
    [
      'an option of one component: a set of its own',
      'nova',
      { config: { scheduler: { scheduler: { max_attempts: 5 } } } },
      ['ConfigMap nova-scheduler-own-config', 'Deployment nova-scheduler', 'Secret nova-scheduler-own-config'],
    ],
    [
      'an option that only the control plane reads: no node agent',
      'nova',
      { config: { 'nova.conf': { scheduler: { max_attempts: 5 } } } },
      [
        'ConfigMap nova-api-config',
        'ConfigMap nova-cell1-config',
        'ConfigMap nova-cell1-manage-config',
        'ConfigMap nova-config',
        'CronJob nova-aggregate-sync',
        'CronJob nova-db-archive',
        'Deployment nova-api',
        'Deployment nova-cell1-conductor',
        'Deployment nova-cell1-novncproxy',
        'Deployment nova-conductor',
        'Deployment nova-metadata',
        'Deployment nova-scheduler',
        'Job nova-cell-setup',
        'Job nova-db-sync',
        'Job nova-host-discovery',
      ],
    ],
    [
      'a bridge mapping: the settings, not the data path',
      'ovn-network',
      { bridgeMappings: [{ physicalNetwork: 'physnet2', bridge: 'br-two' }] },
      ['DaemonSet ovn-ovs-settings-compute'],
    ],
    [
      'one group more: its settings are a DaemonSet of their own',
      'ovn-network',
      {
        nodeGroups: [
          { name: 'compute', nodeSelector: { 'openstack.example.com/role': 'compute' } },
          { name: 'edge', gateway: false },
        ],
      },
      ['ConfigMap ovn-ovs-settings-edge-start', 'DaemonSet ovn-ovs-settings-edge'],
    ],
    [
      'what guests may use: libvirtd and nova-compute under their names, and no virtlogd',
      'nova',
      { nodeGroups: [{ name: 'compute', availabilityZone: 'east', guests: { memory: '48Gi' } }] },
      ['ConfigMap nova-compute-compute-start', 'DaemonSet nova-compute-compute', 'DaemonSet nova-libvirt-compute'],
    ],
    [
      "a cell's hosts: neutron's file for nodes is a file of its own",
      'neutron',
      { config: { 'neutron.conf': { DEFAULT: { dns_domain: 'example.org' } } } },
      [
        'ConfigMap neutron-config',
        'Deployment neutron-ovn-maintenance-worker',
        'Deployment neutron-periodic-workers',
        'Deployment neutron-server',
        'Job neutron-db-sync',
      ],
    ],
  ])('%s', (_title, sample, spec, expected) => {
    expect(touched(sample, spec)).toEqual(expected);
  });

  test('a node joins: its zone and its cell are seen to, and nothing else happens', () => {
    const [first] = world.nodes;
    const nodes = [...world.nodes, { ...(first as NonNullable<typeof first>), name: 'node-3', internalIp: '10.0.0.3' }];
    expect(touched('nova', {}, { nodes })).toEqual([
      'Job nova-host-discovery',
      'Job nova-member-create',
      'Secret nova-member-create',
    ]);
  });

  test('a password is issued anew: what reads it rolls, the database is told, and node agents stay', () => {
    expect(touched('nova', {}, { digests: { 'nova-db-password': 'new' } })).toEqual([
      'Deployment nova-api',
      'Deployment nova-cell1-conductor',
      'Deployment nova-cell1-novncproxy',
      'Deployment nova-conductor',
      'Deployment nova-metadata',
      'Deployment nova-scheduler',
      'Job nova-cell-setup',
      'Job nova-db-create',
      'Job nova-db-sync',
      'Job nova-host-discovery',
      'Secret nova-api-config',
      'Secret nova-cell1-config',
      'Secret nova-cell1-manage-config',
      'Secret nova-config',
      'Secret nova-db-create',
    ]);
  });
});

test('hypervisors know no database and no account of the API', () => {
  const agents = [...objects('nova')].filter(([name]) => name.startsWith('DaemonSet ')).map(([, json]) => json);
  const mounted = new Set(
    agents.flatMap((json) => [...json.matchAll(/"name":"(nova-[a-z0-9-]+-config)"/g)].map((m) => m[1])),
  );
  expect(mounted).toEqual(new Set(['nova-compute-compute-config']));
  const secret = objects('nova').get('Secret nova-compute-compute-config') ?? '';
  expect(Object.keys((JSON.parse(secret) as { object: { stringData: object } }).object.stringData).sort()).toEqual([
    'OS_DEFAULT__TRANSPORT_URL',
    'OS_NEUTRON__PASSWORD',
    'OS_PLACEMENT__PASSWORD',
    'OS_SERVICE_USER__PASSWORD',
  ]);
  expect(secret).not.toContain('mysql');
});

describe('what is missing or wrong is a condition, and nothing is lost', () => {
  test('a reference that does not exist: incomplete, so that nothing is pruned', () => {
    const references = {
      ...world.references,
      databaseRef: { missing: 'spec.databaseRef.name: MariaDB x does not exist' },
    };
    const composition = composed(resource(read('placement')), { ...world, references });
    expect(composition.complete).toBe(false);
    expect(composition.steps.map(({ condition, problem }) => [condition, problem?.reason])).toEqual([
      ['DependenciesReady', 'ReferenceMissing'],
    ]);
  });

  test('a reference by name only need not exist', () => {
    const references = { ...world.references, novaRef: { missing: 'no Nova' } };
    const base = resource(read('neutron'));
    const named = { ...base, spec: { ...base.spec, novaRef: { name: 'later' } } };
    const agent = objectsOf(composed(named, { ...world, references })).find(
      ({ object }) => object.kind === 'DaemonSet',
    );
    expect(agent).toBeDefined();
    const { steps } = composed(base, { ...world, references });
    const agents = steps.find(({ condition }) => condition === 'AgentsReady');
    expect([agents?.skipped?.reason, agents?.objects]).toEqual(['Skipped', []]);
  });

  test.each([
    ['DEFAULT', 'transport_url', 'spec.messageQueueRef or spec.messageQueue'],
    ['database', 'connection', 'spec.databaseRef or spec.database'],
    ['api_database', 'slave_connection', 'spec.databaseRef or spec.database'],
    ['cache', 'backend', 'spec.cacheRef'],
    ['keystone_authtoken', 'memcached_servers', 'spec.cacheRef'],
    ['neutron', 'username', 'spec.identity.userName'],
  ])('an option of what it is a client of: [%s] %s', (section, option, field) => {
    const base = resource(read('nova'));
    const config = { 'nova.conf': { [section]: { [option]: 'x' } } };
    const { steps } = composed({ ...base, spec: { ...base.spec, config } }, world);
    const message = steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message;
    expect(message).toBe(
      `spec.config["nova.conf"].${section}.${option}: this option follows from other fields: set ${field} instead`,
    );
  });

  test('a section in which the operator does not log in is for users', () => {
    const base = resource(read('nova'));
    const config = { 'nova.conf': { cinder: { auth_type: 'password', os_region_name: 'Elsewhere' } } };
    const { steps } = composed({ ...base, spec: { ...base.spec, config } }, world);
    expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem).toBeUndefined();
  });

  test('an option that follows from a field', () => {
    const base = resource(read('nova'));
    const config = { 'nova.conf': { libvirt: { virt_type: 'qemu' } } };
    const { steps } = composed({ ...base, spec: { ...base.spec, config } }, world);
    expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem).toEqual({
      reason: 'ConfigRefused',
      message:
        'spec.config["nova.conf"].libvirt.virt_type: this option follows from other fields: set spec.virtType or spec.nodeGroups[].virtType instead',
    });
  });

  test.each<[string, Spec, string]>([
    [
      'a group whose cell there is not',
      { nodeGroups: [{ name: 'edge', cell: 'cell9' }] },
      'spec.nodeGroups[name=edge].cell: there is no cell cell9; known are cell1',
    ],
    [
      'an option that follows from what guests may use',
      {
        nodeGroups: [
          {
            name: 'edge',
            guests: { memory: '8Gi' },
            config: { 'nova.conf': { DEFAULT: { reserved_host_memory_mb: 512, reserved_host_cpus: 1 } } },
          },
        ],
      },
      'spec.nodeGroups[name=edge].config["nova.conf"].DEFAULT.reserved_host_memory_mb: this option follows from other fields: set guests of the group instead',
    ],
    [
      'requests of libvirtd that are said twice',
      {
        nodeGroups: [{ name: 'edge', guests: { memory: '8Gi' } }],
        components: { libvirt: { resources: { requests: { memory: '1Gi' } } } },
      },
      'spec.nodeGroups[name=edge].guests: conflicts with spec.components.libvirt.resources; remove one of the two',
    ],
  ])('%s', (_title, spec, message) => {
    const base = resource(read('nova'));
    const { steps } = composed({ ...base, spec: { ...base.spec, ...spec } }, world);
    expect(steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message).toBe(message);
  });
});
