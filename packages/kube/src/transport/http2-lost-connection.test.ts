import * as http2 from 'node:http2';
import * as net from 'node:net';
import { expect, test } from 'vitest';
import { virtualClock } from '../base/virtual-clock.ts';
import { answer, get, serve, textOf, transportTo, watch } from '../testing/http2-server.ts';
import { listen, signalled } from '../testing/server.ts';

test('after GOAWAY a new session takes over, and the stream that runs ends in peace', async () => {
  let slow: http2.ServerHttp2Stream | undefined;
  const { transport, sessions } = await serve((stream, headers) => {
    if (headers[':path'] !== '/slow') return answer(stream, headers);
    slow = stream;
    stream.respond({ ':status': 200 });
    stream.write('first half, ');
    stream.session?.goaway(http2.constants.NGHTTP2_NO_ERROR);
  });
  const slowText = textOf(transport.request({ method: 'GET', path: '/slow' }));
  await expect.poll(async () => [await textOf(transport.request(get)), sessions.length]).toEqual(['ok', 2]);
  slow?.end('second half');
  expect(await slowText).toBe('first half, second half');
});

test('what a GOAWAY leaves unprocessed is sent again, writes as well', async () => {
  let requests = 0;
  const { transport, sessions } = await serve((stream, headers) => {
    requests += 1;
    // The first one is promised an answer, the second one is told never to have been seen.
    if (requests === 2) stream.session?.goaway(http2.constants.NGHTTP2_NO_ERROR, 1);
    else answer(stream, headers);
  });
  expect(await textOf(transport.request({ method: 'POST', path: '/a', body: '{}' }))).toBe('ok');
  expect(await textOf(transport.request({ method: 'POST', path: '/b', body: '{}' }))).toBe('ok');
  expect(sessions).toHaveLength(2);
});

test('a refused stream is sent again, writes as well, but not for ever', async () => {
  let refusals = 3;
  const { transport } = await serve((stream, headers) => {
    if (refusals-- > 0) stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
    else answer(stream, headers);
  });
  expect(await textOf(transport.request({ method: 'POST', path: '/', body: '{}' }))).toBe('ok');
  refusals = Infinity;
  await expect(transport.request(get)).rejects.toMatchObject({ name: 'ConnectionError', code: 'REFUSED_STREAM' });
});

test('a connection that is lost before the answer: a read is sent again, a write is not', async () => {
  let requests = 0;
  const { transport } = await serve((stream, headers) => {
    requests += 1;
    if (requests === 2) answer(stream, headers);
    else stream.session?.destroy();
  });
  expect(await textOf(transport.request(get))).toBe('ok');
  await expect(transport.request({ method: 'POST', path: '/', body: '{}' })).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'ECONNRESET',
  });
  expect(requests).toBe(3);
});

const leave = ({ session }: http2.ServerHttp2Stream) => {
  session?.goaway(http2.constants.NGHTTP2_NO_ERROR);
  session?.destroy();
};

test.for([
  ['the connection is closed', (stream: http2.ServerHttp2Stream) => stream.session?.destroy()],
  ['the stream is reset', (stream: http2.ServerHttp2Stream) => stream.destroy(new Error('broken'))],
  ['the connection is closed after GOAWAY', leave],
  ['the session ends with an error', (stream: http2.ServerHttp2Stream) => stream.session?.goaway(2)],
] as const)('a body that breaks off is told: %s', async ([, breakOff]) => {
  const { transport } = await serve((stream) => {
    stream.respond({ ':status': 200 });
    stream.write('half', () => breakOff(stream));
  });
  await expect(textOf(transport.request(get))).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'ECONNRESET',
  });
});

/** A relay that can fall silent: packets vanish, nobody closes anything. */
async function relayTo(port: number): Promise<{ port: number; fallSilent(): void }> {
  const pairs: net.Socket[][] = [];
  const relay = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    far.on('error', () => {});
    near.pipe(far).pipe(near);
    pairs.push([near, far]);
    near.once('close', () => far.destroy());
  });
  return {
    port: await listen(relay),
    fallSilent: () => {
      for (const socket of pairs.flat()) socket.unpipe();
    },
  };
}

test('a peer that is gone without a word is given up after 45 s', async () => {
  const clock = virtualClock();
  const { port } = await serve((stream) => {
    stream.respond({ ':status': 200 });
    stream.write('begun');
  });
  const relay = await relayTo(port);
  const transport = transportTo({ server: `http://127.0.0.1:${relay.port}`, clock });
  const body = (await transport.request(watch)).body[Symbol.asyncIterator]();
  await body.next();
  relay.fallSilent();
  let failure: unknown;
  const failing = body.next().catch((error: unknown) => {
    failure = error;
  });
  await clock.advance(40_000);
  expect(failure).toBeUndefined();
  await clock.advance(10_000);
  await failing;
  expect(failure).toMatchObject({
    name: 'ConnectionError',
    code: 'ECONNRESET',
    message: `http://127.0.0.1:${relay.port}: silent for 45 s, no answer to a ping`,
  });
});

test('a silent peer that answers a ping is kept, and one that sends is not asked', async () => {
  const clock = virtualClock();
  let pings = 0;
  let pinged = signalled();
  const streams: http2.ServerHttp2Stream[] = [];
  const { transport, sessions } = await serve(
    (stream) => {
      streams.push(stream);
      stream.respond({ ':status': 200 });
      stream.write('0');
      stream.session?.on('ping', () => {
        pings += 1;
        pinged.reach();
      });
    },
    { clock },
  );
  const body = (await transport.request(watch)).body[Symbol.asyncIterator]();
  await body.next();
  for (let second = 5; second <= 120; second += 5) {
    streams[0]?.write('x');
    await body.next();
    await clock.advance(5_000);
  }
  expect(pings).toBe(0);
  for (let round = 1; round <= 3; round += 1) {
    await clock.advance(30_000);
    await pinged.reached;
    expect(pings).toBe(round);
    pinged = signalled();
    // The client answers this ping after it has read the answer to its own.
    await new Promise((resolve) => sessions[0]?.ping(resolve));
    await clock.advance(5_000);
  }
  streams[0]?.end('still here');
  expect((await body.next()).value?.toString()).toBe('still here');
});

test('a quiet stream outlives the GOAWAY of its session by more than the patience with silent peers', async () => {
  const clock = virtualClock();
  const leaving = signalled();
  let stream: http2.ServerHttp2Stream | undefined;
  const { transport, sessions } = await serve(
    (opened) => {
      stream = opened;
      opened.respond({ ':status': 200 });
      opened.write('begun');
      // The client says it back.
      opened.session?.once('goaway', leaving.reach);
      opened.session?.goaway(http2.constants.NGHTTP2_NO_ERROR);
    },
    { clock },
  );
  const body = (await transport.request(watch)).body[Symbol.asyncIterator]();
  await body.next();
  const [session] = sessions;
  await leaving.reached;
  // The client answers after it has read all that came before; Node sends no ping on this session any more.
  const heard = () => new Promise<void>((resolve) => session?.settings({}, () => resolve()));
  for (let round = 1; round <= 3; round += 1) {
    await heard();
    await clock.advance(5_000);
    const asked = new Promise((resolve) => session?.once('remoteSettings', resolve));
    await clock.advance(30_000);
    await asked;
  }
  await heard();
  await clock.advance(40_000);
  stream?.end('still here');
  expect((await body.next()).value?.toString()).toBe('still here');
});
