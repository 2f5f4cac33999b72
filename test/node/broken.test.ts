import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { run } from '../kubernetes/clients/command.ts';
import { look } from './machine.ts';
import { createNode, instance, reasonToSkip } from './node.ts';

function newNode() {
  const node = createNode();
  onTestFinished(() => node.remove());
  return node;
}

describe.skipIf(reasonToSkip)('up that is interrupted', () => {
  // What is there by then: namespaces not yet, the daemons not yet, the API not yet, the node not yet Ready.
  const moments = ['state/pki/ca.crt', 'state/go', 'state/log/etcd.log', 'state/log/kubelet.log'];

  test.for(moments)('by SIGINT, once there is %s: leaves nothing', async (moment) => {
    const node = newNode();
    const before = look(node.directory);
    const up = spawn('tools/kubernetes/up', node.upArguments, { stdio: 'ignore' });
    const ended = once(up, 'close');
    await vi.waitUntil(() => existsSync(join(node.directory, moment)), { timeout: 60_000, interval: 5 });
    up.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(look(node.directory)).toEqual(before);
    expect(existsSync(join(node.directory, 'state'))).toBe(false);
  });

  test.for(moments)('by SIGKILL, once there is %s: down cleans up', async (moment) => {
    const node = newNode();
    const before = look(node.directory);
    const up = spawn('tools/kubernetes/up', node.upArguments, { stdio: 'ignore' });
    const ended = once(up, 'close');
    await vi.waitUntil(() => existsSync(join(node.directory, moment)), { timeout: 60_000, interval: 5 });
    up.kill('SIGKILL');
    await ended;
    await node.down();
    expect(look(node.directory)).toEqual(before);
  });
});

describe.skipIf(reasonToSkip)('up refuses before it changes anything', () => {
  /** Expects a refusal that says all of this, and an unchanged machine. */
  async function refused(node: ReturnType<typeof createNode>, ...says: string[]) {
    const before = look(node.directory);
    const { code, stderr } = await node.tryUp();
    expect(stderr.split('\n')).toHaveLength(3); // what is wrong, what to do
    for (const part of says) expect(stderr).toContain(part);
    expect(code).toBe(1);
    expect(look(node.directory)).toEqual(before);
    expect(existsSync(join(node.directory, 'state'))).toBe(false);
  }

  test('a directory that holds something else', async () => {
    const node = newNode();
    mkdirSync(node.directory);
    writeFileSync(join(node.directory, 'letter'), 'dear');
    await refused(node, node.directory, 'Choose another directory with --dir');
  });

  test('an interface that is there', async () => {
    const node = newNode();
    execFileSync('ip', ['link', 'add', `osnode${instance}`, 'type', 'bridge']);
    onTestFinished(() => void execFileSync('ip', ['link', 'delete', `osnode${instance}`]));
    await refused(node, `osnode${instance} exists`, '--instance');
  });

  test('a network that the machine uses', async () => {
    const node = newNode();
    const network = `10.${96 + instance}.7.0/24`;
    execFileSync('ip', ['route', 'add', network, 'dev', 'lo']);
    onTestFinished(() => void execFileSync('ip', ['route', 'delete', network]));
    await refused(node, network, '--instance');
  });

  test('another user than root', async () => {
    const environment = { PATH: process.env['PATH'] ?? '', HOME: '/tmp' };
    const script = 'source tools/kubernetes/cluster.bash; source tools/kubernetes/node/node.bash; require_root';
    const argv = ['--reuid', '65534', '--clear-groups', 'bash', '-c', script, 'up'];
    const { code, stderr } = await run('setpriv', argv, { environment });
    expect(stderr).toContain('needs root');
    expect(code).toBe(1);
  });
});
