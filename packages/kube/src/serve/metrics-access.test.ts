import { request } from 'node:http';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { noLog } from '../base/log.ts';
import { virtualClock } from '../base/virtual-clock.ts';
import { createClient } from '../client/client.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { ConnectionError } from '../objects/errors.ts';
import type { Transport } from '../transport/transport.ts';
import { accessCheck } from './metrics-access.ts';
import { serve } from './serve.ts';

/** An API server that knows two tokens, one of which may. */
function apiServer() {
  const clock = virtualClock();
  const asked: string[] = [];
  const state = { down: false, allowed: true, hangs: false };
  const transport: Transport = {
    close: () => Promise.resolve(),
    async request({ path, body }, signal) {
      asked.push(path);
      if (state.hangs) await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      if (state.down) throw new ConnectionError('ECONNREFUSED', 'down');
      const review = JSON.parse(String(body)) as { spec: Record<string, unknown> };
      const { token, user, groups, nonResourceAttributes } = review.spec;
      const known = token === 'scraper' || token === 'stranger';
      const status = path.endsWith('/tokenreviews')
        ? { authenticated: known, ...(known ? { user: { username: token, groups: ['g'] } } : {}) }
        : { allowed: state.allowed && user === 'scraper' };
      if (path.endsWith('/subjectaccessreviews'))
        expect([groups, nonResourceAttributes]).toEqual([['g'], { path: '/metrics', verb: 'get' }]);
      const answer = new TextEncoder().encode(JSON.stringify({ ...review, status }));
      return {
        status: 201,
        headers: { 'content-type': 'application/json' },
        body: (async function* () {
          yield answer;
        })(),
      };
    },
  };
  const client = createClient({ transport, clock });
  return { clock, asked, state, check: accessCheck({ client, clock, log: noLog }) };
}

test('no token 401, an unknown one 401, one without the right 403, one with it 200', async () => {
  const { check, asked } = apiServer();
  expect(await check(undefined, '/metrics')).toBe(401);
  expect(await check('Basic abc', '/metrics')).toBe(401);
  expect(await check('Bearer a b', '/metrics')).toBe(401);
  expect(asked).toEqual([]);
  expect(await check('Bearer guessed', '/metrics')).toBe(401);
  expect(await check('Bearer stranger', '/metrics')).toBe(403);
  expect(await check('Bearer scraper', '/metrics')).toBe(200);
});

test('an answer is kept for a minute, a refusal for ten seconds, and no longer', async () => {
  const { check, asked, state, clock } = apiServer();
  for (let i = 0; i < 3; i++) await check('Bearer scraper', '/metrics');
  expect(asked).toHaveLength(2);
  state.allowed = false;
  await clock.advance(59_000);
  expect(await check('Bearer scraper', '/metrics')).toBe(200);
  await clock.advance(1000);
  expect(await check('Bearer scraper', '/metrics')).toBe(403);
  state.allowed = true;
  expect(await check('Bearer scraper', '/metrics')).toBe(403);
  await clock.advance(10_000);
  expect(await check('Bearer scraper', '/metrics')).toBe(200);
});

test('without an API server nobody may, whoever was not answered before', async () => {
  const { check, state, clock } = apiServer();
  state.down = true;
  const refused = check('Bearer scraper', '/metrics');
  await clock.advance(60_000);
  expect(await refused).toBe(500);
  state.down = false;
  expect(await check('Bearer scraper', '/metrics')).toBe(200);
});

test('tokens that are guessed cost no more than eight questions at once', async () => {
  const { check, asked, state, clock } = apiServer();
  state.hangs = true;
  const answers = Array.from({ length: 100 }, (_, i) => check(`Bearer guess-${i}`, '/metrics'));
  await clock.advance(0);
  expect(asked).toHaveLength(8);
  await clock.advance(60_000);
  const counted = Map.groupBy(await Promise.all(answers), (status) => status);
  expect([counted.get(429)?.length, counted.get(500)?.length]).toEqual([92, 8]);
});

test('the server asks for /metrics, and for nothing else', async () => {
  const { check } = apiServer();
  const metrics = createMetrics(new Registry());
  const health = { live: new Map(), ready: new Map() };
  const serving = await serve({ port: 0, host: '127.0.0.1', metrics, health, access: check });
  onTestFinished(() => serving.close());
  const get = (path: string, token?: string) =>
    new Promise<unknown[]>((resolve, reject) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      request({ host: '127.0.0.1', port: serving.port, path, headers }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        response.on('end', () => resolve([response.statusCode, body.includes('workqueue_depth')]));
      })
        .on('error', reject)
        .end();
    });
  expect(await get('/metrics')).toEqual([401, false]);
  expect(await get('/metrics?x=1', 'guessed')).toEqual([401, false]);
  expect(await get('/metrics', 'stranger')).toEqual([403, false]);
  expect(await get('/metrics', 'scraper')).toEqual([200, true]);
  expect(await get('/healthz')).toEqual([200, false]);
  expect(await get('/readyz?verbose')).toEqual([200, false]);
});
