import { microTimestamp } from '@openstack-operator/kube';
import type { HttpMessage, HttpReply, Listener, Process, Program } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { CommandError, command, pause, reasonOf, terminated } from '../program-support.ts';
import { readUwsgiSettings, type UwsgiSettings } from './uwsgi-settings.ts';

/** An application that uwsgi has loaded: answers requests. */
export type WsgiHandler = (request: HttpMessage) => Promise<HttpReply>;

/**
 * What importing a WSGI module does: takes its time, and gives the application.
 * @throws PythonError as an import would, SystemExit when the module ends the interpreter
 */
export type WsgiModule = (process: Process, settings: UwsgiSettings) => Promise<WsgiHandler>;

/**
 * `uwsgi` as pip builds it (Kolla's images), with the applications of one image: `package.module:callable` or
 * `package.module:factory()` -> what importing it does. Behaviour seen on 2.0.31.
 */
export function uwsgi(modules: Readonly<Record<string, WsgiModule>>): Program {
  return command(async (process) => {
    const settings = readUwsgiSettings(process);
    const log = (text: string): void => process.stderr(`${text}\n`);
    const now = (): string => microTimestamp(process.clock).slice(0, 19);
    log(`*** Starting uWSGI 2.0.31 (64bit) on [${now()}] ***`);
    if (settings.values('need-plugin').length > 0) {
      throw new CommandError(
        `open("./${settings.value('need-plugin')}_plugin.so"): No such file or directory [core/utils.c line 3729]\n!!! UNABLE to load uWSGI plugin: ${settings.value('need-plugin')} !!!`,
      );
    }
    const listener = new Backlog(process);
    const bound = bind(process, settings, listener, log);
    if (bound.length === 0) throw new CommandError('The -s/--socket option is missing and stdin is not a socket.');
    if (process.uid === 0) log('*** WARNING: you are running uWSGI as root !!! (use the --uid flag) ***');
    try {
      return await run(process, settings, modules, listener, log, now);
    } finally {
      for (const socket of bound) socket.close();
    }
  });
}

/** Connections wait in the socket's backlog until a worker has loaded the application. */
class Backlog {
  readonly #process: Process;
  #handler: WsgiHandler | undefined;
  #waiting: ((handler: WsgiHandler) => void)[] = [];

  constructor(process: Process) {
    this.#process = process;
  }

  open(handler: WsgiHandler): void {
    this.#handler = handler;
    for (const resolve of this.#waiting) resolve(handler);
    this.#waiting = [];
  }

  async receive(message: unknown): Promise<HttpReply> {
    const handler = this.#handler ?? (await new Promise<WsgiHandler>((resolve) => this.#waiting.push(resolve)));
    await pause(this.#process, 5);
    return handler(message as HttpMessage);
  }
}

function bind(process: Process, settings: UwsgiSettings, backlog: Backlog, log: (text: string) => void): Listener[] {
  const sockets = [
    ...settings.values('http-socket'),
    ...settings.values('http'),
    ...settings.values('https-socket').map((value) => value.split(',')[0] ?? ''),
  ];
  return sockets.map((address) => {
    const [host = '', port = ''] = address.split(/:(?=\d+$)/);
    try {
      const listener = process.network.listen(
        Number(port),
        'http',
        () => ({ receive: (message) => backlog.receive(message) }),
        {
          ...(host !== '' && { host }),
        },
      );
      log(`uwsgi socket 0 bound to TCP address ${address} fd 3`);
      return listener;
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      const hint =
        error.code === 'EADDRINUSE'
          ? `probably another instance of uWSGI is running on the same address (${address}).\n`
          : '';
      throw new CommandError(`${hint}bind(): ${reasonOf(error)} [core/socket.c line 769]`);
    }
  });
}

async function run(
  process: Process,
  settings: UwsgiSettings,
  modules: Readonly<Record<string, WsgiModule>>,
  backlog: Backlog,
  log: (text: string) => void,
  now: () => string,
): Promise<number> {
  log(`spawned uWSGI master process (pid: ${process.pid})`);
  for (;;) {
    const began = process.clock.now();
    const loading = load(process, settings, modules, log);
    const result = await Promise.race([loading, terminated(process)]);
    if (result === undefined) return 0;
    if (typeof result === 'function') {
      log(
        `WSGI app 0 (mountpoint='') ready in ${Math.round((process.clock.now() - began) / 1000)} seconds on interpreter 0x7f1882376ef8 pid: ${process.pid + 1} (default app)`,
      );
      backlog.open(result);
      await stop(process, settings, log);
      return 0;
    }
    if (result === 'not loaded') {
      if (settings.flag('need-app')) {
        log('*** no app loaded. GAME OVER ***');
        if (settings.value('module')?.startsWith('nova.')) {
          // Eventlet's greenlets outlive the interpreter: the worker is aborted before it can tell its master why it ends.
          log(
            "terminate called after throwing an instance of 'std::runtime_error'\n  what():  Accessing state after destruction.",
          );
          log(`DAMN ! worker 1 (pid: ${process.pid + 1}) died, killed by signal 6 :( trying respawn ...`);
          if (!(await pause(process, 1000))) return 0;
          continue;
        }
        log(`OOPS ! failed loading app in worker 1 (pid ${process.pid + 1})`);
        log(`${now()} - need-app requested, destroying the instance...`);
        log('SIGINT/SIGTERM received...killing workers...');
        log('goodbye to uWSGI.');
        return 22;
      }
      log('*** no app loaded. going in full dynamic mode ***');
      backlog.open(() => Promise.resolve({ status: 500, body: 'Internal Server Error' }));
      await stop(process, settings, log);
      return 0;
    }
    // The worker's interpreter has exited: the master starts another one, for ever.
    log(`DAMN ! worker 1 (pid: ${process.pid + 1}) died :( trying respawn ...`);
    if (!settings.flag('lazy-apps')) return result.status;
    log('worker respawning too fast !!! i have to sleep a bit (2 seconds)...');
    if (!(await pause(process, 2000))) return 0;
  }
}

async function load(
  process: Process,
  settings: UwsgiSettings,
  modules: Readonly<Record<string, WsgiModule>>,
  log: (text: string) => void,
): Promise<WsgiHandler | 'not loaded' | SystemExit> {
  const name = settings.value('module');
  const fail = (...lines: readonly string[]): 'not loaded' => {
    for (const line of lines) log(line);
    log("unable to load app 0 (mountpoint='') (callable not found or import error)");
    return 'not loaded';
  };
  if (name === undefined) return 'not loaded';
  const callable = name.includes(':') ? name : `${name}:${settings.value('callable') ?? 'application'}`;
  const module = modules[callable];
  if (module === undefined) {
    const [file = ''] = callable.split(':');
    if (Object.keys(modules).some((known) => known.split(':')[0] === file)) return fail();
    const packages = Object.keys(modules).map((known) => known.split('.')[0]);
    const root = file.split('.')[0] ?? file;
    return fail(`ModuleNotFoundError: No module named '${packages.includes(root) ? file : root}'`);
  }
  try {
    return await module(process, settings);
  } catch (error) {
    if (error instanceof PythonError) return fail('Traceback (most recent call last):', error.lastLine);
    if (!(error instanceof SystemExit)) throw error;
    if (error.message !== '') log(error.message);
    return error;
  }
}

/** SIGTERM ends uwsgi with --die-on-term or a master hook that says so; otherwise it reloads, and goes on. */
async function stop(process: Process, settings: UwsgiSettings, log: (text: string) => void): Promise<void> {
  await terminated(process);
  if (
    !settings.flag('die-on-term') &&
    !settings.values('hook-master-start').some((hook) => hook.startsWith('unix_signal:15'))
  ) {
    log(
      '...gracefully killing workers...\nGracefully killing worker 1\n*** backtrace of reload: respawned uWSGI worker 1 ***',
    );
    await new Promise<never>(() => undefined);
  }
  log(`${microTimestamp(process.clock).slice(0, 19)} - graceful shutdown triggered...\ngoodbye to uWSGI.`);
}
