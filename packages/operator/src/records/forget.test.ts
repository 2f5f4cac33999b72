import { virtualClock } from '@openstack-operator/kube';
import type { ForgetPlan } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { runForget } from './forget.ts';

const env = {
  OS_AUTH_URL: 'http://keystone/v3',
  OS_USERNAME: 'nova',
  OS_PASSWORD: 'x',
  API_URL: 'http://nova/v2.1',
};
const planned: ForgetPlan = {
  of: 'services',
  list: '/os-services?host={host}',
  items: 'services',
  record: '/os-services/{id}',
  headers: { 'x-version': '2.69' },
  alive: ['state', 'up'],
  hosts: ['node1', 'node2'],
};

interface Service {
  readonly id: string;
  readonly host: string;
  readonly binary: string;
  readonly state: string;
}
const service = (host: string, id: string, state = 'down'): Service => ({ id, host, binary: 'nova-compute', state });

/** What has been recorded; `answers` says what becomes of a deletion: words that refuse it, or which records go with it. */
function cloudOf(services: Service[], answers: Readonly<Record<string, string | readonly string[]>> = {}) {
  const deleted: string[] = [];
  const run = async (plan: Partial<ForgetPlan> = {}) => {
    const clock = virtualClock();
    let message = '';
    let code: number | undefined;
    void runForget([JSON.stringify({ ...planned, ...plan })], {
      env,
      clock,
      print: () => undefined,
      writeMessage: (text) => {
        message = text;
      },
      http: ({ method, url, headers }) => {
        const { pathname } = new URL(url);
        const answer = (json: object, status = 200) =>
          Promise.resolve({ status, headers: {}, body: JSON.stringify(json) });
        if (pathname === '/v3/auth/tokens')
          return Promise.resolve({ status: 201, headers: { 'x-subject-token': 'token' }, body: '{}' });
        expect(headers['x-version']).toBe('2.69');
        // This one knows no filter.
        if (method === 'GET') return answer({ services });
        const id = pathname.split('/').at(-1) ?? '';
        deleted.push(id);
        const fate = answers[id] ?? [id];
        if (typeof fate === 'string') return answer({ conflictingRequest: { message: fate } }, 409);
        if (!services.some((one) => one.id === id)) return answer({ itemNotFound: { message: 'no' } }, 404);
        for (const gone of fate)
          services.splice(
            services.findIndex((one) => one.id === gone),
            1,
          );
        return Promise.resolve({ status: 204, headers: {}, body: '' });
      },
    }).then((ended) => {
      code = ended;
    });
    await clock.run(() => code !== undefined, { limit: 120_000 });
    return { code, message };
  };
  return { run, services, deleted };
}

test('what is recorded of hosts that are gone is deleted, of no other; a second run changes nothing', async () => {
  const cloud = cloudOf([service('node1', 'a'), service('node2', 'b'), service('node22', 'c')]);
  const done = { code: 0, message: 'node1: forgotten\nnode2: forgotten' };
  expect(await cloud.run()).toEqual(done);
  expect(cloud.services.map(({ host }) => host)).toEqual(['node22']);
  expect(await cloud.run()).toEqual(done);
  expect(cloud.deleted).toEqual(['a', 'b']);
});

test('a record that goes with another one is gone as well; one that stays is told', async () => {
  const cloud = cloudOf([service('node1', 'a'), service('node1', 'b')], { a: ['a', 'b'] });
  expect((await cloud.run({ hosts: ['node1'] })).code).toBe(0);
  const staying = cloudOf([service('node1', 'a')], { a: [] });
  expect(await staying.run({ hosts: ['node1'] })).toEqual({ code: 3, message: 'node1: 1 services are still listed' });
});

test('a host that reports, or whose records are refused, keeps them, and is told last', async () => {
  const words = 'Unable to delete compute service that is hosting instances.\nMigrate or delete the instances first.';
  const cloud = cloudOf([service('node1', 'a'), service('node2', 'b'), service('node3', 'c', 'up')], { a: words });
  expect(await cloud.run({ hosts: ['node1', 'node2', 'node3'] })).toEqual({
    code: 3,
    message:
      'node2: forgotten\n' +
      'node1: Unable to delete compute service that is hosting instances. Migrate or delete the instances first.\n' +
      'node3: not gone, as it reports: nova-compute; end that, or wait until the service takes it for down',
  });
  expect(cloud.deleted).toEqual(['a', 'b']);
});

test('an answer that is none ends it', async () => {
  const cloud = cloudOf([]);
  expect(await cloud.run({ items: 'others' })).toEqual({
    code: 1,
    message: 'GET /os-services?host=node1: the answer holds no others',
  });
});
