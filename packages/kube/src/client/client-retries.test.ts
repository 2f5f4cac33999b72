import { expect, test } from 'vitest';
import { ConnectionError } from '../objects/errors.ts';
import { ConfigMap, clientOf, refusal, settings } from '../testing/client.ts';

test('429 and 503 with Retry-After are waited for, writes as well', async () => {
  const { client, clock, server } = clientOf(
    { status: 429, headers: { 'retry-after': '2' }, chunks: ['Too many requests'] },
    { status: 503, headers: { 'retry-after': '3' }, chunks: ['starting'] },
    { body: settings },
  );
  const created = client.create(ConfigMap, settings);
  await clock.advance(1_999);
  expect(server.requests).toHaveLength(1);
  await clock.advance(1);
  expect(server.requests).toHaveLength(2);
  await clock.advance(3_000);
  expect(await created).toEqual(settings);
});

test('the waiting has bounds', async () => {
  const busy = clientOf({ status: 429, headers: { 'retry-after': '1' }, chunks: ['busy'] });
  const asking = expect(busy.client.raw('/version')).rejects.toMatchObject({ code: 429, retryAfterSeconds: 1 });
  await busy.clock.advance(60_000);
  await asking;
  expect(busy.server.requests).toHaveLength(11);

  const away = clientOf({ status: 503, headers: { 'retry-after': '3600' }, chunks: ['later'] });
  await expect(away.client.raw('/version')).rejects.toMatchObject({ code: 503, retryAfterSeconds: 3600 });
});

test('without Retry-After a refusal is told at once', async () => {
  const { client, server } = clientOf({ status: 503, chunks: ['unavailable'] });
  await expect(client.raw('/version')).rejects.toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
  expect(server.requests).toHaveLength(1);
});

test('of a refusal that is too long, the message is told as far as it goes', async () => {
  const message = `Thing "a" is invalid: [spec.a: Invalid value: "x\\n${'y'.repeat(1000)}`;
  const start = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message }).slice(
    0,
    -2,
  );
  const chunks = [start, ...Array.from({ length: 200 }, () => 'z'.repeat(10_000)), '"}'];
  const { client } = clientOf({ status: 422, chunks });
  const error: unknown = await client.raw('/version').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 422, reason: 'Invalid' });
  const told = (error as { status: { message: string } }).status.message;
  expect(told.startsWith(message)).toBe(true);
  expect(told.length).toBeLessThan(20_000);
});

test('waiting for another attempt can be aborted', async () => {
  const { client, clock } = clientOf({ status: 429, headers: { 'retry-after': '30' }, chunks: [''] });
  const controller = new AbortController();
  const asking = expect(client.raw('/version', { signal: controller.signal })).rejects.toThrow('stop');
  await clock.advance(1_000);
  controller.abort(new Error('stop'));
  await asking;
  expect(clock.pending).toBe(0);
});

test('a lost connection: reads are tried again, writes are not', async () => {
  const lost = { error: new ConnectionError('ECONNRESET', 'the connection is lost') };
  const reading = clientOf(lost, { body: { major: '1' } });
  const version = reading.client.raw('/version');
  await reading.clock.advance(1_000);
  expect(await version).toEqual({ major: '1' });

  const writing = clientOf(lost, { body: settings });
  await expect(writing.client.create(ConfigMap, settings)).rejects.toMatchObject({
    code: 'ECONNRESET',
    message: 'POST /api/v1/namespaces/a/configmaps: the connection is lost',
  });
  expect(writing.server.requests).toHaveLength(1);
});

test('401 renews the credentials, once', async () => {
  const unauthorized = { status: 401, body: refusal(401, 'Unauthorized', 'Unauthorized') };
  const { make, server } = clientOf(unauthorized, { body: {} }, unauthorized);
  let token = 'old';
  const client = make({
    headers: async () => ({ authorization: `Bearer ${token}` }),
    renew: async () => {
      token = 'new';
      return true;
    },
  });
  await client.raw('/version');
  expect(server.requests.map(({ headers }) => headers?.['authorization'])).toEqual(['Bearer old', 'Bearer new']);
  await expect(client.raw('/version')).rejects.toMatchObject({ code: 401 });
  expect(server.requests).toHaveLength(4);
});

test('who is aborted does not wait for credentials', async () => {
  const { make, server } = clientOf({ body: {} });
  const client = make({ headers: () => new Promise(() => {}), renew: async () => false });
  const controller = new AbortController();
  const asking = client.raw('/version', { signal: controller.signal });
  controller.abort(new Error('stop'));
  await expect(asking).rejects.toThrow('stop');
  expect(server.requests).toEqual([]);
});
