import { request } from 'node:http';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '../metrics/metrics.ts';
import { createHealth } from './health.ts';
import { type Serving, serve } from './serve.ts';

const health = createHealth();
const metrics = createMetrics(new Registry());
let serving: Serving;

beforeAll(async () => {
  serving = await serve({ port: 0, host: '127.0.0.1', metrics, health });
});
afterAll(() => serving.close());

function get(path: string, method = 'GET'): Promise<{ status: number | undefined; type: unknown; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: serving.port, path, method }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode, type: response.headers['content-type'], body }));
    });
    sent.on('error', reject).end();
  });
}

test('healthy until a check says what is wrong', async () => {
  expect(await get('/healthz')).toMatchObject({ status: 200, body: 'ok' });
  health.ready.set('caches', () => undefined);
  expect(await get('/readyz?verbose')).toMatchObject({ status: 200, body: '[+]caches ok\nreadyz check passed\n' });
  health.ready.set('webhook', async () => {
    throw new Error('no certificate');
  });
  expect(await get('/readyz')).toMatchObject({
    status: 503,
    body: '[+]caches ok\n[-]webhook failed: reason withheld\nreadyz check failed\n',
  });
  expect((await get('/healthz')).status).toBe(200);
});

test('metrics are under the names that dashboards for controller-runtime know', async () => {
  const queue = metrics.queue('thing');
  queue.observe(() => ({ depth: 3, unfinished: 1.5, longest: 1 }));
  queue.added();
  queue.taken(0.25);
  queue.finished(2);
  metrics.controller('thing', 4).begun();
  metrics.request('200', 'GET', 'example.org');
  metrics.leader('lease', true);
  const { status, type, body } = await get('/metrics');
  expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  for (const line of [
    'workqueue_depth{name="thing",controller="thing"} 3',
    'workqueue_unfinished_work_seconds{name="thing",controller="thing"} 1.5',
    'workqueue_longest_running_processor_seconds{name="thing",controller="thing"} 1',
    'workqueue_adds_total{name="thing",controller="thing"} 1',
    'workqueue_retries_total{name="thing",controller="thing"} 0',
    'workqueue_queue_duration_seconds_count{name="thing",controller="thing"} 1',
    'workqueue_work_duration_seconds_bucket{le="1",name="thing",controller="thing"} 0',
    'workqueue_work_duration_seconds_bucket{le="10",name="thing",controller="thing"} 1',
    'controller_runtime_reconcile_total{controller="thing",result="success"} 0',
    'controller_runtime_active_workers{controller="thing"} 1',
    'rest_client_requests_total{code="200",method="GET",host="example.org"} 1',
    'leader_election_master_status{name="lease"} 1',
  ]) {
    expect(body.split('\n')).toContain(line);
  }
});

test('nothing else is there', async () => {
  expect(await get('/secrets')).toMatchObject({
    status: 404,
    body: 'there are /metrics, /healthz, /readyz\n',
  });
  expect((await get('/metrics', 'POST')).status).toBe(405);
  await expect(serve({ port: serving.port, host: '127.0.0.1' })).rejects.toThrow('EADDRINUSE');
});
