import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectedPath, connectedProbe, connectedScript, ovsdbPeer } from './connected.ts';

// The script reads what the kernel says: here it is asked of real processes and real connections.

const folder = mkdtempSync(join(tmpdir(), 'connected-'));
const script = join(folder, 'connected.sh');
let server: Server;
let port: number;
let children: ChildProcess[] = [];

beforeEach(async () => {
  writeFileSync(script, connectedScript);
  server = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  server.close();
  rmSync(folder, { recursive: true, force: true });
  execFileSync('mkdir', ['-p', folder]);
});

const name = `program-of-${process.pid}`;

/** A shell that holds a connection, as a program does that consumes a queue. */
async function program(body: string): Promise<ChildProcess> {
  const child = spawn('bash', ['-c', `${body}; echo begun; sleep 60 & wait; : ${name}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return child;
}

function ask(question: 'ready' | 'alive', ...to: string[]) {
  const [bash = '', , ...words] = connectedProbe({ connected: name, to }, question);
  const { status, stdout } = spawnSync(bash, [script, ...words], { encoding: 'utf8' });
  return { status, says: stdout.trim().replaceAll(/\d+/g, 'N') };
}

const connect = () => `exec 3<>/dev/tcp/127.0.0.1/${port}`;

/** A peer that ends its side: the kernel answers, and the program takes no notice. */
async function endConnections(): Promise<void> {
  const gone = createServer({ allowHalfOpen: true }, (socket) => socket.end());
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  server.close();
  server = gone;
  ({ port } = gone.address() as AddressInfo);
}

test('a program that holds a connection to each peer is ready and alive', async () => {
  await program(connect());
  expect(ask('ready', `127.0.0.1:${port}`)).toEqual({ status: 0, says: '' });
  expect(ask('ready', `unknown:1,127.0.0.1:${port}`)).toEqual({ status: 0, says: '' });
  expect(ask('alive', `127.0.0.1:${port}`)).toEqual({ status: 0, says: '' });
});

test('without a connection it is not ready, and not alive when the peer answers', async () => {
  await program('true');
  const lost = { status: 1, says: `${name.replace(/\d+/, 'N')}: process N has no connection to N.N.N.N:N` };
  expect(ask('ready', `127.0.0.1:${port}`)).toEqual(lost);
  expect(ask('alive', `127.0.0.1:${port}`)).toEqual(lost);
});

test('a peer that is down makes it unready, and no restart is asked for', async () => {
  await program('true');
  expect(ask('ready', '127.0.0.1:1').status).toBe(1);
  expect(ask('alive', '127.0.0.1:1')).toEqual({
    status: 0,
    says: `${name.replace(/\d+/, 'N')}: process N waits for N.N.N.N:N, where nobody answers`,
  });
});

test('a connection that the peer has ended does not count: a program that hangs keeps its side of it', async () => {
  await endConnections();
  await program(connect());
  await once(spawn('sleep', ['0.2']), 'exit');
  expect(ask('alive', `127.0.0.1:${port}`).status).toBe(1);
});

test('a process that was stopped does not run', async () => {
  const child = await program(connect());
  child.kill('SIGSTOP');
  expect(ask('alive', `127.0.0.1:${port}`)).toEqual({
    status: 1,
    says: `${name.replace(/\d+/, 'N')}: process N does not run: its state is T`,
  });
});

test('a program of which no process is there does not run', () => {
  expect(ask('alive')).toEqual({ status: 1, says: `${name.replace(/\d+/, 'N')} does not run` });
});

test('of a parent and its workers, the workers have to be connected', async () => {
  // The parent holds the connection, the worker closes its copy.
  await program(`${connect()}; (exec 3>&-; sleep 60; :) & true`);
  expect(ask('ready', `127.0.0.1:${port}`).status).toBe(1);
  for (const child of children) child.kill('SIGKILL');
});

test('the probe names where the script is mounted', () => {
  expect(connectedProbe({ connected: 'nova-conductor', to: ['broker:5672'] }, 'ready')).toEqual([
    'bash',
    connectedPath,
    'ready',
    'nova-conductor',
    'broker:5672',
  ]);
});

test('members of an OVSDB cluster are one peer', () => {
  expect(ovsdbPeer('tcp:a:6641,ssl:[::1]:6641')).toBe('a:6641,[::1]:6641');
});
