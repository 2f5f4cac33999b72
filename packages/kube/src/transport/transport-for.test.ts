import * as http from 'node:http';
import * as http2 from 'node:http2';
import * as https from 'node:https';
import * as net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { realClock } from '../base/clock.ts';
import { authority, clientCertificate, clientKey, serverCertificate, serverKey } from '../testing/certificates.ts';
import { listen } from '../testing/server.ts';
import type { ConnectionSettings, TlsSettings } from './connection.ts';
import { readText } from './text-stream.ts';
import { transportFor } from './transport-for.ts';

const identity = {
  cert: serverCertificate,
  key: serverKey,
  ca: authority,
  requestCert: true,
  rejectUnauthorized: false,
};

/** Says how it was asked: protocol, server name, user of the client certificate. */
const tell = (request: http2.Http2ServerRequest | http.IncomingMessage, response: http.ServerResponse) => {
  const socket = request.socket as TLSSocket;
  const user = socket.getPeerCertificate?.().subject?.CN ?? 'nobody';
  response.end([request.httpVersion, socket.servername || '-', user].join(' '));
};

async function http2Server(): Promise<number> {
  const server = http2.createSecureServer({ ...identity, allowHTTP1: true });
  server.on('request', tell as never);
  return listen(server);
}

async function ask(server: string, tls: TlsSettings = {}, settings: Partial<ConnectionSettings> = {}) {
  const transport = transportFor({ server, clock: realClock, tls: async () => tls, ...settings });
  onTestFinished(() => transport.close());
  const asking = async () => readText((await transport.request({ method: 'GET', path: '/' })).body);
  // The second request goes by what the first one has learned.
  const first = await asking();
  expect(await asking()).toBe(first);
  return first;
}

test('TLS with HTTP/2, with and without a client certificate', async () => {
  const port = await http2Server();
  expect(await ask(`https://127.0.0.1:${port}`, { ca: authority })).toBe('2.0 - nobody');
  const tls = { ca: authority, cert: clientCertificate, key: clientKey };
  expect(await ask(`https://127.0.0.1:${port}`, tls)).toBe('2.0 - jane');
});

test('TLS with HTTP/1.1 where the server has nothing else', async () => {
  const port = await listen(https.createServer(identity, tell));
  const tls = { ca: authority, cert: clientCertificate, key: clientKey };
  expect(await ask(`https://127.0.0.1:${port}`, tls)).toBe('1.1 - jane');
});

test('plain http is HTTP/1.1', async () => {
  const port = await listen(http.createServer(tell));
  expect(await ask(`http://127.0.0.1:${port}`)).toBe('1.1 - nobody');
});

test('the certificate must be of the host, or of the server name that is asked for', async () => {
  const port = await http2Server();
  const named = { ca: authority, serverName: 'kubernetes.test' };
  expect(await ask(`https://127.0.0.1:${port}`, named)).toBe('2.0 kubernetes.test nobody');
  await expect(ask(`https://127.0.0.1:${port}`, { ca: authority, serverName: 'other.test' })).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
});

test('a certificate of an unknown authority is refused, unless told otherwise', async () => {
  const port = await http2Server();
  await expect(ask(`https://127.0.0.1:${port}`)).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'SELF_SIGNED_CERT_IN_CHAIN',
    message: `https://127.0.0.1:${port}: self-signed certificate in certificate chain`,
  });
  expect(await ask(`https://127.0.0.1:${port}`, { insecure: true })).toBe('2.0 - nobody');
});

/** An HTTP proxy that lets through who knows the password. */
async function proxyServer(user?: string) {
  const targets: string[] = [];
  const proxy = http.createServer((_, response) => {
    response.writeHead(405);
    response.end();
  });
  proxy.on('connect', (request, near: net.Socket) => {
    const expected = user === undefined ? undefined : `Basic ${Buffer.from(user).toString('base64')}`;
    if (request.headers['proxy-authorization'] !== expected) {
      near.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    targets.push(request.url ?? '');
    const { hostname, port } = new URL(`http://${request.url}`);
    const far = net.connect(Number(port), hostname, () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) {
      socket.on('error', () => {});
      socket.once('close', () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  return { port: await listen(proxy), targets };
}

test('through a proxy, with its password', async () => {
  const port = await http2Server();
  const proxy = await proxyServer('me:p@ss');
  const tls = { ca: authority, cert: clientCertificate, key: clientKey };
  const settings = { proxy: `http://me:p%40ss@127.0.0.1:${proxy.port}` };
  expect(await ask(`https://127.0.0.1:${port}`, tls, settings)).toBe('2.0 - jane');
  expect(proxy.targets).toEqual([`127.0.0.1:${port}`]);

  const plain = await listen(http.createServer(tell));
  expect(await ask(`http://127.0.0.1:${plain}`, {}, settings)).toBe('1.1 - nobody');
});

test('a proxy that refuses is named', async () => {
  const proxy = await proxyServer('me:secret');
  const settings = { proxy: `http://127.0.0.1:${proxy.port}` };
  await expect(ask('https://10.0.0.1:6443', {}, settings)).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'EPROXY',
    message: `proxy http://127.0.0.1:${proxy.port}: CONNECT 10.0.0.1:6443: 407 Proxy Authentication Required`,
  });
  await expect(ask('https://10.0.0.1:6443', {}, { proxy: 'socks5://127.0.0.1:1' })).rejects.toMatchObject({
    name: 'ConfigError',
    message: expect.stringContaining('socks5'),
  });
});

test('a server that is no URL is refused', () => {
  expect(() => transportFor({ server: '10.0.0.1:6443', clock: realClock })).toThrow(/expected a URL such as https:/u);
});
