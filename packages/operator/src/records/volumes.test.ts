import { realClock } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { HttpCall } from './http.ts';
import { runCountVolumes } from './volumes.ts';

const env = {
  OS_AUTH_URL: 'http://keystone/v3',
  OS_USERNAME: 'cinder',
  OS_PASSWORD: 'x',
  VOLUME_URL: 'http://cinder/v3',
};

/** Counts against a Cinder that has so many volumes of each host. */
async function count(volumes: Readonly<Record<string, number>>, { hosts = Object.keys(volumes), status = 200 } = {}) {
  const printed: string[] = [];
  const calls: HttpCall[] = [];
  const code = await runCountVolumes(hosts, {
    env,
    clock: realClock,
    print: (line) => printed.push(line),
    http: (call) => {
      calls.push(call);
      if (call.method === 'POST')
        return Promise.resolve({ status: 201, headers: { 'x-subject-token': 'token' }, body: '{}' });
      const number = volumes[new URL(call.url).searchParams.get('host') ?? ''] ?? 0;
      const body = JSON.stringify({ volumes: Array.from({ length: number }, (_, index) => ({ id: `${index}` })) });
      return Promise.resolve({ status, headers: {}, body });
    },
  });
  return { code, printed, calls };
}

test('backends without volumes: ends with 0, after it asked for those of all projects', async () => {
  const { code, printed, calls } = await count({ 'cinder@fast': 0 });
  expect({ code, printed }).toEqual({ code: 0, printed: ['volumes: 0'] });
  expect(calls[1]?.url).toBe('http://cinder/v3/volumes?all_tenants=1&limit=1000&host=cinder%40fast');
});

test('volumes are told of by their backends, where there are any', async () => {
  const { code, printed } = await count({ 'cinder@fast': 2, 'cinder@slow': 0, 'cinder@huge': 1000 });
  expect({ code, printed }).toEqual({ code: 3, printed: ['volumes: 2 of cinder@fast, at least 1000 of cinder@huge'] });
});

test('nobody knows: it does not end as if there were none', async () => {
  expect(await count({ 'cinder@fast': 0 }, { status: 403 })).toMatchObject({ code: 1 });
  expect(await count({}, { hosts: [] })).toMatchObject({ code: 2 });
});
