import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

const scratch = mkdtempSync(join(tmpdir(), 'command-line-'));
afterAll(() => rmSync(scratch, { recursive: true }));

/** Runs the built command as a user does. */
function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync('bin/kubectl-openstack', args, { encoding: 'utf8', timeout: 60_000 });
}

const file = (name: string, text: string): string => {
  const path = join(scratch, name);
  writeFileSync(path, text);
  return path;
};

test('help teaches, and a mistyped command is answered with the nearest one', () => {
  expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('kubectl openstack demo') });
  expect(run('rendr')).toMatchObject({ status: 2, stderr: expect.stringContaining('Did you mean render?') });
});

test('validate: one line for each mistake, exit 1; exit 0 for a valid file', () => {
  const bad = file(
    'bad.yaml',
    'apiVersion: openstack.k8s.io/v1alpha1\nkind: MariaDB\nmetadata: {name: db}\nspec: {replicas: -1, stroage: {}}\n',
  );
  const { status, stdout } = run('validate', '-f', bad);
  expect(status).toBe(1);
  expect(stdout.trimEnd().split('\n')).toEqual([
    'MariaDB db: spec.stroage: unknown field "stroage"; did you mean storage?',
    'MariaDB db: spec.replicas: -1: should be greater than or equal to 0',
  ]);
  expect(run('validate', '-f', 'config/samples/controlplane_minimal.yaml').status).toBe(0);
  expect(run('validate', '-f', join(scratch, 'absent.yaml'))).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('cannot be read'),
  });
});

test('validate: what is composed shows beside what is not admitted, and items of a list have their places', () => {
  const resource = (spec: object) => ({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'OpenStackControlPlane',
    metadata: { name: 'c' },
    spec,
  });
  const config = { 'nova.conf': { DEFAULT: { cpu_alocation_ratio: 4 } } };
  const items = [resource({ nova: { enabled: 3, config } }), { ...resource({}), metadata: { name: 'd' } }];
  const list = file('list.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const { status, stdout, stderr } = run('validate', '-f', list);
  expect(status).toBe(1);
  expect(stdout.trimEnd().split('\n')).toEqual([
    'OpenStackControlPlane c (items[0]): spec.nova.enabled: must be of type boolean, not integer',
    expect.stringMatching(
      /^OpenStackControlPlane c \(items\[0\]\): spec\.nova\.config.*did you mean cpu_allocation_ratio/u,
    ),
  ]);
  expect(stderr).toContain('composed without spec.nova.enabled: OpenStackControlPlane c (items[0]): ');
  expect(stderr).toContain('2 mistakes in ');
});

const database = (name: string, spec: object = {}) =>
  JSON.stringify({ apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'MariaDB', metadata: { name }, spec });

test('validate and render take several files, each of which counts', () => {
  const wrong = file('first.json', database('one', { replicas: -1 }));
  const right = file('second.json', database('two'));
  expect(run('validate', '-f', wrong, '-f', right)).toEqual(
    expect.objectContaining({
      status: 1,
      stdout: `MariaDB one (${wrong}): spec.replicas: -1: should be greater than or equal to 0\n`,
      stderr: expect.stringContaining(`1 mistake in ${wrong}, ${right}\n`),
    }),
  );
  const other = file('third.json', database('three'));
  expect(run('validate', '-f', right, '-f', other)).toMatchObject({
    status: 0,
    stdout: `${right}, ${other}: 2 resources are valid\n`,
  });
  const { stdout } = run('render', '-f', right, '-f', other);
  const names = parseAllDocuments(stdout).map(
    (document) => (document.toJS() as { metadata: { name: string } }).metadata.name,
  );
  expect(names).toEqual(expect.arrayContaining(['two', 'three']));
});

test.each([
  ['documents', [`${database('db')}\n---\n${database('db')}\n`], ['document 2', 'document 1']],
  [
    'items',
    [JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [1, 2].map(() => JSON.parse(database('db')) as object) })],
    ['items[1]', 'items[0]'],
  ],
  ['files', [database('db'), database('db')], ['same-files-1.yaml', 'same-files-0.yaml']],
])('validate: the same resource twice, in two %s, is one mistake', (what, texts, [second = '', first = '']) => {
  const paths = texts.map((text, index) => file(`same-${what}-${index}.yaml`, text));
  const { status, stdout } = run('validate', ...paths.flatMap((path) => ['-f', path]));
  expect(status).toBe(1);
  expect(stdout.replaceAll(`${scratch}/`, '')).toMatch(/^MariaDB db.*: metadata\.name: .*\n$/u);
  expect(stdout.replaceAll(`${scratch}/`, '')).toContain(
    `: ${second} is the same resource as ${first}: remove one of the two, or give it another name\n`,
  );
});

test('validate: standard input is called so', () => {
  const args = ['validate', '-f', '-'];
  const input = 'apiVersion: v1\nkind: List\nitems: []\n';
  const { status, stderr } = spawnSync('bin/kubectl-openstack', args, { encoding: 'utf8', timeout: 60_000, input });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: 'kubectl openstack: standard input has no resource of openstack.k8s.io\n',
  });
});

test('validate: 200,000 keys are refused in seconds', () => {
  const keys = Array.from({ length: 200_000 }, (_, i) => `  k${i}: 1\n`).join('');
  const head = 'apiVersion: openstack.k8s.io/v1alpha1\nkind: MariaDB\nmetadata: {name: db}\nspec:\n';
  const { status, stdout } = run('validate', '-f', file('keys.yaml', head + keys));
  expect({ status, stdout }).toEqual({
    status: 1,
    stdout:
      'MariaDB db: spec: the resource has 2.19 MiB as JSON, most of it here; etcd takes objects of at most 1.5 MiB: shorten it\n',
  });
});

test('render refuses what validate refuses, in the same words and with the same exit code', () => {
  const wrong = file(
    'wrong.yaml',
    'apiVersion: openstack.k8s.io/v1alpha1\nkind: MariaDB\nmetadata: {name: db}\nspec: {storage: {size: [3]}}\n',
  );
  const validated = run('validate', '-f', wrong);
  const rendered = run('render', '-f', wrong);
  expect(rendered).toMatchObject({ status: validated.status, stdout: '' });
  expect(validated.stdout).toContain('MariaDB db: spec.storage.size: ');
  expect(rendered.stderr).toContain(validated.stdout);
});

test('render: a YAML stream of every object, the same each time; routes where Gateway API is said to be there', () => {
  const plain = run('render', '-f', 'config/samples/controlplane_minimal.yaml');
  expect(plain.status).toBe(0);
  const objects = parseAllDocuments(plain.stdout).map(
    (document) => document.toJS() as { kind: string; metadata: { name: string } },
  );
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toContain('Deployment my-cloud-keystone-api');
  expect(objects.some(({ kind }) => kind === 'HTTPRoute')).toBe(false);
  expect(run('render', '-f', 'config/samples/controlplane_minimal.yaml').stdout).toBe(plain.stdout);
  // What becomes of nodes is told where nobody applies it.
  expect(plain.stdout).toContain('# Claims all nodes that are Ready, schedulable, and of no other cloud');
  expect(plain.stdout).toContain('# their taints: none with effect NoSchedule or NoExecute');
  const routed = run('render', '-f', 'config/samples/controlplane_minimal.yaml', '--capabilities', 'gateway-api');
  expect(routed.stdout).toContain('keystone.openstack.local');
  expect(run('render', '-f', 'config/samples/controlplane_minimal.yaml', '--capabilities', 'gatewayapi')).toMatchObject(
    { status: 2 },
  );
});

test('demo --speed fast brings the minimal cloud to Ready within 8 yardsticks of work, and says that it is simulated', () => {
  const yardstick = work(process.execPath, 'test/command-line/yardstick.mjs').seconds;
  const demo = work('bin/kubectl-openstack', 'demo', '--speed', 'fast');
  console.log(`demo --speed fast worked ${demo.seconds} s, the yardstick before it ${yardstick} s`);
  expect(demo.stderr).toBe('');
  expect(demo.stdout).toContain('simulated');
  expect(demo.stdout).toMatch(/Ready after .* of virtual time/);
  expect(demo.seconds / yardstick).toBeLessThan(8);
});

test('demo: the nodes have the interfaces that the file maps to bridges', () => {
  const off = ['mariadb', 'rabbitmq', 'memcached', 'keystone', 'glance', 'placement', 'neutron', 'nova'];
  const bridgeMappings = [{ physicalNetwork: 'physnet1', bridge: 'br-ex', interface: 'enp5s0f1np1' }];
  const bridged = {
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'OpenStackControlPlane',
    metadata: { name: 'bridged' },
    spec: {
      ...Object.fromEntries(off.map((service) => [service, { enabled: false }])),
      ovnNetwork: { nodeGroups: [{ name: 'gateways', bridgeMappings }] },
    },
  };
  const { status, stdout, stderr } = run(
    'demo',
    '--speed',
    'fast',
    '-f',
    file('bridged.json', JSON.stringify(bridged)),
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/Ready after/);
});

/**
 * Runs a command, which must succeed, and takes its seconds of processor time in all threads: what it takes where nothing
 * else runs, however busy this machine is. How fast its processors are, a yardstick beside it tells.
 */
function work(...command: string[]): { seconds: number; stdout: string; stderr: string } {
  const script = 'TIMEFORMAT="worked %U and %S s"; time "$@"';
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', ...command], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const [line = '', user, system] = /worked (.*) and (.*) s\n/.exec(stderr) ?? [];
  expect(status, stderr).toBe(0);
  return { seconds: Number(user) + Number(system), stdout, stderr: stderr.replace(line, '') };
}
