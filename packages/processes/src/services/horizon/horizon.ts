import { uuid } from '@openstack-operator/kube';
import { type HttpMessage, type HttpReply, type Process, SystemError } from '@openstack-operator/sandbox';
import { headerOf, locationOf } from '../../http.ts';
import { model } from '../../model/model.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import type { UwsgiSettings } from '../../model/uwsgi-settings.ts';
import { osError, PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { CommandError, commandWith, makeDirectories, notModelled, pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { distributed, loadSettings, type Settings } from './django-settings.ts';
import { login, panel } from './horizon-pages.ts';
import { find, keep } from './horizon-sessions.ts';

const [script, style, manifest] = ['horizon/js/horizon.js', 'dashboard/css/output.css', 'dashboard/manifest.json'];

/** `python3 -m django`, with the two commands that make what browsers load. */
const python = commandWith({ flags: 'noinput force', values: 'm' }, async (process, line) => {
  const [command = ''] = line.operands;
  if (line.value('m') !== 'django' || !['collectstatic', 'compress'].includes(command))
    notModelled(process, 'other modules than django, with collectstatic and compress');
  try {
    const { STATIC_ROOT: root = '' } = loadSettings(process);
    if (command === 'compress' && !process.files.exists(`${root}/${script}`))
      throw new PythonError('CommandError', `An error occurred during rendering: '${script}' could not be found`);
    if (!(await pause(process, startTimes.horizon[command as 'compress']))) return 0;
    for (const name of command === 'compress' ? [style, manifest] : [script]) write(process, `${root}/${name}`);
    return 0;
  } catch (error) {
    throw error instanceof PythonError ? new CommandError(error.lastLine) : error;
  }
});

/** Horizon 25: pages ask the APIs as whoever has logged in. */
export const horizon = model({
  project: 'horizon',
  images: { horizon: { root: true, system: { '/usr/bin': { python3: python } } } },
  files: distributed,
  programs: {},
  applications: { 'django.core.wsgi:get_wsgi_application()': { takes: startTimes.horizon.start, serves: serve } },
});

/** @throws PythonError */
function write(process: Process, path: string): void {
  try {
    makeDirectories(process, path.slice(0, path.lastIndexOf('/')));
    process.files.write(path, '{}\n');
  } catch (error) {
    throw error instanceof SystemError ? osError(error, path) : error;
  }
}

function serve(context: ServiceContext, uwsgi: UwsgiSettings): WsgiHandler {
  const settings = loadSettings(context.process);
  return async (request) => {
    const file = mapped(context.process, uwsgi, locationOf(request).path);
    if (file !== undefined) return html(200, file);
    try {
      return await page(context, settings, request);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      context.log.unhandled('django.request', error);
      return html(500, '<h1>Server Error (500)</h1>');
    }
  };
}

/** What uwsgi serves by itself (`static-map`). */
function mapped({ files }: Process, uwsgi: UwsgiSettings, path: string): string | undefined {
  const [mount = '', root = ''] = uwsgi.value('static-map')?.split('=') ?? [];
  const file = `${root}${path.slice(mount.length)}`;
  return path.startsWith(`${mount}/`) && files.exists(file) && !files.isDirectory(file) ? files.read(file) : undefined;
}

async function page(context: ServiceContext, settings: Settings, request: HttpMessage): Promise<HttpReply> {
  const { process } = context;
  const { path } = locationOf(request);
  const host = headerOf(request, 'host') ?? '';
  if (settings.ALLOWED_HOSTS?.includes(host.replace(/:\d+$/u, '')) !== true)
    return html(400, '<h1>Bad Request (400)</h1>');
  if (settings.COMPRESS_OFFLINE === true && !process.files.exists(`${settings.STATIC_ROOT}/${manifest}`))
    throw new PythonError('compressor.exceptions.OfflineGenerationError', 'key is missing from offline manifest');
  // Every page asks the cache, that of the login as well (horizon.middleware.simultaneous_sessions).
  const session = await find(process, settings, cookie(request, 'sessionid') ?? '');
  if (path === '/auth/login' && request.method !== 'POST') return form(process);
  if (path === '/auth/login') {
    const { body, headers } = request;
    const fields = new URLSearchParams(body);
    const { origin = `http://${host}` } = headers;
    const isTrusted = origin === `http://${host}` || settings.CSRF_TRUSTED_ORIGINS?.includes(origin) === true;
    if (!isTrusted || fields.get('csrfmiddlewaretoken') !== cookie(request, 'csrftoken'))
      return moved('/auth/login/?csrf_failure=CSRF');
    const found = await login(context, settings, fields);
    if (typeof found === 'string') return form(process, found);
    return moved('/', { 'set-cookie': `sessionid=${await keep(process, settings, found)}; Path=/` });
  }
  if (session === undefined) return moved(`/auth/login/?next=${path}/`);
  return path === '/' ? moved('/project/') : html(...(await panel(context, settings, path, session)));
}

/** The page on which one logs in. */
function form(process: Process, words = ''): HttpReply {
  const token = uuid(process.random);
  const body = `<link href="/static/${style}">${words}<input name="csrfmiddlewaretoken" value="${token}">`;
  return html(200, body, { 'set-cookie': `csrftoken=${token}; Path=/` });
}

function html(status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body };
}

function moved(location: string, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status: 302, headers: { location, ...headers } };
}

function cookie(request: HttpMessage, name: string): string | undefined {
  return new RegExp(`(?:^|; *)${name}=([^;]*)`, 'u').exec(headerOf(request, 'cookie') ?? '')?.[1];
}
