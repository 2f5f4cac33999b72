import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ran, type RunOptions, run } from '../kubernetes/clients/command.ts';
import { type Cloud, controlPlane, createCloud, identityOnly } from '../sandbox/rollout/cloud.ts';

const scratch = mkdtempSync(join(tmpdir(), 'follow-'));
const kubeconfig = join(scratch, 'kubeconfig');
/** Where nobody listens. */
const closed = `{clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}], contexts: [{name: a, context: {cluster: a, user: a}}], current-context: a, users: [{name: a, user: {}}]}`;
/** Its time passes when a test lets it: however busy the machine is, nothing in it is late. */
let cloud: Cloud;
let close: () => Promise<void>;

beforeAll(async () => {
  cloud = await createCloud();
  await cloud.startOperator();
  const listening = await cloud.rehearsal.sandbox.listen();
  close = () => listening.close();
  writeFileSync(kubeconfig, await listening.kubeconfig());
  writeFileSync(join(scratch, 'closed'), closed);
});
afterAll(async () => {
  await close();
  cloud.rehearsal.stop();
  rmSync(scratch, { recursive: true });
});

/** Runs the built command as a user does, while the sandbox in this process answers it. */
function follow(argv: readonly string[], options: Partial<RunOptions> = {}): Promise<Ran> {
  const environment = { PATH: process.env['PATH'] ?? '', HOME: scratch, KUBECONFIG: kubeconfig };
  return run('bin/kubectl-openstack', ['follow', ...argv], { environment, ...options });
}

test('a rollout is followed to its end: a line for what is new, and how long it took', async () => {
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.until(() => cloud.isReady('MariaDB', 'my-cloud-mariadb'));
  let rest: Promise<void> | undefined;
  const { code, stdout, stderr } = await follow(['my-cloud', '-n', 'openstack'], {
    until: () => {
      rest ??= cloud.ready();
      return false;
    },
  });
  await rest;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.at(-1)).toMatch(/^Ready .* after it was created\.$/);
  const said = lines.slice(0, -1).map((line) => /^ *[\d.]+ (?:s|min \d\d s) {2}(.*)$/.exec(line)?.[1]);
  expect(said).toContain('Keystone my-cloud-keystone: Ready');
  expect(said.findIndex((line) => line?.startsWith('Keystone my-cloud-keystone: Job'))).toBeGreaterThanOrEqual(0);
  expect(said.indexOf('MariaDB my-cloud-mariadb: Ready')).toBeLessThan(
    said.indexOf('Keystone my-cloud-keystone: Ready'),
  );
  expect(new Set(said).size, 'nothing is said twice').toBe(said.length);

  const again = await follow(['my-cloud', '-n', 'openstack']);
  expect(again.code).toBe(0);
  expect(again.stdout).toContain('Keystone my-cloud-keystone: Ready');
});

test('a rollout that stands still is given up with what it waits for, one that is deleted with that', async () => {
  await cloud.settle(
    cloud.rehearsal.create(controlPlane({ ...identityOnly, mariadb: { image: 'example.com/none:1' } }, 'stuck')),
  );
  await cloud.until(() => cloud.get('MariaDB', 'stuck-mariadb')?.['status'] !== undefined);
  const late = await follow(['stuck', '-n', 'openstack', '--timeout', '2']);
  expect(late.code).toBe(1);
  expect(late.stderr).toMatch(/^kubectl openstack: not Ready within 2\.0 s:\n {2}MariaDB stuck-mariadb: .+/);
  const client = cloud.rehearsal.sandbox.client();
  let deleted = false;
  const gone = await follow(['stuck', '-n', 'openstack'], {
    until: () => {
      if (!deleted) void client.delete(OpenStackControlPlane, { namespace: 'openstack', name: 'stuck' });
      deleted = true;
      return false;
    },
  });
  expect(gone).toMatchObject({
    code: 1,
    stderr: 'kubectl openstack: OpenStackControlPlane openstack/stuck was deleted\n',
  });
});

test.concurrent.each([
  {
    what: 'no such resource',
    argv: ['absent', '-n', 'openstack'],
    code: 1,
    says: 'OpenStackControlPlane openstack/absent does not exist; kubectl get oscp -A lists them',
  },
  { what: "another namespace, the context's", argv: ['my-cloud'], code: 1, says: 'default/my-cloud' },
  {
    what: 'a cluster that does not answer',
    argv: ['my-cloud', '--kubeconfig', 'closed'],
    code: 2,
    says: /https:\/\/127\.0\.0\.1:1: connect ECONNREFUSED .*; check that the cluster runs, or name another one with --kubeconfig/,
  },
  {
    what: 'a kubeconfig that is not there',
    argv: ['my-cloud', '--kubeconfig', 'none'],
    code: 2,
    says: /none: .*exist/,
  },
  { what: 'no name', argv: [], code: 2, says: "missing required argument 'name'" },
  { what: 'a timeout that is none', argv: ['my-cloud', '--timeout', 'soon'], code: 2, says: 'expected seconds' },
])('refused: $what', async ({ argv, code, says }) => {
  const paths = argv.map((word) => (['closed', 'none'].includes(word) ? join(scratch, word) : word));
  const ended = await follow(paths);
  expect(ended).toMatchObject({ code, stdout: '' });
  expect(ended.stderr).toMatch(says);
});
