import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Connections } from '../../engine/vocabulary/service.ts';
import { metadataPort } from '../metadata.ts';
import { cellsOf } from './cells.ts';
import { proxyMounts } from './console-tls.ts';
import type { Nova } from './kind.ts';

const state = [{ path: '/var/lib/nova', scratch: true }] as const;
const file = ['--config-file', '/etc/nova/nova.conf'] as const;

/** API, metadata, scheduler and super-conductor; and for each cell a conductor and a proxy of graphical consoles. */
export function controlComponents(context: Context<Nova>): Record<string, Component> {
  const cells = cellsOf(context).flatMap(({ name }): [string, Component][] => [
    [
      `${name}-conductor`,
      // nova-compute asks it for server groups, which only the API's database has: without that no server of one starts.
      { ...conductor(context), config: `${name}-manage`, variantOf: 'cell-conductor' },
    ],
    [`${name}-novncproxy`, consoleProxy(context, name)],
  ]);
  const components: Record<string, Component> = {
    api: { ...application('nova.wsgi.osapi_compute:application', 8774), exposed: 'api' },
    metadata: { ...application('nova.wsgi.metadata:application', metadataPort), internalApi: 'api' },
    scheduler: { ...program(context, 'nova-scheduler'), workers: { section: 'scheduler', option: 'workers' } },
    conductor: conductor(context),
    ...Object.fromEntries(cells),
  };
  return Object.fromEntries(
    Object.entries(components).map(([name, component]) => [
      name,
      // Nova lists services by host for ever: those of replaced pods would stay there as down.
      { ...component, env: { ...component.env, OS_DEFAULT__HOST: context.named(name) } },
    ]),
  );
}

/** One thread a process: with more, an idle one loses the broker and hangs in its next handshake (seen live). */
function application(wsgi: string, port: number): Component {
  return {
    workload: 'Deployment',
    image: 'nova-api',
    config: 'api',
    runs: { wsgi, threads: 1 },
    ports: { api: port },
    // Upstream's paste has no /healthcheck; the versions need no token.
    health: { get: '/', port: 'api' },
    reachable: 'anyone',
    mounts: state,
    resources: { cpu: '50m', memory: '384Mi' },
  };
}

function program({ broker }: Context<Nova>, name: string): Component {
  return {
    workload: 'Deployment',
    image: name,
    runs: { command: [name, ...file] },
    health: { connected: name, to: [`${broker.host}:${broker.port}`] },
    mounts: state,
    graceSeconds: 70,
    resources: { cpu: '50m', memory: '256Mi' },
  };
}

function conductor(context: Context<Nova>): Component {
  return { ...program(context, 'nova-conductor'), workers: { section: 'conductor', option: 'workers' } };
}

/** The proxy of a cell's graphical consoles. */
export function consoleProxy(context: Context<Nova>, cell: string): Component {
  const { consolePublicHostname: publicHostname } = context.spec;
  return {
    workload: 'Deployment',
    image: 'nova-novncproxy',
    config: cell,
    variantOf: 'novncproxy',
    runs: { command: ['nova-novncproxy', ...file] },
    ports: { novnc: 6080 },
    health: { get: '/vnc_lite.html', port: 'novnc' },
    reachable: 'anyone',
    ...(publicHostname === undefined ? {} : { exposed: 'novnc', publicHostname }),
    mounts: [...state, ...proxyMounts(context)],
    resources: { cpu: '25m', memory: '192Mi' },
  };
}

/** What of Nova knows the API's database may speak to every cell. */
export function databaseConnections({ cells }: Pick<Nova['spec'], 'cells'>): Readonly<Record<string, Connections>> {
  const count = cells?.length ?? 1;
  const pools = 2 + count;
  return {
    api: { pools },
    metadata: { pools },
    scheduler: { launched: true, pools },
    conductor: { launched: true, pools },
    'cell-conductor': { launched: true, workloads: count, pools },
    novncproxy: { processes: 1, workloads: count, pools: 1 },
  };
}
