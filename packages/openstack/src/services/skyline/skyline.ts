import { trustOfApis } from '../../engine/configuration/sections.ts';
import type { Component, Mount } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles, DataSource } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { authorityKey } from '../../engine/vocabulary/trust.ts';
import { secretReference } from '../../oslo/references.ts';
import { cookieKey } from '../dashboards.ts';
import { Skyline } from './kind.ts';
import { healthPath, nginxConfiguration, type Proxied, rootOf } from './nginx.ts';

const [consolePort, apiserverPort] = [9999, 9998];

/** Services that the pages ask. */
const asked = `barbican cinder designate glance heat ironic magnum manila masakari neutron nova octavia placement swift
  trove`.split(/\s+/u);

/** What the pages call a service otherwise (`openstack.service_mapping` of skyline.yaml). */
const pageNames: Readonly<Record<string, string>> = { manila: 'manilav2' };

/** Pages that browsers run, and a server with which they log in; what else they ask, nginx leads to the APIs of the cloud. */
export const skyline = defineService<Skyline>({
  kind: Skyline,
  child: { field: 'skyline', phase: 'Dashboards', description: 'The modern dashboard.', optional: true },
  name: 'skyline',
  user: 'skyline',
  // Whoever logs in is told which extensions Neutron has (skyline_apiserver.client.openstack.system.get_endpoints).
  dependsOn: { databaseRef: 'steps', keystoneRef: 'start', neutronRef: 'cloud' },
  databases: [{ name: 'skyline' }],
  // A worker keeps what it opened for its users (skyline_apiserver.db.base: 1 to 100, one for each request at a time).
  connections: () => ({ apiserver: { processes: 2, pools: 1 } }),
  identity: { users: [{ name: 'skyline', roles: ['admin'] }], catalogue: [] },
  proxies: asked,
  secrets: ({ spec }) => cookieKey(spec),
  config: (context) => ({ main: apiserverFiles(context), console: { '/etc/skyline/nginx.conf': nginx(context) } }),
  components: (context) => ({
    console: { ...consoleComponent(context), mounts: trusted(context) },
    apiserver: apiserver(context),
  }),
  migrate: () => ({
    image: 'skyline-apiserver',
    sync: ['alembic', '--config', '/etc/skyline/alembic.ini', 'upgrade', 'head'],
  }),
  status: (context) => ({
    url: context.publicUrl('console', consoleComponent(context)) ?? `http://${context.host('')}:${consolePort}`,
  }),
});

function consoleComponent({ spec }: Pick<Context<Skyline>, 'spec'>): Component {
  return {
    workload: 'Deployment',
    suffix: '',
    image: 'skyline-console',
    config: 'console',
    // What it would write before it has read its configuration goes to standard error as well.
    runs: { command: ['nginx', '-c', '/etc/skyline/nginx.conf', '-e', 'stderr', '-g', 'daemon off;'] },
    ports: { console: consolePort },
    health: { get: healthPath, port: 'console' },
    exposed: 'console',
    ...(spec.hostname === undefined ? {} : { publicHostname: spec.hostname }),
    reachable: 'anyone',
    resources: { cpu: '10m', memory: '32Mi' },
  };
}

function apiserver({ spec }: Pick<Context<Skyline>, 'spec'>): Component {
  return {
    workload: 'Deployment',
    image: 'skyline-apiserver',
    replicas: spec.apiServerReplicas ?? 1,
    runs: {
      command: [
        'gunicorn',
        '--bind',
        `0.0.0.0:${apiserverPort}`,
        '--workers',
        '2',
        '--worker-class',
        'uvicorn.workers.UvicornWorker',
        'skyline_apiserver.main:app',
      ],
    },
    ports: { api: apiserverPort },
    health: { get: '/api/v1/openapi.json', port: 'api', periodSeconds: 10 },
    clients: 'own',
    resources: { cpu: '25m', memory: '256Mi' },
  };
}

/** The API server, which browsers ask by two paths, and the APIs of the cloud, each below its region and name. */
function nginx(context: Context<Skyline>): string {
  const { host, apis, identity, region } = context;
  const [authority] = trusted(context);
  const server = `http://${host('apiserver')}:${apiserverPort}`;
  const of = (name: string, url: string): Proxied => ({
    location: `/api/openstack/${region.toLowerCase()}/${name}/`,
    url: rootOf(url),
  });
  const proxied = [
    { location: '/api/openstack/skyline/', url: `${server}/` },
    { location: '/api/v1/', url: `${server}/api/v1/` },
    of('keystone', identity.internalUrl),
    ...asked.flatMap((service) => {
      const url = apis[service];
      return url === undefined ? [] : [of(pageNames[service] ?? service, url)];
    }),
  ];
  return nginxConfiguration(consolePort, proxied, authority?.path);
}

/** Whom nginx trusts: a file by itself, of which another one replaces the pod, because it reads it at its start. */
function trusted({ identity: { trust } }: Context<Skyline>): Mount[] {
  return trust === undefined ? [] : [{ path: `/etc/skyline/${authorityKey}`, secret: trust.secret, key: authorityKey }];
}

function apiserverFiles(context: Context<Skyline>): ConfigFiles {
  return {
    '/etc/skyline/skyline.yaml': settings(context),
    // The one in the package says no more, and is at another path in each distribution.
    '/etc/skyline/alembic.ini': '[alembic]\nscript_location = skyline_apiserver.db:alembic\n',
  };
}

function settings(context: Context<Skyline>): DataSource {
  const { spec, named, identity, region, user, databaseUrl } = context;
  const account = user();
  return {
    format: 'yaml',
    data: {
      default: {
        database_url: databaseUrl('skyline', 'mysql'),
        secret_key: secretReference(spec.secretKeySecretName ?? named('secret-key'), 'secret-key'),
        log_dir: '/dev',
        log_file: 'stdout',
        ...trustOfApis(context),
        ssl_enabled: context.publicUrl('console', consoleComponent(context))?.startsWith('https:') === true,
      },
      openstack: {
        // A URL of a host without a dot is refused (pydantic's HttpUrl): those of Services have some.
        keystone_url: `${identity.internalUrl.replace(/\/v3\/?$/u, '')}/v3/`,
        default_region: region,
        sso_region: region,
        interface_type: 'internal',
        system_user_name: account.name,
        system_user_password: secretReference(account.secret, 'password'),
      },
    },
    owned: {
      'default.database_url': 'spec.databaseRef',
      'default.secret_key': 'spec.secretKeySecretName',
      'openstack.keystone_url': 'spec.keystoneRef',
      'openstack.interface_type': 'nothing: pages ask through the console, inside the cluster',
      'openstack.nginx_prefix': 'nothing: it is where the console leads to the APIs',
      'openstack.system_*': 'spec.identity',
    },
  };
}
