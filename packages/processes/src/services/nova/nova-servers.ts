import { worded } from '../../attempt.ts';
import { headerOf, plain } from '../../http.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { serveHttp } from '../../model/eventlet-server.ts';
import type { ServiceProgram } from '../../model/program.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { osError, PythonError, SystemExit } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { type BuildRequest, type PlacementRequest, scheduleAndBuild, selectDestination } from './nova-build.ts';
import { findNewHost } from './nova-cold-migration.ts';
import { openConsole } from './nova-consoles.ts';
import { enabledFilters } from './nova-filters.ts';
import { discoverHosts } from './nova-hosts.ts';
import { liveMigrate } from './nova-live-migration.ts';
import { localObjects, type NovaAction, type NovaObjects } from './nova-objects.ts';
import { runService } from './nova-service.ts';
import { PlacementClient } from './placement-client.ts';

function objectsOf(context: ServiceContext): NovaObjects {
  return localObjects({ ...context, database: new Database(context) });
}

/** `nova-conductor`: tries Placement when it starts; does the database's work for the computes of its cell, over the broker. */
export const novaConductor: ServiceProgram = {
  takes: startTimes.novaService,
  run: async (context) => {
    const objects = objectsOf(context);
    const messaging = new Messaging(context);
    await new PlacementClient(context).test('nova.conductor.manager', 'some operations');
    return runService(context, {
      binary: 'nova-conductor',
      workers: context.config.integer('conductor', 'workers'),
      topic: 'conductor',
      objects,
      messaging,
      handler: (method, parameters) => {
        if (method === 'live_migrate_instance') return liveMigrate(context, messaging, parameters as { uuid: string });
        if (method === 'migrate_server')
          return findNewHost(context, messaging, parameters as Parameters<typeof findNewHost>[2]);
        if (method !== 'schedule_and_build_instances') return objects.run(method as NovaAction, parameters as Row);
        // A cast: nobody waits for the end.
        void scheduleAndBuild(context, messaging, parameters as BuildRequest).catch((error: unknown) => {
          if (!(error instanceof PythonError)) throw error;
          context.log.exception('oslo_messaging.rpc.server', 'Exception during message handling', error);
        });
        return Promise.resolve(undefined);
      },
    });
  },
};

/** `nova-scheduler`: tries Placement when it starts; maps new hosts now and then when it is told to. */
export const novaScheduler: ServiceProgram = {
  takes: startTimes.novaService,
  run: async (context) => {
    const { config, log } = context;
    const messaging = new Messaging(context);
    const logger = 'nova.scheduler.manager';
    enabledFilters(config);
    const placement = new PlacementClient(context);
    await placement.test(logger, 'scheduling');
    const spacing = config.integer('scheduler', 'discover_hosts_in_cells_interval');
    return runService(context, {
      binary: 'nova-scheduler',
      workers: config.integer('scheduler', 'workers'),
      topic: 'scheduler',
      objects: objectsOf(context),
      messaging,
      handler: (_method, parameters) => selectDestination(context, placement, parameters as PlacementRequest),
      ...(spacing > 0 && {
        periodic: {
          spacing,
          run: async () => {
            const found = await discoverHosts(context);
            if (found.length > 0) log.info(logger, `Discovered ${found.length} new hosts: ${found.join(',')}`);
          },
        },
      }),
    });
  },
};

/** `nova-novncproxy`: serves the console's files and websockets; asks the cell's database on a connection. */
export const novaNovncproxy: ServiceProgram = {
  takes: startTimes.novaNovncproxy,
  flags: 'daemon ssl_only source_is_ipv6 record',
  values: 'web cert key novncproxy_host novncproxy_port vnc-novncproxy_host vnc-novncproxy_port',
  run: async (context) => {
    const { process, config, log, line } = context;
    const web = line.value('web') ?? config.text('DEFAULT', 'web', '/usr/share/novnc');
    const cert = config.text('DEFAULT', 'cert');
    if (config.boolean('DEFAULT', 'ssl_only') && !process.files.exists(cert))
      throw new SystemExit(255, `SSL only and ${cert} not found`);
    if (web !== '' && !process.files.exists(web)) throw new SystemExit(255, `Can not find html/js files at ${web}.`);
    const host = config.text('vnc', 'novncproxy_host');
    const port = config.integer('vnc', 'novncproxy_port');
    const answer: WsgiHandler = (request) => {
      if (headerOf(request, 'upgrade') === 'websocket') return openConsole(context, request);
      const [path = ''] = request.path.split('?');
      const file = `${web}${path}`;
      return Promise.resolve(
        process.files.exists(file) && !process.files.isDirectory(file)
          ? { status: 200, headers: { 'content-type': 'text/html' }, body: process.files.read(file) }
          : plain(404, 'File not found'),
      );
    };
    worded(() => serveHttp(process, { host, port }, answer), osError);
    log.info('nova.console.websocketproxy', 'WebSocket server settings:');
    log.info('nova.console.websocketproxy', `  - Listen on ${host}:${port}`);
    log.info('nova.console.websocketproxy', `  - Web server (no directory listings). Web root: ${web}`);
    await terminated(process);
    return 0;
  },
};
