import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { run } from '../kubernetes/clients/command.ts';
import { look, type Machine } from './machine.ts';
import { createNode, reasonToSkip, tool } from './node.ts';

// In the order that a user goes: one node lives through all of them.
describe.skipIf(reasonToSkip)('a whole node', () => {
  const node = createNode();
  let before: Machine;
  const smoke = (...argv: string[]) => node.kubectl('--namespace', 'smoke', ...argv);
  const address = (service: string) => smoke('get', 'service', service, '--output', 'jsonpath={.spec.clusterIP}');
  const eventually = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 60_000, interval: 200 });

  beforeAll(async () => {
    before = look(node.directory);
    await node.up();
    await node.load(await node.busyboxArchive('localhost/busybox:test'));
    await node.kubectl('create', 'namespace', 'smoke');
    await eventually(() => smoke('get', 'serviceaccount', 'default'));
    await smoke('apply', '--filename', 'test/node/smoke.yaml');
  });
  afterAll(() => node.remove());

  test('says what it runs', async () => {
    expect(await node.status()).toMatch(/node +node1 Ready, v[\d.]+/);
  });

  test('runs a hardened Deployment, which the machine reaches at the address of its Service', async () => {
    await smoke('rollout', 'status', 'deployment/web', '--timeout', '50s');
    const url = `http://${await address('web')}/`;
    // kube-proxy may be a second behind the endpoints.
    await eventually(async () => {
      const { stdout } = await run('curl', ['--silent', '--max-time', '5', '--noproxy', '*', url], {
        environment: { PATH: process.env['PATH'] ?? '' },
      });
      expect(stdout).toBe('hello\n');
    });
    const status = await smoke(
      'exec',
      'deployment/web',
      '--',
      'grep',
      '-E',
      '^(Uid|CapEff|NoNewPrivs|Seccomp):',
      '/proc/self/status',
    );
    expect(status.split(/\s+/)).toEqual([
      'Uid:',
      '42415',
      '42415',
      '42415',
      '42415',
      'CapEff:',
      '0000000000000000',
      'NoNewPrivs:',
      '1',
      'Seccomp:',
      '2',
      '',
    ]);
    const readOnly = await node.tryKubectl('--namespace', 'smoke', 'exec', 'deployment/web', '--', 'touch', '/x');
    expect(readOnly.stderr).toContain('Read-only file system');
  });

  test('resolves short and long names of Services, and of pods of a StatefulSet', async () => {
    const waited = await node.tryKubectl(
      '--namespace=smoke',
      'wait',
      'job/names',
      '--for=condition=Complete',
      '--timeout=80s',
    );
    if (waited.code !== 0)
      throw new Error(`${waited.stderr}${await smoke('describe', 'pods')}${await smoke('logs', 'job/names')}`);
    expect(await smoke('logs', 'job/names')).toMatch(/20\d\d/); // what the database's pod sends
  });

  test('gives a claim a volume whose group is fsGroup', async () => {
    await smoke('rollout', 'status', 'statefulset/database', '--timeout', '50s');
    expect(await smoke('exec', 'database-0', '--', 'ls', '-lnd', '/data')).toMatch(/^drwxrws\S+ +\d+ +\d+ +42434 /);
    expect(
      await smoke('get', 'pvc', 'data-database-0', '--output', 'jsonpath={.status.phase} {.spec.storageClassName}'),
    ).toBe('Bound local');
  });

  test('runs a privileged agent on the node itself: its processes, its name, its mounts', async () => {
    await smoke('wait', 'pod/agent', '--for', 'condition=Ready', '--timeout', '50s');
    expect(await smoke('exec', 'agent', '--', 'hostname')).toBe('node1\n');
    expect(await smoke('exec', 'agent', '--', 'ps')).toContain('kubelet');
    expect(await smoke('exec', 'agent', '--', 'nslookup', 'web.smoke.svc.cluster.local')).toContain(
      await address('web'),
    );
    // Bidirectional: what it mounted is seen by the node.
    expect(await node.enter('ls', '/var/lib/agent/inner')).toBe('there\n');
  });

  test('kills what takes more memory than its limit', async () => {
    const reason = () =>
      smoke('get', 'pod', 'greedy', '--output', 'jsonpath={.status.containerStatuses[0].state.terminated.reason}');
    await eventually(async () => expect(await reason()).toBe('OOMKilled'));
  });

  test('restarts a daemon that died', async () => {
    const kubelet = () => node.enter('pgrep', '--exact', 'kubelet');
    const old = await kubelet();
    await node.enter('pkill', '--exact', '-KILL', 'kubelet');
    await eventually(async () => expect(await kubelet()).not.toBe(old));
    await eventually(async () => expect(await smoke('exec', 'agent', '--', 'hostname')).toBe('node1\n'));
  });

  test('imports an archive once', async () => {
    const archive = await node.busyboxArchive('localhost/busybox:test');
    expect((await tool('load', ['--dir', node.directory, archive])).stderr).toBe('');
    await node.enter('ctr', '--namespace', 'k8s.io', 'images', 'rm', 'localhost/busybox:test');
    expect((await tool('load', ['--dir', node.directory, archive])).stderr).toContain('imported');
  });

  test('goes on with its objects and volumes after a power cut', async () => {
    process.kill(node.pid(), 'SIGKILL');
    const refused = await eventually(async () => {
      const ran = await node.tryUp();
      expect(ran.stderr).toContain('was killed');
      return ran;
    });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('--keep-volumes');
    await node.down('--keep-volumes');
    expect(look(node.directory)).toEqual(before);
    await node.up();
    await eventually(async () => {
      expect((await smoke('exec', 'database-0', '--', 'cat', '/data/starts')).trim().split('\n')).toHaveLength(2);
    });
  });

  test('leaves nothing, and comes again with its images', async () => {
    await node.down();
    expect(look(node.directory)).toEqual(before);
    await node.up();
    expect(await node.enter('ctr', '--namespace', 'k8s.io', 'images', 'list', '--quiet')).toContain(
      'localhost/busybox:test',
    );
    expect((await node.tryKubectl('get', 'namespace', 'smoke')).stderr).toContain('NotFound');
    expect(await node.kubectl('get', 'nodes', '--output', 'name')).toBe('node/node1\n');
    await node.down('--purge');
    expect(look(node.directory)).toEqual(before);
  });
});
