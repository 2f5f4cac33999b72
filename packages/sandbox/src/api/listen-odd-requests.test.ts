import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { realClock, seededRandom } from '@openstack-operator/kube';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toyConfigMap, toyNamespace } from '../testing/toy-types.ts';
import { createApiServer } from './api-server.ts';
import { listen } from './listen.ts';

const start = () => createApiServer({ clock: realClock, random: seededRandom(1), types: [toyNamespace, toyConfigMap] });

/** Sends bytes and gives what comes back until the connection ends. */
function exchange(port: number, bytes: string | Buffer, tls = false): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = tls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
    });
    socket.once('close', () => resolve(answer));
    socket.end(bytes);
  });
}

const get = (target: string, header = '') => `GET ${target} HTTP/1.1\r\nhost: x\r\n${header}connection: close\r\n\r\n`;

test.each([
  ['a path that is a reference to no host', get('//'), /^HTTP\/1.1 200 /],
  ['an absolute form without a host', get('http://'), /^HTTP\/1.1 400 /],
  ['a bad escape', get('/api/v1/namespaces/%zz'), /^HTTP\/1.1 400 /],
  ['the asterisk', 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', /^HTTP\/1.1 400 /],
  ['an upgrade', get('/version', 'upgrade: websocket\r\n'), /^HTTP\/1.1 200 /],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nhost: x\r\n\r\n', /^$/],
  ['no HTTP', '\0\0\0\0', /^HTTP\/1.1 400 /],
  ['a broken HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nno frame at all, but many bytes of it', /./],
  ['half an HTTP/2', 'PRI * HTTP/2.0\r\n', /^/],
])('%s is answered, and the server goes on', async (_, bytes, expected) => {
  await using listening = await listen(start(), { tls: false });
  expect(await exchange(listening.port, bytes)).toMatch(expected);
  expect(await exchange(listening.port, get('/healthz'))).toMatch(/^HTTP\/1.1 200 /);
});

test.each(['constructor', '__proto__', 'toString'])('the token "%s" is nobody’s', async (token) => {
  await using listening = await listen(start(), { tokens: {} });
  const answer = await exchange(listening.port, get('/api', `authorization: Bearer ${token}\r\n`), true);
  expect(answer).toMatch(/^HTTP\/1.1 401 /);
});

test('no target whatever ends the server', async () => {
  await using listening = await listen(start(), { tls: false });
  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '//',
      '/api',
      '/apis',
      '/v1',
      'namespaces',
      '?',
      '&',
      'watch=1',
      '%',
      '%ff',
      'limit=x',
      '@',
      '[',
    ),
    fc.constantFrom(
      'fieldSelector=',
      'labelSelector=',
      'resourceVersion=',
      '/configmaps',
      '/default',
      'continue=',
      ',,',
      '=',
    ),
    fc.string({ unit: 'grapheme-ascii', maxLength: 6 }),
  );
  const target = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('').replaceAll(/\s/g, ''));
  await fc.assert(
    fc.asyncProperty(target, async (target) => {
      expect(await exchange(listening.port, get(`/${target}`))).not.toMatch(/^$|^HTTP\/1.1 500/);
    }),
    { numRuns: 300 },
  );
});
