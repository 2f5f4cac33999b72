import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import { CommandError, command, logTime, makeDirectories, pause, terminated } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { addVirtualHost, Broker, type BrokerState, emptyBroker } from './rabbitmq-broker.ts';
import { becomeMember, distributionPort, type ErlangNode, listenAsNode, lookForOthers } from './rabbitmq-cluster.ts';
import { type RabbitmqSettings, readRabbitmqSettings, startupError } from './rabbitmq-config.ts';
import { openPorts } from './rabbitmq-ports.ts';
import { importDefinitions, ResourceError } from './rabbitmq-resources.ts';

/** `/usr/lib/rabbitmq/bin/rabbitmq-server`: the node. About 6 s until it listens. */
export const rabbitmqServer: Program = command((process) => runNode(process));

/** `/usr/sbin/rabbitmq-server` of the packages: the same with its output in /var/log/rabbitmq, for root and rabbitmq only. */
export const rabbitmqServerWrapper: Program = command(async (process) => {
  const rabbitmq =
    process.files.exists('/etc/passwd') &&
    new RegExp(`^rabbitmq:x:${process.uid}:`, 'm').test(process.files.read('/etc/passwd'));
  if (process.uid !== 0 && !rabbitmq) throw new CommandError('\nOnly root or rabbitmq can run rabbitmq-server\n');
  const redirect = (name: string) => {
    const path = `/var/log/rabbitmq/${name}`;
    worded(
      () => process.files.write(path, ''),
      (error) => new CommandError(`/usr/sbin/rabbitmq-server: 46: cannot create ${path}: ${error.reason}`, 2),
    );
    return (text: string) => process.files.write(path, text, { append: true });
  };
  return process.run(['/usr/lib/rabbitmq/bin/rabbitmq-server', ...process.argv.slice(1)], {
    signal: process.signal,
    ...(process.env['RABBITMQ_LOGS'] !== '-' && { stdout: redirect('startup_log'), stderr: redirect('startup_err') }),
  });
});

async function runNode(process: Process): Promise<number> {
  const log = (text: string): void =>
    process.stdout(
      `${text
        .split('\n')
        .map((line) => `${logTime(process)}000+00:00 ${line}`)
        .join('\n')}\n`,
    );
  const settings = readRabbitmqSettings(process);
  const cookie = cookieOf(process, settings.home);
  // Erlang itself starts before anybody asks for names.
  if (!(await pause(process, startTimes.rabbitmq.erlang))) return 0;
  demandName(process, settings);
  if (!(await pause(process, startTimes.rabbitmq.prelaunch))) return 0;
  const begun = process.files.exists(`${settings.dataDirectory}/schema.DAT`);
  const state = openData(process, settings);
  log(
    `[info] <0.254.0> Starting RabbitMQ 4.0.5 on Erlang 27.3\n[info] <0.254.0>  node           : ${settings.nodeName}`,
  );
  if (begun && !state.initialized) return await missTables(process, log);
  const node: ErlangNode = { name: settings.nodeName };
  const starting = { node, state, cookie, settings, log };
  const cluster = await attemptToListen(() => {
    listenAsNode(process, node, cookie, Number(settings.environment('DIST_PORT') ?? distributionPort));
    return becomeMember(process, starting);
  });
  if (cluster === undefined || !(await pause(process, startTimes.rabbitmq.boot / 2))) return 0;
  initialize(process, settings, state, log);
  if (!(await pause(process, startTimes.rabbitmq.boot / 2))) return 0;
  const broker = new Broker(state, cluster, loopbackUsers(settings), log);
  let close = await attemptToListen(async () => openPorts(process, settings, broker, log));
  node.state = state;
  const pauses = settings.get('cluster_partition_handling') === 'pause_minority';
  // Without a majority it closes its ports, and waits.
  cluster.came(node.name, () => {
    const serves = !pauses || cluster.hasMajority;
    if (serves === (node.state !== undefined)) return;
    close();
    delete node.state;
    if (serves) {
      close = openPorts(process, settings, broker, log);
      node.state = state;
    } else {
      log('[warning] <0.254.0> Cluster minority/secondary status detected - awaiting recovery');
      void lookForOthers(process, starting, cluster);
    }
  });
  log(`[info] <0.254.0> Server startup complete; ${settings.plugins.length} plugins started.`);
  process.stdout('  Starting broker... completed with plugins.\n');
  await terminated(process);
  log('[info] <0.254.0> SIGTERM received - shutting down');
  cluster.left(node.name);
  close();
  await new Promise<void>((resolve) => process.clock.after(500, () => resolve()));
  return 0;
}

/** @throws CommandError for a port that somebody else has */
async function attemptToListen<T>(listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new CommandError(
      `BOOT FAILED\n===========\nERROR: could not bind to distribution port or listener, it is in use by another node: ${error.reason}`,
    );
  }
}

/** What becomes of a node whose first start ended before it had made all of its tables (RabbitMQ 3.10.8, run for this). */
async function missTables(process: Process, log: (text: string) => void): Promise<number> {
  for (let left = 9; left >= 0; left--) {
    log(`[info] <0.223.0> Waiting for Mnesia tables for 30000 ms, ${left} retries left`);
    if (!(await pause(process, 30_000))) return 0;
    log('[warning] <0.223.0> Error while waiting for Mnesia tables: {timeout_waiting_for_tables,...}');
  }
  throw startupError('{schema_integrity_check_failed,[{table_missing,rabbit_vhost},...]}');
}

/** The shared secret of nodes and command-line tools; made when it is missing. @throws CommandError */
export function cookieOf(process: Process, home: string): string {
  const path = `${home}/.erlang.cookie`;
  const { files } = process;
  try {
    if (!files.exists(path)) {
      files.write(path, Buffer.from(process.random.bytes(10)).toString('hex').toUpperCase(), { mode: 0o400 });
    }
    if ((files.stat(path).mode & 0o077) !== 0) {
      throw new CommandError(
        `[error] Cookie file ${path} must be accessible by owner only\n\nCrash dump is being written to: erl_crash.dump...done`,
      );
    }
    return files.read(path).trim();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    const code = error.code.toLowerCase();
    throw new CommandError(
      `Failed to create cookie file '${path}': ${code}\n{"init terminating in do_boot",{undef,[]}}\nRuntime terminating during boot`,
    );
  }
}

/** A node's name must resolve: it is found through its host's epmd. */
function demandName(process: Process, settings: RabbitmqSettings): void {
  const host = settings.nodeName.split('@')[1] ?? '';
  if (host.includes('.') && !settings.longNames) {
    throw new CommandError(
      `** System NOT running to use fully qualified hostnames **\n** Hostname ${host} is illegal **\nProtocol 'inet_tcp': register/listen error: nohost`,
    );
  }
  try {
    process.network.lookup(host);
  } catch {
    throw new CommandError(`ERROR: epmd error for host ${host}: nxdomain (non-existing domain)`);
  }
}

function openData(process: Process, settings: RabbitmqSettings): BrokerState {
  const directory = settings.dataDirectory;
  return worded(
    () => {
      makeDirectories(process, directory);
      return process.files.attach(`${directory}/schema.DAT`, emptyBroker, { bytes: 1024 * 1024 });
    },
    ({ code }) => startupError(`{cannot_create_mnesia_dir,"${directory}/",${code.toLowerCase()}}`),
  );
}

/** A new node gets its default user, virtual host and definitions; an old one keeps what it has. */
function initialize(
  process: Process,
  settings: RabbitmqSettings,
  state: BrokerState,
  log: (text: string) => void,
): void {
  const definitions =
    settings.get('load_definitions') ??
    settings.get('definitions.local.path') ??
    settings.get('management.load_definitions');
  if (!state.initialized && definitions === undefined) {
    const name = settings.environment('DEFAULT_USER') ?? settings.get('default_user') ?? 'guest';
    const password = settings.environment('DEFAULT_PASS') ?? settings.get('default_pass') ?? 'guest';
    const virtualHost = settings.environment('DEFAULT_VHOST') ?? settings.get('default_vhost') ?? '/';
    log(
      `[info] <0.254.0> Adding vhost '${virtualHost}' (description: 'Default virtual host', tags: [])\n[info] <0.254.0> Created user '${name}'`,
    );
    addVirtualHost(state, virtualHost);
    state.users.set(name, {
      password,
      tags: ['administrator'],
      permissions: new Map([[virtualHost, { configure: '.*', write: '.*', read: '.*' }]]),
    });
  }
  state.initialized = true;
  if (definitions === undefined) return;
  const text = worded(
    () => process.files.read(definitions),
    () => startupError(`{could_not_read_defs,{"${definitions}",enoent}}`),
  );
  try {
    importDefinitions(state, JSON.parse(text) as unknown);
  } catch (error) {
    throw startupError(error instanceof ResourceError ? error.message : `{invalid_definitions_file,"${definitions}"}`);
  }
}

function loopbackUsers(settings: RabbitmqSettings): string[] {
  if (settings.get('loopback_users') === 'none') return [];
  const listed = settings.keys.filter((key) => key.startsWith('loopback_users.'));
  return ['guest', ...listed.map((key) => key.slice('loopback_users.'.length))].filter(
    (name) => settings.get(`loopback_users.${name}`) !== 'false',
  );
}
