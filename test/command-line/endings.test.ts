import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const scratch = mkdtempSync(join(tmpdir(), 'endings-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const sample = 'config/samples/controlplane_minimal.yaml';
const kubectl = 'bin/kubectl-openstack';
const operator = `${process.execPath} dist/openstack-operator.mjs`;

/** Runs a line of a shell, which has 30 s. */
function shell(line: string): SpawnSyncReturns<string> {
  return spawnSync('bash', ['-o', 'pipefail', '-c', line], { encoding: 'utf8', timeout: 30_000 });
}

const broken = join(scratch, 'broken.yaml');
writeFileSync(broken, 'a: [\n');
const mistaken = join(scratch, 'mistaken.yaml');
writeFileSync(
  mistaken,
  'apiVersion: openstack.k8s.io/v1alpha1\nkind: MariaDB\nmetadata: {name: db}\nspec: {replicas: -1}\n',
);

test.each([
  [`${kubectl} validate -f ${sample}`, 0, ''],
  [`${kubectl} validate -f ${mistaken}`, 1, '1 mistake in'],
  [`${kubectl} render -f ${mistaken}`, 1, '1 mistake in'],
  [`${kubectl} demo -f ${mistaken}`, 1, 'spec.replicas: -1'],
  [`${kubectl} nothing`, 2, "unknown command 'nothing'"],
  [`${kubectl} validate -f ${sample} --nothing`, 2, "unknown option '--nothing'"],
  [`${kubectl} validate`, 2, "required option '-f, --file <file>' not specified"],
  [`${kubectl} demo --speed slow`, 2, "argument 'slow' is invalid"],
  [`${kubectl} validate -f ${scratch}/absent.yaml`, 2, 'cannot be read'],
  [`${kubectl} demo -f ${scratch}/absent.yaml`, 2, 'cannot be read'],
  [`${kubectl} render -f ${broken}`, 2, 'line 2'],
  [`${operator} nothing`, 2, 'no command "nothing"'],
  [`${operator} run --nothing`, 2, "Unknown option '--nothing'"],
  [`${operator} run --kubeconfig ${scratch}/absent`, 2, `kubeconfig ${scratch}/absent`],
  // What is wrong with an option is told before what is wrong with the cluster.
  [`${operator} run --port abc --kubeconfig ${scratch}/absent`, 2, '--port: "abc" is not a port number (0 to 65535)'],
  [`${operator} run --port 65536 --kubeconfig ${scratch}/absent`, 2, '--port: "65536" is not a port number'],
  [`${operator} run --log-level foo`, 2, '--log-level: "foo" is not one of debug, info, warn, error'],
])('%s ends with %i', (line, status, says) => {
  const ended = shell(line);
  expect(ended).toMatchObject({ status, stderr: expect.stringContaining(says) });
});

test.each([
  [kubectl, 'packages/cli/package.json'],
  [operator, 'packages/operator/package.json'],
])('%s --version prints that of its package, and --help its exit codes', (command, manifest) => {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  expect(shell(`${command} --version`)).toMatchObject({ status: 0, stdout: `${version}\n` });
  expect(shell(`${command} --help`)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/the\s+call is wrong/u),
  });
});

test('who reads has enough: render ends without a word, as a program that SIGPIPE ends', () => {
  const { status, stdout, stderr } = shell(`${kubectl} render -f ${sample} | head -n 2`);
  expect({ status, stderr, lines: stdout.split('\n').length }).toEqual({ status: 141, stderr: '', lines: 3 });
});

test('what cannot be written is one line', () => {
  expect(shell(`${kubectl} render -f ${sample} > /dev/full`)).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^kubectl openstack: standard output cannot be written: ENOSPC.*\n$/u),
  });
});

test('sandbox: a kubeconfig that cannot be written, or a port that is taken, ends it', async () => {
  for (const more of ['', ' --operator']) {
    const { status, stdout, stderr } = shell(`${kubectl} sandbox --kubeconfig ${scratch}/no/such/dir${more}`);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/no\/such\/dir cannot be written: ENOENT.*; name another file with --kubeconfig\n$/u);
  }
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const taken = shell(`${kubectl} sandbox --port ${port} --kubeconfig ${scratch}/kubeconfig`);
  server.close();
  expect(taken).toMatchObject({ status: 2, stderr: expect.stringContaining(`cannot listen on port ${port}: `) });
});

test.each([
  { more: [], advised: 'kubectl get nodes,namespaces' },
  { more: ['--operator'], advised: 'kubectl get openstack,pods -A' },
])('sandbox $more: advises what works there, and ends when it is interrupted', async ({ more, advised }) => {
  const sandbox = spawn(kubectl, ['sandbox', '--kubeconfig', join(scratch, 'sandbox'), ...more]);
  let said = '';
  for await (const chunk of sandbox.stdout.setEncoding('utf8')) {
    said += chunk as string;
    if (said.includes('Ctrl-C')) sandbox.kill('SIGINT');
  }
  const [code] = sandbox.exitCode === null ? ((await once(sandbox, 'exit')) as [number]) : [sandbox.exitCode];
  expect(said).toContain(`${advised}\n`);
  expect(code).toBe(0);
});
