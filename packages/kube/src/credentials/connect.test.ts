import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import * as http2 from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { realClock } from '../base/clock.ts';
import { virtualClock } from '../base/virtual-clock.ts';
import { authority, clientCertificate, clientKey, serverCertificate, serverKey } from '../testing/certificates.ts';
import { listen } from '../testing/server.ts';
import { type ConnectOptions, connect } from './connect.ts';
import { inClusterAccess } from './in-cluster.ts';

/** A server that tells who asked; it knows jane's certificate and the tokens given. */
async function apiServer(tokens: ReadonlySet<string> = new Set()) {
  const identity = { cert: serverCertificate, key: serverKey, ca: authority };
  const server = http2.createSecureServer({ ...identity, requestCert: true, rejectUnauthorized: false });
  server.on('request', (request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '');
    const user = (request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? (tokens.has(token ?? '') && token);
    if (!user) response.writeHead(401);
    response.end(JSON.stringify(user ? { user } : { kind: 'Status', code: 401, message: 'Unauthorized' }));
  });
  return `https://127.0.0.1:${await listen(server)}`;
}

async function home(user: Record<string, unknown>, server: string) {
  const path = await mkdtemp(join(tmpdir(), 'connect-'));
  onTestFinished(() => rm(path, { recursive: true }));
  await mkdir(join(path, '.kube'));
  const file = join(path, '.kube', 'config');
  const ca = Buffer.from(authority).toString('base64');
  await writeFile(
    file,
    JSON.stringify({
      'current-context': 'main',
      contexts: [{ name: 'main', context: { cluster: 'here', user: 'jane', namespace: 'team' } }],
      clusters: [{ name: 'here', cluster: { server, 'certificate-authority-data': ca } }],
      users: [{ name: 'jane', user }],
    }),
  );
  return { path, file };
}

async function whoAmI(options: Omit<ConnectOptions, 'clock'>) {
  const connected = await connect({ clock: realClock, ...options });
  onTestFinished(() => connected.client.close());
  return { ...connected, answer: await connected.client.raw('/whoami') };
}

const certificates = {
  'client-certificate-data': Buffer.from(clientCertificate).toString('base64'),
  'client-key-data': Buffer.from(clientKey).toString('base64'),
};

test('a kubeconfig is found as kubectl finds it, and its certificate is used', async () => {
  const server = await apiServer();
  const { path, file } = await home(certificates, server);
  for (const options of [
    { kubeconfig: file, env: {} },
    { env: { KUBECONFIG: `/missing:${file}` } },
    { env: { HOME: path } },
  ]) {
    expect(await whoAmI(options)).toMatchObject({ server, namespace: 'team', answer: { user: 'jane' } });
  }
});

test('what is put around the transport sees the requests, and knows the host', async () => {
  const server = await apiServer();
  const { file } = await home(certificates, server);
  const seen: string[] = [];
  const wrap: ConnectOptions['wrap'] = (transport, host) => ({
    ...transport,
    request: (request, signal) => {
      seen.push(`${host} ${request.method} ${request.path}`);
      return transport.request(request, signal);
    },
  });
  await whoAmI({ kubeconfig: file, env: {}, wrap });
  expect(seen).toEqual([`${new URL(server).host} GET /whoami`]);
});

test('a token that was replaced is read again when the server refuses the old one', async () => {
  const server = await apiServer(new Set(['new']));
  const { path, file } = await home({ tokenFile: 'token' }, server);
  await writeFile(join(path, '.kube', 'token'), 'old');
  const { client } = await connect({ kubeconfig: file, env: {}, clock: realClock });
  onTestFinished(() => client.close());
  await expect(client.raw('/')).rejects.toMatchObject({ code: 401 });
  await writeFile(join(path, '.kube', 'token'), 'new');
  expect(await client.raw('/')).toEqual({ user: 'new' });
});

test('an exec plugin that gives another certificate after a 401: a new connection carries it', async () => {
  const server = await apiServer();
  const flag = join(await mkdtemp(join(tmpdir(), 'connect-')), 'flag');
  onTestFinished(() => rm(join(flag, '..'), { recursive: true }));
  const script = `
    const fs = require('node:fs');
    const second = fs.existsSync(${JSON.stringify(flag)});
    fs.writeFileSync(${JSON.stringify(flag)}, '');
    const status = second ? ${JSON.stringify({ clientCertificateData: clientCertificate, clientKeyData: clientKey })} : { token: 'old' };
    console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status }));
  `;
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', script],
    interactiveMode: 'Never',
  };
  const { file } = await home({ exec }, server);
  expect(await whoAmI({ kubeconfig: file, env: process.env })).toMatchObject({ answer: { user: 'jane' } });
});

test('a pod is its service account', async () => {
  const server = await apiServer(new Set(['pod-token']));
  const directory = await mkdtemp(join(tmpdir(), 'in-cluster-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: new URL(server).port };
  const clock = virtualClock();
  await expect(inClusterAccess({ env, clock, directory })).rejects.toMatchObject({
    name: 'ConfigError',
    message: expect.stringMatching(/token: ENOENT.*automountServiceAccountToken/u),
  });
  await writeFile(join(directory, 'token'), 'pod-token');
  await writeFile(join(directory, 'ca.crt'), authority);
  await writeFile(join(directory, 'namespace'), 'example\n');
  const access = await inClusterAccess({ env, clock, directory });
  expect(access).toMatchObject({ server, namespace: 'example' });
  expect(await access.tls()).toEqual({ ca: authority });
  expect(await access.authenticate.headers()).toEqual({ authorization: 'Bearer pod-token' });
  const ipv6 = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  expect((await inClusterAccess({ env: ipv6, clock, directory })).server).toBe('https://[fd00::1]:443');
  await expect(inClusterAccess({ env: {}, clock })).rejects.toThrow(/this is no pod; use a kubeconfig/u);
});

test('with nothing to go by, what was tried is told', async () => {
  await expect(connect({ env: { HOME: '/nobody' }, clock: realClock })).rejects.toMatchObject({
    name: 'ConfigError',
    message:
      'no Kubernetes cluster: KUBECONFIG is not set, /nobody/.kube/config does not exist, and this is no pod; name a kubeconfig',
  });
});
