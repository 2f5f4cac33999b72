import { describe, expect, it } from 'vitest';
import { uwsgi } from '../../../packages/processes/src/model/uwsgi.ts';
import { cloudPrograms, ground } from '../../../packages/processes/src/testing/cloud.ts';
import { request } from '../../../packages/processes/src/testing/world.ts';
import { echoModel } from './echo-model.ts';

const ini =
  '[uwsgi]\nhttp-socket = 0.0.0.0:80\nmodule = echo.wsgi.api:application\nlazy-apps = true\nneed-app = true\ndie-on-term = true\n';

/** Echo on a database, a broker and a Keystone that are there, with the database of Glance, and Glance's user. */
async function running(change: (text: string) => string = (text) => text, { synced = true } = {}) {
  const { world, token, container } = await ground();
  const glance = container('glance').asRoot.read('/etc/glance/glance-api.conf');
  const conf = change(glance.replace('[DEFAULT]', '[DEFAULT]\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/'));
  const host = world.container({
    host: 'echo',
    programs: { ...cloudPrograms, ...echoModel.programs, uwsgi: uwsgi(echoModel.modules) },
    files: { '/etc/echo/echo.conf': conf, '/echo.ini': ini },
  });
  const job = synced ? await host.run(['echo-manage', 'db', 'sync']) : undefined;
  const api = host.start(['uwsgi', '--ini', '/echo.ini']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await request(world, 'echo', 80, path, { method, headers: { 'x-auth-token': token }, body });
    return { status: reply.status, body: JSON.parse(reply.body || '{}') as Record<string, Record<string, unknown>> };
  };
  return { host, job, api, send };
}

describe('a plain API, of a table alone', () => {
  it('is migrated, checked, and keeps what its collections are given', async () => {
    const { host, job, send } = await running();
    expect(job?.status).toBe(0);
    expect(await host.run(['echo-manage', 'db', 'version'])).toMatchObject({ output: expect.stringContaining('3a5b') });
    expect((await host.run(['echo-status', 'upgrade', 'check'])).status).toBe(0);
    expect((await send('GET', '/')).status).toBe(300);
    const made = await send('POST', '/v1/halls', { hall: { name: 'a' } });
    expect(made).toMatchObject({ status: 201, body: { hall: { name: 'a', size: 1 } } });
    const path = `/v1/halls/${String(made.body['hall']?.['id'])}`;
    expect((await send('POST', '/v1/halls', { hall: { name: 'a' } })).status).toBe(409);
    expect((await send('POST', '/v1/halls', { hall: {} })).status).toBe(400);
    expect((await send('PUT', path, { hall: { size: 2 } })).body).toMatchObject({ hall: { name: 'a', size: 2 } });
    expect((await send('GET', '/v1/halls?size=1')).body).toEqual({ halls: [] });
    expect((await send('DELETE', path)).status).toBe(204);
    expect((await send('GET', path)).status).toBe(404);
    expect((await send('GET', '/v2/halls')).status).toBe(404);
  });

  it.each<[string, (text: string) => string, string]>([
    ['a wrong password', (text) => text.replace('glance:pw', 'glance:bad'), "Access denied for user 'glance'"],
    ['a wrong broker', (text) => text.replace('rabbit:', 'rabit:'), 'Failed to load transport driver "rabit"'],
    [
      'what is no number',
      (text) => `${text}[database]\nmax_retries = x\n`,
      "invalid literal for int() with base 10: 'x'",
    ],
  ])('does not load with %s', async (_name, change, words) => {
    const { api } = await running(change);
    expect(api.output()).toContain(words);
    expect(api.status()).toBe(22);
  });

  it('does not load before its migration, and its commands refuse what they do not know', async () => {
    const { api, host } = await running(undefined, { synced: false });
    expect(api.output()).toContain("Table 'glance.sounds' doesn't exist");
    expect(await host.run(['echo-manage', 'db', 'snyc'])).toMatchObject({
      status: 2,
      output: expect.stringContaining("invalid choice: 'db'"),
    });
  });
});
