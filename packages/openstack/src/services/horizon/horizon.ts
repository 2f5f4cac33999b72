import { trustOfApis } from '../../engine/configuration/sections.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles, DataSource } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { secretReference } from '../../oslo/references.ts';
import { cookieKey } from '../dashboards.ts';
import { Horizon } from './kind.ts';

/** Where the pages' scripts, styles and pictures are made when a pod starts, and served from. */
const staticRoot = '/var/lib/horizon/static';

/** Web pages, which ask the APIs of the cloud as whoever has logged in. Sessions are in the cache. */
export const horizon = defineService<Horizon>({
  kind: Horizon,
  child: { field: 'horizon', phase: 'Dashboards', description: 'The classic dashboard.', optional: true },
  name: 'horizon',
  user: 'horizon',
  dependsOn: { cacheRef: 'steps', keystoneRef: 'start' },
  secrets: ({ spec }) => cookieKey(spec),
  config: (context) => ({ main: files(context) }),
  components: (context) => ({ dashboard: dashboard(context) }),
  status: (context) => ({ url: publicUrl(context) ?? `http://${context.host('')}:8088` }),
});

function dashboard({ spec }: Pick<Context<Horizon>, 'spec'>): Component {
  const django = (...words: readonly string[]) => ({ command: ['python3', '-m', 'django', ...words] });
  return {
    workload: 'Deployment',
    suffix: '',
    image: 'horizon',
    // Scripts and styles depend on the panels that the image has and on the settings: no image has them ready.
    init: [
      { name: 'collect-static', runs: django('collectstatic', '--noinput') },
      { name: 'compress', runs: django('compress', '--force') },
    ],
    runs: {
      wsgi: 'django.core.wsgi:get_wsgi_application()',
      ini: { 'static-map': `/static=${staticRoot}` },
      threads: 4,
    },
    env: { DJANGO_SETTINGS_MODULE: 'openstack_dashboard.settings' },
    ports: { dashboard: 8088 },
    // Served by the processes of the dashboard, once they have loaded it; no page is, as pages are for known hosts alone.
    health: { get: '/static/dashboard/manifest.json', port: 'dashboard' },
    mounts: [{ path: staticRoot, scratch: true, size: '512Mi' }],
    exposed: 'dashboard',
    ...(spec.hostname === undefined ? {} : { publicHostname: spec.hostname }),
    reachable: 'anyone',
    resources: { cpu: '50m', memory: '384Mi' },
  };
}

function publicUrl(context: Context<Horizon>): string | undefined {
  return context.publicUrl('dashboard', dashboard(context));
}

/** Distributions bring snippets that go before the settings, such as a cache of each process: the last snippet says ours again. */
function files(context: Context<Horizon>): ConfigFiles {
  return {
    '/etc/openstack-dashboard/local_settings.py': settings(context),
    '/etc/openstack-dashboard/local_settings.d/_9999_again.py': 'from local.local_settings import *\n',
  };
}

function settings(context: Context<Horizon>): DataSource {
  const { spec, name, named, host, identity, cache = '', region } = context;
  const hostname = spec.hostname ?? spec.publicHostname;
  const url = publicUrl(context);
  const where = 'nothing: where the pages find their scripts and styles';
  return {
    format: 'python',
    data: {
      SECRET_KEY: secretReference(spec.secretKeySecretName ?? named('secret-key'), 'secret-key'),
      ALLOWED_HOSTS: [...(hostname === undefined ? [] : [hostname]), name, host(''), 'localhost', '127.0.0.1'],
      // A form is sent from the address that browsers show, whatever scheme arrives here.
      CSRF_TRUSTED_ORIGINS: hostname === undefined ? [] : [url ?? `https://${hostname}`],
      ...(url?.startsWith('https:') === true ? behindTls : {}),
      CACHES: {
        default: {
          BACKEND: 'django.core.cache.backends.memcached.PyMemcacheCache',
          LOCATION: cache.split(','),
        },
      },
      SESSION_ENGINE: 'django.contrib.sessions.backends.cache',
      OPENSTACK_KEYSTONE_URL: identity.internalUrl,
      OPENSTACK_ENDPOINT_TYPE: 'internalURL',
      ...trustOfApis(context, 'OPENSTACK_SSL_CACERT'),
      // Where a Keystone has several regions, that of this cloud is shown first.
      DEFAULT_SERVICE_REGIONS: { '*': region },
      WEBROOT: '/',
      STATIC_URL: '/static/',
      STATIC_ROOT: staticRoot,
      COMPRESS_OFFLINE: true,
      LOGGING: {
        version: 1,
        disable_existing_loggers: false,
        handlers: { console: { class: 'logging.StreamHandler' } },
        root: { handlers: ['console'], level: 'INFO' },
      },
    },
    owned: {
      SECRET_KEY: 'spec.secretKeySecretName',
      'CACHES.default': 'spec.cacheRef',
      OPENSTACK_KEYSTONE_URL: 'spec.keystoneRef',
      WEBROOT: where,
      STATIC_URL: where,
      STATIC_ROOT: where,
      COMPRESS_OFFLINE: where,
    },
  };
}

/** Browsers speak TLS, and the gateway tells so in a header of its own. */
const behindTls = {
  SECURE_PROXY_SSL_HEADER: ['HTTP_X_FORWARDED_PROTO', 'https'],
  SESSION_COOKIE_SECURE: true,
  CSRF_COOKIE_SECURE: true,
};
