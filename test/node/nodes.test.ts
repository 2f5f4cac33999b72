import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { run } from '../kubernetes/clients/command.ts';
import { look, type Machine } from './machine.ts';
import { createNode, instance, mustTool, reasonToSkip, tool } from './node.ts';

/** Answers with the address of whoever asks. */
const mirror = [
  'mkdir -p /tmp/cgi-bin',
  "printf '#!/bin/sh\\necho\\necho $REMOTE_ADDR\\n' > /tmp/cgi-bin/you",
  'busybox chmod 755 /tmp/cgi-bin/you',
  'exec httpd -f -p 8080 -h /tmp',
].join('\n');

const podOn = (node: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `on-node${node}`, labels: { app: `on-node${node}` } },
  spec: {
    nodeName: `node${node}`,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'mirror', image: 'localhost/busybox:test', command: ['sh', '-c', mirror] }],
  },
});

const serviceOf = (node: number) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: `on-node${node}` },
  spec: { selector: { app: `on-node${node}` }, ports: [{ port: 80, targetPort: 8080 }] },
});

// In the order that a user goes: the same nodes live through all of them.
describe.skipIf(reasonToSkip)('several nodes', () => {
  const node = createNode();
  let before: Machine;
  const up = (nodes: number) => mustTool('up', ...node.upArguments, '--nodes', String(nodes));
  const eventually = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 60_000, interval: 200 });
  const names = async () => (await node.kubectl('get', 'nodes', '--output', 'name')).trim().split('\n');
  const addressOf = (number: number) =>
    node.kubectl('get', 'pod', `on-node${number}`, '--output', 'jsonpath={.status.podIP}');
  const apply = async (...objects: readonly object[]) => {
    for (const object of objects) await node.kubectl('create', '--filename', node.file(JSON.stringify(object)));
  };
  const start = async (number: number) => {
    await apply(podOn(number), serviceOf(number));
    await node.kubectl('wait', 'pod', `on-node${number}`, '--for=condition=Ready', '--timeout=60s');
  };
  /** What a pod of one node is told by whoever answers at an address. Not wget, which ends by SIGSEGV (node.ts). */
  const asked = async (from: number, host: string, port = 8080) => {
    const get = `printf 'GET /cgi-bin/you HTTP/1.0\\r\\n\\r\\n' | nc -w 5 ${host} ${port}`;
    return (await node.kubectl('exec', `on-node${from}`, '--', 'sh', '-c', get))
      .trim()
      .split('\n')
      .at(-1)
      ?.replace('[::ffff:', '')
      .replace(']', '');
  };
  const serviceAddress = (number: number) =>
    node.kubectl('get', 'service', `on-node${number}`, '--output', 'jsonpath={.spec.clusterIP}');

  beforeAll(async () => {
    before = look(node.directory);
    await node.up();
    await node.load(await node.busyboxArchive('localhost/busybox:test'));
    await up(2);
  });
  afterAll(() => node.remove());

  test('a second node joins with the images of the first one, and each has a name and a machine ID', async () => {
    expect(await names()).toEqual(['node/node1', 'node/node2']);
    await eventually(() => node.kubectl('get', 'serviceaccount', 'default'));
    await start(1);
    await start(2);
    const of = async (number: string) =>
      await node.enter('--node', number, 'sh', '-c', 'hostname; cat /etc/machine-id');
    const [one, two] = [await of('1'), await of('2')];
    expect([one, two]).toEqual([expect.stringMatching(/^node1\n/), expect.stringMatching(/^node2\n/)]);
    expect(one.split('\n')[1]).not.toBe(two.split('\n')[1]);
    const { code, stderr } = await tool('enter', ['--dir', node.directory, '--node', '3', 'true']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('node3 does not run')]);
  });

  test('pods of both reach each other by their own addresses, and by Services', async () => {
    const [one, two] = [await addressOf(1), await addressOf(2)];
    expect([await asked(1, two), await asked(2, one)]).toEqual([one, two]);
    const [first, second] = [await serviceAddress(1), await serviceAddress(2)];
    await eventually(async () => expect([await asked(1, second, 80), await asked(2, first, 80)]).toEqual([one, two]));
    const { stdout } = await run(
      'curl',
      ['--silent', '--max-time', '5', '--noproxy', '*', `http://${two}:8080/cgi-bin/you`],
      {
        environment: { PATH: process.env['PATH'] ?? '' },
      },
    );
    expect(stdout).toContain(`10.89.${instance}.254`);
  });

  test('an image is loaded into all of them, and a third one joins those that run', async () => {
    const archive = await node.busyboxArchive('localhost/busybox:later');
    await node.load(archive);
    for (const number of ['1', '2'])
      expect(await node.enter('--node', number, 'ctr', '--namespace', 'k8s.io', 'images', 'list', '--quiet')).toContain(
        'localhost/busybox:later',
      );
    await up(3);
    expect(await names()).toEqual(['node/node1', 'node/node2', 'node/node3']);
    await start(3);
    expect(await asked(3, await addressOf(2))).toBe(await addressOf(3));
    expect(await asked(2, await addressOf(3))).toBe(await addressOf(2));
  });

  test('a volume is one of its node', async () => {
    const metadata = { name: 'there' };
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } };
    await apply(
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: claim },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata,
        spec: {
          nodeSelector: { 'kubernetes.io/hostname': 'node2' },
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: 'writer',
              image: 'localhost/busybox:test',
              command: ['sh', '-c', 'hostname > /data/name && exec sleep 1000'],
              volumeMounts: [{ name: 'data', mountPath: '/data' }],
            },
          ],
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'there' } }],
        },
      },
    );
    await node.kubectl('wait', 'pod', 'there', '--for=condition=Ready', '--timeout=60s');
    expect(await node.kubectl('exec', 'there', '--', 'cat', '/data/name')).toBe('there\n');
  });

  test('all of them come back after a power cut, and leave nothing in the end', async () => {
    await node.down('--keep-volumes');
    expect(look(node.directory)).toEqual(before);
    await up(3);
    await node.kubectl('wait', 'node', '--all', '--for=condition=Ready', '--timeout=60s');
    await node.kubectl('wait', 'pod', '--all', '--for=condition=Ready', '--timeout=60s');
    expect(await node.kubectl('exec', 'there', '--', 'cat', '/data/name')).toBe('there\n');
    await eventually(async () => expect(await asked(1, await addressOf(3))).toBe(await addressOf(1)));
    await node.down('--purge');
    expect(look(node.directory)).toEqual(before);
  }, 180_000);
});
