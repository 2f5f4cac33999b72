import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type ImageContract, readAccounts, readContract } from '../../images/contract.ts';
import { type Run, violationsOf } from '../../images/violations.ts';
import { users } from '../../packages/facts/src/users.ts';

const contract = readContract();
const accounts = readAccounts();

interface Container {
  image: string;
  command?: string[];
  volumeMounts?: { mountPath: string }[];
}
interface Workload {
  data?: Record<string, string>;
  spec?: { template?: { spec?: { initContainers?: Container[]; containers: Container[] } } };
}

/** Every object that the operator composes for the resources of a text. */
function objectsOf(input: string): (Workload | null)[] {
  // What stands in the way in this cluster (no Gateway API) is told, and everything is rendered.
  const { stdout, stderr } = spawnSync('bin/kubectl-openstack', ['render', '-f', '-'], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  // Where nothing was built, nothing is rendered.
  expect(stdout, stderr).not.toBe('');
  return parseAllDocuments(stdout).map((document) => document.toJS() as Workload | null);
}

function containersOf(objects: readonly (Workload | null)[]): Container[] {
  return objects.flatMap((object) => {
    const pod = object?.spec?.template?.spec;
    return [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
  });
}

const samples = readdirSync('config/samples').filter((name) => !['kustomization.yaml', 'gateway.yaml'].includes(name));
const textOf = (name: string) => readFileSync(`config/samples/${name}`, 'utf8');
/** One of several samples of a kind, such as controlplane_minimal.yaml. */
const isVariant = (name: string) => name.includes('_');
/** Samples of single kinds: services refer to each other. */
const parts = samples.filter((name) => !isVariant(name));
/** What a sample stands among: others in the place of that which it is a variant of; a control plane alone. */
const around = (name: string) => {
  const stem = name.replace(/_.*/u, '.yaml');
  return parts.includes(stem) ? parts.filter((part) => part !== stem) : [];
};
const inputs = [...samples.filter(isVariant).map((name) => [name, ...around(name)]), parts];
const rendered = inputs.map((names) => names.map(textOf).join('\n---\n')).flatMap(objectsOf);

const named = (name: string) => contract.images.filter((image) => image.names.includes(name));
const imageName = (reference: string) => /([^/:]+):[^/]*$/.exec(reference)?.[1] ?? reference;

test('numeric ids are those of the operator and of the simulated images', () => {
  expect({ ...accounts.users, root: 0, operator: users.operator }).toEqual(users);
  expect(named('openstack-operator').map(({ user }) => user)).toEqual([users.operator]);
});

test('whatever the operator starts in an image is in the contract, and the recipe makes the image', () => {
  const made = readdirSync('images/layers').flatMap((layer) => {
    const list = `images/layers/${layer}/images`;
    return existsSync(list) ? readFileSync(list, 'utf8').split('\n') : [];
  });
  const containers = containersOf(rendered);
  expect(containers.length).toBeGreaterThan(50);
  for (const { image, command = [] } of containers) {
    const name = imageName(image);
    expect(named(name).length, `${name} in contract.yaml`).toBeGreaterThan(0);
    if (name === 'openstack-operator') continue;
    expect(made).toContain(name);
    const program = command[command[0] === 'dumb-init' ? command.indexOf('--') + 1 : 0] ?? '';
    const wsgi = named(name).some((entry) => entry.wsgi !== undefined) ? ['uwsgi'] : [];
    const allowed = [...contract.commands, ...wsgi, ...named(name).flatMap(({ commands = [] }) => commands)];
    // `dumb-init --single-child --`: the program is what follows.
    expect(allowed, `${name}: ${program}`).toContain(program === '--' ? command[2] : program);
  }
});

test('whatever uwsgi loads is in the contract', () => {
  const files = rendered.flatMap((object) => Object.values(object?.data ?? {}));
  const loaded = new Set(files.flatMap((text) => /^(?:module|wsgi) = (.*)$/mu.exec(text)?.[1] ?? []));
  expect(loaded.size).toBeGreaterThan(4);
  expect(contract.images.flatMap(({ wsgi = [] }) => wsgi)).toEqual(expect.arrayContaining([...loaded]));
});

test('each broken point is one line that says what was found', () => {
  const image: ImageContract = {
    names: ['broken'],
    user: 'nova',
    commands: ['no-such-program', '/usr/bin/no-such-file'],
    files: ['/etc/no-such-file'],
    owned: ['/no-such-directory'],
    runs: ['nova-manage --version'],
  };
  const asked: string[] = [];
  // The words of this machine's shell stand for those of an image's.
  const run: Run = ({ uid, command, input }) => {
    asked.push(`${uid}: ${command.join(' ')}`);
    if (command[0] !== 'sh') return { status: 127, output: 'noise\nnova-manage: not found' };
    const { status, stdout } = spawnSync('sh', {
      input: input?.replaceAll('/var/log/kolla', '/no-log') ?? '',
      encoding: 'utf8',
    });
    return { status, output: stdout };
  };
  const lines = violationsOf(image, { ...contract, commands: ['sh'] }, { ...accounts, users: { nova: 42_436 } }, run);
  expect(asked).toEqual(['0: sh', '42436: sh', '42436: nova-manage --version']);
  const points = [
    'user nova is not 42436:42436',
    'group nova is not 42436',
    '/no-log is not root:kolla 2775',
    'no-such-program is not on PATH',
    '/usr/bin/no-such-file is not there or no program',
    '/etc/no-such-file is not there or not readable by nova',
    '/no-such-directory does not belong to nova',
    'nova-manage --version: exit 127: nova-manage: not found',
  ];
  expect(lines).toEqual(points.map((point) => expect.stringContaining(point)));
});
