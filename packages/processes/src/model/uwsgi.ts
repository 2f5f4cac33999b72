import { microTimestamp } from '@openstack-operator/kube';
import type { HttpMessage, HttpReply, Listener, Process, Program } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import { type CertificatePaths, readCertificate } from '../certificates.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { CommandError, command, pause, terminated } from '../program-support.ts';
import { behindTls } from '../tls.ts';
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
    const server: Server = { process, settings, modules, log, backlog: new Backlog(process) };
    log(`*** Starting uWSGI 2.0.31 (64bit) on [${now(process)}] ***`);
    const plugin = settings.value('need-plugin');
    if (plugin !== undefined)
      throw new CommandError(
        `open("./${plugin}_plugin.so"): No such file or directory [core/utils.c line 3729]\n!!! UNABLE to load uWSGI plugin: ${plugin} !!!`,
      );
    const bound = bind(server);
    if (bound.length === 0) throw new CommandError('The -s/--socket option is missing and stdin is not a socket.');
    if (process.uid === 0) log('*** WARNING: you are running uWSGI as root !!! (use the --uid flag) ***');
    try {
      return await run(server);
    } finally {
      for (const socket of bound) socket.close();
    }
  });
}

/** A server that has read its settings. */
interface Server {
  readonly process: Process;
  readonly settings: UwsgiSettings;
  readonly modules: Readonly<Record<string, WsgiModule>>;
  readonly log: (text: string) => void;
  readonly backlog: Backlog;
}

const now = ({ clock }: Process): string => microTimestamp(clock).slice(0, 19);

/** Connections wait in the socket's backlog until a worker has loaded the application. */
class Backlog {
  readonly #process: Process;
  readonly #loaded = Promise.withResolvers<WsgiHandler>();

  constructor(process: Process) {
    this.#process = process;
  }

  open(handler: WsgiHandler): void {
    this.#loaded.resolve(handler);
  }

  async receive(message: HttpMessage): Promise<HttpReply> {
    const handler = await this.#loaded.promise;
    await pause(this.#process, 5);
    return handler(message);
  }
}

function bind({ process, settings, backlog, log }: Server): Listener[] {
  const plain = [...settings.values('http-socket'), ...settings.values('http')].map((address) => ({
    address,
    protocol: 'http',
    accept: () => ({ receive: (message: unknown) => backlog.receive(message as HttpMessage) }),
  }));
  const secure = settings.values('https-socket').map((value) => {
    const [address = '', certificate, key] = value.split(',');
    const shown = certificateOf(process, settings, { address, certificate, key });
    const accept = behindTls(shown, () => ({
      receive: (message) => backlog.receive({ ...(message as HttpMessage), scheme: 'https' }),
    }));
    return { address, protocol: 'https', accept };
  });
  return [...plain, ...secure].map(({ address, protocol, accept }) => {
    const [host = '', port = ''] = address.split(/:(?=\d+$)/);
    const listener = worded(
      () => process.network.listen(Number(port), protocol, accept, { ...(host !== '' && { host }) }),
      (error) => {
        const taken = `probably another instance of uWSGI is running on the same address (${address}).\n`;
        const hint = error.code === 'EADDRINUSE' ? taken : '';
        return new CommandError(`${hint}bind(): ${error.reason} [core/socket.c line 769]`);
      },
    );
    log(`uwsgi socket 0 bound to TCP address ${address} fd 3`);
    return listener;
  });
}

/**
 * The certificate that a socket shows: as it was at the start, or when a file last changed that `touch-reload` names. Words
 * and behaviour of uwsgi 2.0.21, run for this.
 * @throws CommandError for files that cannot be used
 */
function certificateOf(
  { files }: Process,
  settings: UwsgiSettings,
  { address, ...paths }: { readonly address: string } & CertificatePaths,
): () => string {
  const touched = () => settings.values('touch-reload').map((path) => (files.exists(path) ? files.read(path) : ''));
  const load = (): string => {
    const found = readCertificate(files, paths);
    if ('pem' in found) return found.pem;
    const words = `unable to assign ${found.unusable} ${paths[found.unusable]} for context "${address}"`;
    throw new CommandError(`[uwsgi-ssl] ${words}`);
  };
  let [seen, shown] = [touched().join(), load()];
  return () => {
    const now = touched().join();
    if (now !== seen) [seen, shown] = [now, load()];
    return shown;
  };
}

async function run(server: Server): Promise<number> {
  const { process, settings, log, backlog } = server;
  log(`spawned uWSGI master process (pid: ${process.pid})`);
  for (;;) {
    const began = process.clock.now();
    const result = await Promise.race([load(server), terminated(process)]);
    if (result === undefined) return 0;
    if (typeof result === 'function') {
      log(
        `WSGI app 0 (mountpoint='') ready in ${Math.round((process.clock.now() - began) / 1000)} seconds on interpreter 0x7f1882376ef8 pid: ${process.pid + 1} (default app)`,
      );
      backlog.open(result);
      return stop(server);
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
        log(`${now(process)} - need-app requested, destroying the instance...`);
        log('SIGINT/SIGTERM received...killing workers...');
        log('goodbye to uWSGI.');
        return 22;
      }
      log('*** no app loaded. going in full dynamic mode ***');
      backlog.open((request) => Promise.resolve(fileOf(server, request)));
      return stop(server);
    }
    // The worker's interpreter has exited: the master starts another one, for ever.
    log(`DAMN ! worker 1 (pid: ${process.pid + 1}) died :( trying respawn ...`);
    if (!settings.flag('lazy-apps')) return result.status;
    log('worker respawning too fast !!! i have to sleep a bit (2 seconds)...');
    if (!(await pause(process, 2000))) return 0;
  }
}

/** What is there without an application: files below a prefix (`--static-map /=DIRECTORY`). */
function fileOf({ process: { files }, settings }: Server, { path }: HttpMessage): HttpReply {
  const [, prefix = '', directory = ''] = /^([^=]*)=(.*)$/.exec(settings.value('static-map') ?? '') ?? [];
  const file = `${directory}/${path.slice(prefix.length)}`;
  const isThere = directory !== '' && path.startsWith(prefix) && files.exists(file);
  return isThere ? { status: 200, body: files.read(file) } : { status: 500, body: 'Internal Server Error' };
}

async function load({ process, settings, modules, log }: Server): Promise<WsgiHandler | 'not loaded' | SystemExit> {
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
async function stop({ process, settings, log }: Server): Promise<number> {
  await terminated(process);
  const hooked = settings.values('hook-master-start').some((hook) => hook.startsWith('unix_signal:15'));
  if (!settings.flag('die-on-term') && !hooked) {
    log(
      '...gracefully killing workers...\nGracefully killing worker 1\n*** backtrace of reload: respawned uWSGI worker 1 ***',
    );
    await new Promise<never>(() => undefined);
  }
  log(`${now(process)} - graceful shutdown triggered...\ngoodbye to uWSGI.`);
  return 0;
}
