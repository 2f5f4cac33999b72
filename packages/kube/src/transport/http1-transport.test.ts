import * as http from 'node:http';
import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { realClock } from '../base/clock.ts';
import { listen, signalled } from '../testing/server.ts';
import { createHttp1Transport } from './http1-transport.ts';
import { readText } from './text-stream.ts';

const get = { method: 'GET', path: '/version' };
const watch = { method: 'GET', path: '/watch', stream: true };

async function serve(handle: http.RequestListener, prefix = '') {
  const connections = new Set<Socket>();
  const server = http.createServer(handle);
  server.on('connection', (socket: Socket) => connections.add(socket));
  const port = await listen(server);
  const transport = createHttp1Transport({ server: `http://127.0.0.1:${port}${prefix}`, clock: realClock });
  onTestFinished(() => transport.close());
  return { transport, connections, port };
}

test('a request and its answer', async () => {
  const { transport, port } = await serve((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      response.writeHead(
        201,
        [
          ['warning', '299 - "a"'],
          ['warning', '299 - "b"'],
          ['x-host', request.headers.host ?? ''],
          ['x-a', String(request.headers['x-a'])],
        ].flat(),
      );
      response.end(`${request.method} ${request.url} ${request.headers['content-length']} ${body}`);
    });
  }, '/prefix');
  const response = await transport.request({
    method: 'DELETE',
    path: '/a?b=c',
    headers: { 'x-a': ['1', '2'] },
    body: 'größer',
  });
  expect(response.status).toBe(201);
  expect(response.headers).toMatchObject({
    warning: '299 - "a", 299 - "b"',
    'x-host': `127.0.0.1:${port}`,
    'x-a': '1, 2',
  });
  expect(await readText(response.body)).toBe('DELETE /prefix/a?b=c 8 größer');
});

test('connections are kept, and bounded; streams have their own', async () => {
  const { transport, connections } = await serve((request, response) => {
    if (request.url === '/watch') response.write('begun');
    else response.end('ok');
  });
  for (let i = 0; i < 3; i += 1) await readText((await transport.request(get)).body);
  expect(connections.size).toBe(1);
  const controller = new AbortController();
  const streams = await Promise.all(Array.from({ length: 40 }, () => transport.request(watch, controller.signal)));
  // One of them took the kept one.
  expect(connections.size).toBe(40);
  await Promise.all(Array.from({ length: 200 }, async () => readText((await transport.request(get)).body)));
  expect(connections.size).toBe(72);
  controller.abort(new Error('enough'));
  for (const { body } of streams) await expect(readText(body)).rejects.toThrow('enough');
});

test('an abort closes the connection, before and after the head', async () => {
  let closed = 0;
  const arrived = signalled();
  const { transport } = await serve((request, response) => {
    response.once('close', () => {
      closed += 1;
    });
    if (request.url === '/watch') response.write('begun');
    arrived.reach();
  });
  const reason = new Error('stop');
  const controller = new AbortController();
  const asking = transport.request(get, controller.signal);
  await arrived.reached;
  controller.abort(reason);
  await expect(asking).rejects.toBe(reason);
  const after = new AbortController();
  const { body } = await transport.request(watch, after.signal);
  after.abort(reason);
  await expect(readText(body)).rejects.toBe(reason);
  for await (const _ of (await transport.request(watch)).body) break;
  await expect.poll(() => closed).toBe(3);
});

test('a read on a kept connection that was just closed is sent again, a write is not', async () => {
  let requests = 0;
  const { transport } = await serve((request, response) => {
    requests += 1;
    // Each connection answers once.
    if (served.has(request.socket)) request.socket.destroy();
    else response.end('ok');
    served.add(request.socket);
  });
  const served = new Set<Socket>();
  await readText((await transport.request(get)).body);
  expect(await readText((await transport.request(get)).body)).toBe('ok');
  expect(requests).toBe(3);
  await expect(transport.request({ method: 'POST', path: '/', body: '{}' })).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'ECONNRESET',
  });
});

test('a body that breaks off is told', async () => {
  const { transport } = await serve((_, response) => {
    response.write('half', () => response.destroy());
  });
  const { body } = await transport.request(get);
  await expect(readText(body)).rejects.toMatchObject({ name: 'ConnectionError', code: 'ECONNRESET' });
});

test('closing ends what runs, and refuses what comes', async () => {
  const { transport } = await serve((_, response) => {
    response.write('begun');
  });
  const { body } = await transport.request(watch);
  await transport.close();
  await expect(readText(body)).rejects.toMatchObject({ name: 'ConnectionError' });
  await expect(transport.request(get)).rejects.toMatchObject({ code: 'ECONNABORTED' });
});
