import { ApiError, type Client, ConnectionError, noLog, virtualClock } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { ownImage } from './own-image.ts';

const failure = (code: number) =>
  new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'x', code }, 'GET');

function ask(...answers: (object | Error)[]) {
  const clock = virtualClock();
  const get = () => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const client = { get } as unknown as Client;
  const { signal } = new AbortController();
  const asked = ownImage({ client, clock, log: noLog, signal, namespace: 'system', pod: 'operator-0' });
  return { clock, asked };
}

const pod = (...containers: object[]) => ({ spec: { containers } });

test('the image is that of the container "operator", whatever runs beside it', async () => {
  const { asked } = ask(pod({ name: 'proxy', image: 'proxy:1' }, { name: 'operator', image: 'mirror/operator:2' }));
  expect(await asked).toBe('mirror/operator:2');
});

test('without a pod, or without the right to read it, there is none', async () => {
  expect(await ask(failure(404)).asked).toBeUndefined();
  expect(await ask(failure(403)).asked).toBeUndefined();
});

test('it waits for an API server that does not answer', async () => {
  const down = new ConnectionError('ECONNREFUSED', 'down');
  const { clock, asked } = ask(down, failure(503), pod({ name: 'operator', image: 'operator:1' }));
  await clock.advance(10_000);
  expect(await asked).toBe('operator:1');
});
