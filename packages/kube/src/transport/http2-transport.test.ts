import { execFile } from 'node:child_process';
import * as http2 from 'node:http2';
import * as net from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { virtualClock } from '../base/virtual-clock.ts';
import { authority, clientCertificate, clientKey, serverCertificate, serverKey } from '../testing/certificates.ts';
import { answer, get, serve, textOf, transportTo, watch } from '../testing/http2-server.ts';
import { listen, signalled } from '../testing/server.ts';
import type { TlsSettings } from './connection.ts';
import { readText } from './text-stream.ts';

test('a request and its answer', async () => {
  const { transport } = await serve((stream, headers) => {
    let body = '';
    stream.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    stream.on('end', () => {
      stream.respond({ ':status': 201, warning: '299 - "w"', 'x-method': headers[':method'], 'x-a': headers['x-a'] });
      stream.end(`${headers[':path']} ${body}`);
    });
  });
  const response = await transport.request({
    method: 'DELETE',
    path: '/a?b=c',
    headers: { 'x-a': ['1', '2'] },
    body: 'größer',
  });
  expect(response.status).toBe(201);
  expect(response.headers).toMatchObject({ warning: '299 - "w"', 'x-method': 'DELETE', 'x-a': '1, 2' });
  expect(response.headers).not.toHaveProperty(':status');
  expect(await readText(response.body)).toBe('/a?b=c größer');
});

test('an answer that came whole before it is read is whole', async () => {
  const { transport } = await serve(answer);
  const first = await transport.request(get);
  for (let i = 0; i < 3; i += 1) await textOf(transport.request(get));
  expect(await readText(first.body)).toBe('ok');
});

test('the path of the server comes before that of the request', async () => {
  const { port } = await serve(answer);
  const transport = transportTo({ server: `http://127.0.0.1:${port}/k8s/clusters/c-1/` });
  expect((await transport.request(get)).headers['x-path']).toBe('/k8s/clusters/c-1/version');
});

test('2,000 requests at once share one session, and never exceed what the server allows', async () => {
  let running = 0;
  let most = 0;
  const { transport, sessions } = await serve(
    (stream) => {
      running += 1;
      most = Math.max(most, running);
      stream.once('close', () => {
        running -= 1;
      });
      process.nextTick(() => {
        stream.respond({ ':status': 200 });
        stream.end('ok');
      });
    },
    { settings: { maxConcurrentStreams: 50 } },
  );
  await textOf(transport.request(get));
  const texts = await Promise.all(Array.from({ length: 2_000 }, () => textOf(transport.request(get))));
  expect(texts.every((text) => text === 'ok')).toBe(true);
  expect(sessions).toHaveLength(1);
  expect(most).toBeLessThanOrEqual(50);
  expect(most).toBeGreaterThan(10);
});

test('streams do not wait for one another: more sessions are opened when one is full', async () => {
  const { transport, sessions } = await serve(
    (stream) => {
      stream.respond({ ':status': 200 });
      stream.write('begun');
    },
    { settings: { maxConcurrentStreams: 2 } },
  );
  const controller = new AbortController();
  const first = await transport.request(watch, controller.signal);
  const rest = await Promise.all([1, 2, 3, 4].map(() => transport.request(watch, controller.signal)));
  expect(sessions).toHaveLength(3);
  controller.abort(new Error('enough'));
  for (const { body } of [first, ...rest]) await expect(readText(body)).rejects.toThrow('enough');
});

test('streams and the rest have sessions of their own', async () => {
  const { transport, sessions } = await serve(answer);
  await Promise.all([textOf(transport.request(get)), textOf(transport.request(watch)), textOf(transport.request(get))]);
  expect(sessions).toHaveLength(2);
});

test('an abort frees the stream on the server, before and after the head', async () => {
  const closed: (number | undefined)[] = [];
  const opened: (() => void)[] = [];
  const { transport } = await serve((stream, headers) => {
    stream.once('close', () => closed.push(stream.rstCode));
    if (headers[':path'] === '/watch') {
      stream.respond({ ':status': 200 });
      stream.write('begun');
    }
    opened.shift()?.();
  });
  const reason = new Error('stop');

  const early = signalled();
  opened.push(early.reach);
  const before = new AbortController();
  const asking = transport.request(get, before.signal);
  await early.reached;
  before.abort(reason);
  await expect(asking).rejects.toBe(reason);

  const after = new AbortController();
  const { body } = await transport.request(watch, after.signal);
  after.abort(reason);
  await expect(readText(body)).rejects.toBe(reason);

  for await (const _ of (await transport.request(watch)).body) break;
  await expect.poll(() => closed).toEqual([http2.constants.NGHTTP2_CANCEL, 8, 8]);
  await expect(transport.request(get, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('an abort while waiting for a turn gives the turn to the next one', async () => {
  const held: http2.ServerHttp2Stream[] = [];
  const { transport } = await serve(
    (stream) => {
      held.push(stream);
      stream.respond({ ':status': 200 });
      if (held.length !== 2) stream.end('ok');
    },
    { settings: { maxConcurrentStreams: 1 } },
  );
  await textOf(transport.request(get));
  const holding = await transport.request(get);
  const controller = new AbortController();
  const aborted = transport.request(get, controller.signal);
  const next = textOf(transport.request(get));
  controller.abort(new Error('stop'));
  await expect(aborted).rejects.toThrow('stop');
  held[1]?.end('held');
  expect(await readText(holding.body)).toBe('held');
  expect(await next).toBe('ok');
});

test('a connection that cannot be made names the server and the code', async () => {
  const gone = net.createServer();
  const free = await new Promise<number>((resolve) => {
    gone.listen(0, '127.0.0.1', () => {
      const address = gone.address() as net.AddressInfo;
      gone.close(() => resolve(address.port));
    });
  });
  await expect(transportTo({ server: `http://127.0.0.1:${free}` }).request(get)).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'ECONNREFUSED',
    message: `http://127.0.0.1:${free}: connect ECONNREFUSED 127.0.0.1:${free}`,
  });
});

test('a server that accepts and says nothing is given up after 30 s', async () => {
  const clock = virtualClock();
  const accepted = signalled();
  const port = await listen(net.createServer(() => accepted.reach()));
  const transport = transportTo({ server: `https://127.0.0.1:${port}`, clock });
  const asking = transport.request(get).catch((error: unknown) => error);
  await accepted.reached;
  await clock.advance(30_000);
  expect(await asking).toMatchObject({
    code: 'ETIMEDOUT',
    message: `https://127.0.0.1:${port}: no connection within 30 s`,
  });
});

test('closing ends what runs, and refuses what comes', async () => {
  const { transport } = await serve((stream) => {
    stream.respond({ ':status': 200 });
    stream.write('begun');
  });
  const { body } = await transport.request(watch);
  await transport.close();
  await expect(readText(body)).rejects.toMatchObject({ code: 'ECONNABORTED' });
  await expect(transport.request(get)).rejects.toMatchObject({ code: 'ECONNABORTED' });
});

test('renewed credentials begin a new session; what runs goes on', async () => {
  const names: unknown[] = [];
  const streams: http2.ServerHttp2Stream[] = [];
  const server = http2.createSecureServer({
    cert: serverCertificate,
    key: serverKey,
    ca: authority,
    requestCert: true,
    rejectUnauthorized: false,
  });
  server.on('stream', (stream) => {
    const { socket } = stream.session as unknown as { socket: TLSSocket };
    names.push(socket.getPeerCertificate().subject?.CN);
    streams.push(stream);
    stream.respond({ ':status': 200 });
    if (streams.length > 1) stream.end('ok');
  });
  const port = await listen(server);
  let tls: TlsSettings = { ca: authority };
  const transport = transportTo({ server: `https://127.0.0.1:${port}`, tls: async () => tls });
  const running = textOf(transport.request(get));
  await expect.poll(() => streams.length).toBe(1);
  tls = { ca: authority, cert: clientCertificate, key: clientKey };
  expect(await textOf(transport.request(get))).toBe('ok');
  streams[0]?.end('went on');
  expect(await running).toBe('went on');
  expect(names).toEqual([undefined, 'jane']);
});

test('an idle session does not keep the process alive', async () => {
  const { port } = await serve(answer);
  const program = `
    import { createHttp2Transport } from ${JSON.stringify(new URL('./http2-transport.ts', import.meta.url).href)};
    import { realClock } from ${JSON.stringify(new URL('../base/clock.ts', import.meta.url).href)};
    const transport = createHttp2Transport({ server: 'http://127.0.0.1:${port}', clock: realClock });
    for await (const chunk of (await transport.request({ method: 'GET', path: '/' })).body) process.stdout.write(chunk);
  `;
  const output = await new Promise((resolve, reject) => {
    execFile(process.execPath, ['--input-type=module', '-e', program], { timeout: 20_000 }, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
  });
  expect(output).toBe('ok');
});
