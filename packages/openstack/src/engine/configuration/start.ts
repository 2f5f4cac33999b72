import { type Runs, usualProcesses, type Wsgi } from '../vocabulary/component.ts';

/** How a container is started: its command, and the file that the command reads, if any. */
export interface Start {
  readonly command: readonly string[];
  /** Path in the container -> content. */
  readonly files: Readonly<Record<string, string>>;
}

/** Seconds that a worker has to end its request when uwsgi stops; then it is killed. */
export const reloadMercySeconds = 80;

/** Where start files are mounted. */
const folder = '/etc/openstack';

/** How `dumb-init` passes SIGTERM on; 15 is that, and 10 is SIGUSR1. */
const reaperOptions: Readonly<Record<'single' | 'group' | 'USR1', readonly string[]>> = {
  single: ['--single-child'],
  group: [],
  USR1: ['--single-child', '--rewrite', '15:10'],
};

/**
 * The command of a container. Programs run under `dumb-init --single-child` (rule 3 of the image contract: PID 1
 * reaps and passes SIGTERM on); uwsgi's master and bash scripts that end in `exec` do that as well.
 */
export function startOf(name: string, runs: Runs, port: number | undefined, options: { reaper: boolean }): Start {
  if (!('wsgi' in runs)) {
    const reaper = ['dumb-init', ...reaperOptions[runs.signals ?? 'single'], '--'];
    const path = `${folder}/${name}.sh`;
    const [command, files] =
      'command' in runs
        ? [runs.command, {}]
        : [['bash', '-eu', path, ...(runs.arguments ?? [])], { [path]: runs.script, ...runs.files }];
    return { command: options.reaper ? [...reaper, ...command] : command, files };
  }
  if (port === undefined) throw new Error(`${name}: a WSGI application needs a port`);
  const path = `${folder}/${name}-uwsgi.ini`;
  return { command: ['uwsgi', '--ini', path], files: { [path]: uwsgiIni(runs, port) } };
}

/**
 * One ini for the uwsgi of Kolla (from PyPI, python built in) and of Debian (python as a plugin); every line was run
 * on both (image contract, section 6).
 */
function uwsgiIni(runs: Wsgi, port: number): string {
  const settings: Record<string, string> = {
    'http-socket': `0.0.0.0:${port}`,
    module: runs.wsgi,
    master: 'true',
    'lazy-apps': 'true',
    'need-app': 'true',
    'enable-threads': 'true',
    'thunder-lock': 'true',
    processes: String(runs.processes ?? usualProcesses),
    threads: String(runs.threads ?? 1),
    'die-on-term': 'true',
    'exit-on-reload': 'false',
    'hook-master-start': 'unix_signal:15 gracefully_kill_them_all',
    'worker-reload-mercy': String(reloadMercySeconds),
    'buffer-size': '65535',
    // Seconds that a client may pause while it sends or reads; after the default of 4 a long answer is cut off.
    'socket-timeout': '30',
    // Without it keep-alive PUTs through http-socket are reset (Debian's own ini has that fault).
    'add-header': 'Connection: close',
    ...runs.ini,
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}\n`);
  return `[uwsgi]\nif-not-plugin = python\nplugins = python3\nendif =\n${lines.join('')}`;
}
