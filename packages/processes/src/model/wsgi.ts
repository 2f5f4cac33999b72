import type { Process } from '@openstack-operator/sandbox';
import { loadConfig } from '../oslo/config.ts';
import { Database } from '../oslo/database.ts';
import { setUpLog } from '../oslo/log.ts';
import { Messaging } from '../oslo/messaging.ts';
import { demandTables, type ProjectDatabase } from '../oslo/project-database.ts';
import type { ServiceContext } from '../oslo/service-context.ts';
import { pause } from '../program-support.ts';
import { type Api, apiHandler } from './api.ts';
import type { Project } from './program.ts';
import type { WsgiHandler, WsgiModule } from './uwsgi.ts';
import type { UwsgiSettings } from './uwsgi-settings.ts';

/** An application that uwsgi imports: how it starts, and what it serves. */
export interface Application {
  /** Configuration files that must be there, unless `OS_<PROJECT>_CONFIG_FILES` names others; absent: those of oslo.config. */
  readonly files?: readonly string[];
  /** Milliseconds that importing it takes. */
  readonly takes: number;
  /** What it connects to before it serves, in order. @throws PythonError, SystemExit */
  readonly connects?: readonly Connect[];
  /** Its API, or what it makes of the requests that it gets. */
  readonly serves: Api | ((context: ServiceContext, settings: UwsgiSettings) => Promise<WsgiHandler> | WsgiHandler);
}

/** A connection that a program makes when it starts. @throws PythonError */
export type Connect = (context: ServiceContext) => Promise<void> | void;

/** A database whose tables must be there when the program starts; names with blanks between. */
export function database(project: ProjectDatabase, tables: string): Connect {
  return (context) => new Database(context, project).transaction('INSERT', (schema) => demandTables(schema, tables));
}

/** A broker that is connected to on first use: at the start its URL is only parsed. */
export function broker(context: ServiceContext): void {
  void new Messaging(context);
}

/** What importing an application does. */
export function wsgiModule(project: Project, application: Application): WsgiModule {
  return async (process, settings) => {
    const { takes, connects = [], serves } = application;
    const files = filesOf(process, project.project, application.files);
    const config = loadConfig(process, { ...project, programs: ['uwsgi'], ...(files && { files }) });
    const context = { process, config, log: setUpLog(process, config, 'uwsgi') };
    await pause(process, takes);
    for (const connect of connects) await connect(context);
    return typeof serves === 'function' ? serves(context, settings) : apiHandler(context, serves);
  };
}

/** `OS_<PROJECT>_CONFIG_FILES` in `OS_<PROJECT>_CONFIG_DIR`, as the modules `<project>.wsgi` read them. */
function filesOf(process: Process, project: string, names?: readonly string[]): string[] | undefined {
  const variable = (what: string): string => (process.env[`OS_${project.toUpperCase()}_CONFIG_${what}`] ?? '').trim();
  const directory = variable('DIR') || `/etc/${project}`;
  const named = variable('FILES')
    .split(';')
    .filter((name) => name !== '');
  if (names === undefined && named.length === 0 && variable('DIR') === '') return undefined;
  const chosen = named.length > 0 ? named : (names ?? [`${project}.conf`]);
  return chosen.map((name) => (name.startsWith('/') ? name : `${directory}/${name}`));
}
