import { connect, type Socket } from 'node:net';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realClock, sleep } from '../base/clock.ts';
import { createHealth } from './health.ts';
import { type Serving, serve } from './serve.ts';

const limits = { headers: 300, request: 600, idle: 500, headerBytes: 8192, connections: 20 };
let serving: Serving;

beforeEach(async () => {
  serving = await serve({ port: 0, host: '127.0.0.1', health: createHealth(), limits });
});
afterEach(() => serving.close());

function open(): Socket {
  return connect(serving.port, '127.0.0.1').on('error', () => {});
}

/** Sends bytes and gives all that comes back until the server ends the connection. */
function exchange(bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = open();
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.once('close', () => resolve(answer));
    socket.write(bytes);
  });
}

const alive = async () =>
  expect(await exchange('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')).toMatch(/^HTTP\/1.1 200 OK/);

const get = (target: string) => `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;

test.each([
  ['a path that is a reference to no host', get('//'), 404],
  ['a path that is a reference to a host', get('//[::'), 404],
  ['a path of slashes', get('////////'), 404],
  ['a bad escape', get('/%zz%'), 404],
  ['a path above the root', get('/../../healthz'), 200],
  ['an absolute form', get('http://example.org/healthz'), 200],
  ['an absolute form without a host', get('http://'), 400],
  ['an absolute form with a bad port', get('http://a:99999999/'), 400],
  ['a target without a slash', get('healthz'), 400],
  ['the asterisk', 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
  ['only a query', get('?verbose'), 400],
  ['a query of much', get(`/healthz?${'verbose&'.repeat(500)}`), 200],
  ['another method', 'DELETE /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 405],
  ['a method that is none', 'MAKE /healthz HTTP/1.1\r\nhost: x\r\n\r\n', 400],
  ['HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
  ['HTTP/0.9', 'GET /healthz\r\n\r\n', 200],
  ['HTTP/2 with prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['no host', 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
  ['TLS', Buffer.from('16030100a5010000a10303', 'hex'), 400],
  ['headers that are too large', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['a target that is too long', get(`/${'x'.repeat(20_000)}`), 431],
  ['two lengths', 'GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 400],
  ['a length and chunks', 'GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\nx', 400],
  ['a bad chunk', 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 400],
  ['a body that does not come', 'GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n', 200],
  ['a body', `GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n${'x'.repeat(100_000)}`, 200],
  ['an expectation', 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\nconnection: close\r\n\r\n', 417],
  ['an upgrade', 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n', 200],
  ['a line feed alone', 'GET /healthz HTTP/1.1\nhost: x\n\n', 400],
  ['a null byte', 'GET /\0 HTTP/1.1\r\nhost: x\r\n\r\n', 400],
])('%s is answered, and the process goes on', async (_, bytes, status) => {
  expect((await exchange(bytes)).split('\r\n')[0]).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  await alive();
});

test('a CONNECT loses its connection', async () => {
  expect(await exchange('CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n')).toBe('');
  await alive();
});

test('requests one after the other on a connection are all answered', async () => {
  const answer = await exchange(`${'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(50)}${get('//')}`);
  expect(answer.match(/HTTP\/1.1 200 OK/g)).toHaveLength(50);
  expect(answer.match(/HTTP\/1.1 404 Not Found/g)).toHaveLength(1);
});

test.each([
  ['says nothing', ''],
  ['does not end its headers', 'GET /healthz HTTP/1.1\r\nhost: x\r\n'],
  ['does not end its body', 'POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n12'],
  ['does not come back', 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'],
])('who %s loses the connection', async (_, bytes) => {
  await exchange(bytes);
  await alive();
});

test('who sends a header byte by byte loses the connection', async () => {
  const socket = open();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write('GET /healthz HTTP/1.1\r\n');
  // Each byte keeps the connection from being idle; the time for headers runs all the same.
  while (!socket.destroyed) {
    socket.write('x');
    await sleep(realClock, 50);
  }
  await closed;
  await alive();
});

test('connections that end at any byte of a request hurt nobody', async () => {
  const bytes = get('/healthz?verbose');
  for (let length = 0; length <= bytes.length; length++) {
    const socket = open();
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    socket.write(bytes.slice(0, length));
    if (length % 2 === 0) socket.resetAndDestroy();
    else socket.destroy();
  }
  await alive();
});

test('more connections than may be end the oldest ones, and a probe gets in', async () => {
  const closed = Array.from({ length: 60 }, () => new Promise((resolve) => open().once('close', resolve)));
  await alive();
  await Promise.all(closed);
});

test('no request line whatever ends the process', async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'GET',
      'HEAD',
      'CONNECT',
      'OPTIONS',
      ' ',
      '/',
      '//',
      '*',
      '?',
      '#',
      '@',
      ':',
      '[',
      ']',
      '%',
      '\\',
      '\r',
      '\n',
      '\0',
    ),
    fc.constantFrom(
      'HTTP/1.1',
      'HTTP/1.0',
      'HTTP/9.9',
      'http://',
      'ws://',
      'file:',
      'javascript:',
      '/healthz',
      '/metrics',
      '..',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  const line = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
  const target = fc
    .array(piece, { maxLength: 6 })
    .map((pieces) => `GET ${pieces.join('').replaceAll(/\s/g, '')} HTTP/1.1`);
  await fc.assert(
    fc.asyncProperty(fc.oneof(line, target), async (line) => {
      const answer = await exchange(`${line}\r\nhost: x\r\nconnection: close\r\n\r\n`);
      expect(answer).toMatch(/^(HTTP\/1.1 [24]|$)/);
      expect(answer).not.toMatch(/^HTTP\/1.1 500/);
    }),
    { numRuns: 500 },
  );
  await alive();
});
