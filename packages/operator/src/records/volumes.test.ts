import { virtualClock } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { HttpCall } from './http.ts';
import { runCountVolumes } from './volumes.ts';

const env = {
  OS_AUTH_URL: 'http://keystone/v3',
  OS_USERNAME: 'cinder',
  OS_PASSWORD: 'x',
  VOLUME_URL: 'http://cinder/v3',
};

interface Cinder {
  readonly args?: readonly string[];
  readonly status?: number;
  readonly services?: readonly object[];
}

/** Counts against a Cinder that has so many volumes of each host. */
async function count(
  volumes: Readonly<Record<string, number>>,
  { args = Object.keys(volumes), status = 200, services = [] }: Cinder = {},
) {
  const printed: string[] = [];
  const calls: HttpCall[] = [];
  const clock = virtualClock();
  const running = runCountVolumes(['--binary', 'cinder-volume', ...args], {
    env,
    clock,
    print: (line) => printed.push(line),
    http: (call) => {
      calls.push(call);
      if (call.method === 'POST')
        return Promise.resolve({ status: 201, headers: { 'x-subject-token': 'token' }, body: '{}' });
      const number = volumes[new URL(call.url).searchParams.get('host') ?? ''] ?? 0;
      const listed = Array.from({ length: number }, (_, index) => ({ id: `${index}` }));
      return Promise.resolve({ status, headers: {}, body: JSON.stringify({ volumes: listed, services }) });
    },
  });
  await clock.advance(60_000);
  return { code: await running, printed, calls };
}

const puts = (calls: readonly HttpCall[]) =>
  calls.flatMap(({ method, url, body = '' }) => (method === 'PUT' ? [[url, JSON.parse(body) as object]] : []));

test('backends without volumes: ends with 0, after it asked for those of all projects', async () => {
  const { code, printed, calls } = await count({ 'cinder@fast': 0 });
  expect({ code, printed }).toEqual({ code: 0, printed: ['volumes: 0'] });
  expect(calls.at(-1)?.url).toBe('http://cinder/v3/volumes?all_tenants=1&limit=1000&host=cinder%40fast');
});

test('volumes are told of by their backends, where there are any', async () => {
  const { code, printed } = await count({ 'cinder@fast': 2, 'cinder@slow': 0, 'cinder@huge': 1000 });
  expect({ code, printed }).toEqual({ code: 3, printed: ['volumes: 2 of cinder@fast, at least 1000 of cinder@huge'] });
});

test('no volume is placed on them any more; what was disabled here, and nothing else, is enabled again', async () => {
  const disabled_reason = 'openstack-operator: the backend is not in spec.backends';
  const services = [
    { host: 'cinder@fast', status: 'enabled' },
    { host: 'cinder@slow', status: 'enabled' },
    { host: 'cinder@back', status: 'disabled', disabled_reason },
    { host: 'cinder@broken', status: 'disabled', disabled_reason: 'a new disk is on its way' },
  ];
  const args = ['--enable', 'cinder@back', '--enable', 'cinder@broken', 'cinder@slow'];
  const { code, calls } = await count({}, { args, services });
  expect(code).toBe(0);
  expect(puts(calls)).toEqual([
    [
      'http://cinder/v3/os-services/disable-log-reason',
      { binary: 'cinder-volume', host: 'cinder@slow', disabled_reason },
    ],
    ['http://cinder/v3/os-services/enable', { binary: 'cinder-volume', host: 'cinder@back' }],
  ]);
  // Before it counts.
  expect(calls.findIndex(({ method }) => method === 'PUT')).toBeLessThan(
    calls.findIndex(({ url }) => url.includes('/volumes')),
  );
});

test('nobody knows: it does not end as if there were none', async () => {
  expect(await count({ 'cinder@fast': 0 }, { status: 403 })).toMatchObject({ code: 1 });
  expect(await count({}, { args: [] })).toMatchObject({ code: 2 });
});
