import { expect, test } from 'vitest';
import { request, World } from '../../testing/world.ts';
import { distributed } from './django-settings.ts';
import { horizon } from './horizon.ts';

const root = '/var/lib/horizon/static';
const local = '/etc/openstack-dashboard/local_settings.py';
const settings = `ALLOWED_HOSTS = ["horizon"]\nSECRET_KEY = "key"\nSTATIC_ROOT = "${root}"\nCOMPRESS_OFFLINE = True\n`;
const ini = `[uwsgi]\nhttp-socket = 0.0.0.0:80\nmodule = django.core.wsgi:get_wsgi_application()\nneed-app = true\nstatic-map = /static=${root}\n`;

const collect = ['python3', '-m', 'django', 'collectstatic', '--noinput'];
const compress = ['python3', '-m', 'django', 'compress'];

/** A pod of Horizon, with the distribution's files where no other are given. */
function pod(
  files: Readonly<Record<string, string>>,
  env = { DJANGO_SETTINGS_MODULE: 'openstack_dashboard.settings' },
) {
  const world = new World();
  const programs = Object.assign({}, ...Object.values(horizon.recipes[0]?.programs ?? {})) as Parameters<
    World['container']
  >[0]['programs'];
  const host = { host: 'horizon', programs, env, uid: 42_420, directories: [root] };
  return { world, container: world.container({ ...host, files: { ...distributed, '/uwsgi.ini': ini, ...files } }) };
}

const mounted = {
  [local]: settings,
  '/etc/openstack-dashboard/local_settings.d/_9999_again.py': 'from local.local_settings import *\n',
};

test.each([
  ['settings that are not named', mounted, {}, 'ImproperlyConfigured: Requested setting INSTALLED_APPS'],
  ['no key', {}, undefined, 'OSError: [Errno 30] Read-only file system'],
  ["a distribution's directory", { [local]: settings }, undefined, "'/var/lib/openstack-dashboard/static/horizon"],
])('of %s no scripts are made', async (_title, files, env, words) => {
  const { status, output } = await pod(files, env as undefined).container.run(collect);
  expect(status).toBe(1);
  expect(output).toContain(words);
});

test('a snippet that is no Python is told and left out', async () => {
  const files = { ...mounted, '/etc/openstack-dashboard/local_settings.d/_5000_mine.py': 'STATIC_ROOT = {oops\n' };
  const { container } = pod(files);
  const { status, output } = await container.run(collect);
  expect(status).toBe(0);
  expect(output).toContain('Can not exec settings snippet _5000_mine.py');
});

test('styles come after scripts, and both before pages', async () => {
  const { container, world } = pod(mounted);
  expect((await container.run(compress)).output).toContain('could not be found');
  container.start(['uwsgi', '--ini', '/uwsgi.ini']);
  await world.clock.advance(10_000);
  const open = async (path: string, headers = { host: 'horizon' }) =>
    (await request(world, 'horizon', 80, path, { headers })).status;
  expect(await open('/static/dashboard/manifest.json')).toBe(500);
  for (const command of [collect, compress]) expect((await container.run(command)).status).toBe(0);
  expect(await open('/static/dashboard/manifest.json', { host: '10.0.0.1' })).toBe(200);
  expect(await open('/auth/login/')).toBe(200);
  expect(await open('/auth/login/', { host: '10.0.0.1' })).toBe(400);
});
