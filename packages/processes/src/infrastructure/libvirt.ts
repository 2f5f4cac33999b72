import { type Listener, type Process, type Program, type Session, SystemError } from '@openstack-operator/sandbox';
import { attempt, worded } from '../attempt.ts';
import type { CommandLine } from '../command-line.ts';
import {
  CommandError,
  commandWith,
  logTime,
  makeDirectories,
  notModelled,
  pause,
  terminated,
} from '../program-support.ts';
import { idOf } from '../shell/file-commands.ts';
import { startTimes } from '../start-times.ts';
import {
  changeVolumes,
  consoleProblem,
  demandSettings,
  endGuest,
  reloadScreen,
  startGuest,
  takeScreens,
} from './libvirt-guests.ts';
import { certificateOf, listenByTls, migrateGuest } from './libvirt-migration.ts';
import {
  type LibvirtConnection,
  type LibvirtDomain,
  LibvirtError,
  type LibvirtHost,
  type LibvirtRequest,
  openLibvirt,
} from './libvirt-protocol.ts';
import { answering } from './wire.ts';

/** Settings of libvirtd.conf and qemu.conf that a daemon accepts (what a wrong name would break). */
const daemonKeys =
  'listen_tls listen_tcp tls_port tcp_port listen_addr unix_sock_group unix_sock_ro_perms unix_sock_rw_perms unix_sock_admin_perms unix_sock_dir auth_unix_ro auth_unix_rw auth_tcp auth_tls access_drivers tcp_min_ssf key_file cert_file ca_file crl_file tls_no_sanity_certificate tls_no_verify_certificate tls_allowed_dn_list tls_priority sasl_allowed_username_list max_clients max_queued_clients max_anonymous_clients min_workers max_workers prio_workers max_client_requests admin_min_workers admin_max_workers admin_max_clients admin_max_queued_clients admin_max_client_requests log_level log_filters log_outputs audit_level audit_logging host_uuid host_uuid_source keepalive_interval keepalive_count keepalive_required admin_keepalive_required admin_keepalive_interval admin_keepalive_count ovs_timeout'.split(
    ' ',
  );

const daemonOptions = {
  flags: 'd|daemon l|listen v|verbose version',
  values: 'f|config p|pid-file t|timeout',
};

/** `libvirtd`, the monolithic daemon: needs a privileged container, its run directory and a host UUID. */
const libvirtd: Program = commandWith(daemonOptions, async (process, line) => {
  const log = (text: string): void => process.stderr(`${logTime(process)}+0000: ${process.pid}: error : ${text}\n`);
  const file = line.value('config') ?? '/etc/libvirt/libvirtd.conf';
  const settings = readSettings(process, file, daemonKeys);
  const qemu = readSettings(process, '/etc/libvirt/qemu.conf');
  const pidFile = line.value('pid-file') ?? '/run/libvirtd.pid';
  if (process.uid === 0 && !process.privileged) {
    throw new CommandError(
      `${logTime(process)}+0000: ${process.pid}: error : virPidFileAcquirePath:409 : Failed to open pid file '${pidFile}': Permission denied`,
    );
  }
  const mode = modeOf(settings.get('unix_sock_rw_perms') ?? '0770');
  const uuid = settings.get('host_uuid');
  if (uuid !== undefined && !/^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(uuid))
    throw refusal(`daemonSetupHostUUID: invalid UUID: ${uuid}`);
  const auth = settings.get('auth_unix_rw') ?? 'polkit';
  if (!['none', 'polkit', 'sasl'].includes(auth))
    throw refusal(`remoteConfigGetAuth: ${file}: auth_unix_rw: unsupported auth ${auth}`);
  if (!(await pause(process, startTimes.libvirtd))) return 0;
  try {
    demandSettings(process, qemu);
  } catch (error) {
    if (!(error instanceof LibvirtError)) throw error;
    log(error.message);
    log(`Initialization of QEMU state driver failed: ${error.message}`);
    log('Driver state initialization failed');
    return 0;
  }
  const certificate = line.has('listen') ? certificateOf(process, settings) : undefined;
  if (typeof certificate === 'object') throw refusal(certificate.missing);
  const host = hostOf(process, settings);
  const group = groupOf(process, settings.get('unix_sock_group'));
  const domains = process.files.attach<Map<string, LibvirtDomain>>('/run/libvirt/qemu-domains', () => new Map());
  const listeners: Listener[] = [];
  try {
    for (const directory of ['/run/libvirt', '/run/libvirt/qemu', '/var/lib/libvirt/qemu'])
      makeDirectories(process, directory);
    process.files.write(pidFile, `${process.pid}\n`);
    const accept = (): Session => session(process, { host, domains, qemu, auth });
    const directory = settings.get('unix_sock_dir') ?? '/run/libvirt';
    for (const [name, permissions] of [
      ['libvirt-sock', mode],
      ['libvirt-sock-ro', 0o777],
    ] as const) {
      listeners.push(process.network.listen(`unix:${directory}/${name}`, 'libvirt', accept, { mode: permissions }));
      process.files.chmod(`${directory}/${name}`, permissions);
      process.files.chown(`${directory}/${name}`, process.uid, group);
    }
    takeScreens(process, domains);
    if (certificate !== undefined) {
      // It reads a renewed one when it is told to, which follows as soon as that is there.
      const current = () => {
        const now = certificateOf(process, settings);
        return typeof now === 'string' ? now : certificate;
      };
      listeners.push(listenByTls(process, settings, { certificate: current, domains, qemu }));
    }
  } catch (error) {
    for (const listener of listeners) listener.close();
    if (!(error instanceof SystemError)) throw error;
    log(`virNetSocketNewListenUNIX:  Failed to bind socket: ${error.reason}`);
    return 6;
  }
  await terminated(process);
  for (const listener of listeners) listener.close();
  return 0;
});

/** What ends a daemon before it serves. */
function refusal(words: string): CommandError {
  return new CommandError(`error : ${words}`, 6);
}

/** `key = value` with values in quotes, numbers, or lists. @throws CommandError for what libvirt cannot parse or does not know */
function readSettings(process: Process, file: string, known?: readonly string[]): Map<string, string> {
  const settings = new Map<string, string>();
  if (!process.files.exists(file)) return settings;
  for (const [index, raw] of process.files.read(file).split('\n').entries()) {
    const text = raw.replace(/^\s*#.*$/, '').trim();
    if (text === '') continue;
    const match = /^([\w.]+)\s*=\s*("(?:[^"\\]|\\.)*"|'[^']*'|\d+|\[.*\])\s*(?:#.*)?$/.exec(text);
    if (match === null)
      throw refusal(
        `virConfError:${index + 1} : configuration file syntax error: ${file}:${index + 1}: expecting a value`,
      );
    const [, key = '', value = ''] = match;
    if (known !== undefined && !known.includes(key))
      throw refusal(`daemonConfigLoadOptions: unknown setting ${key} in ${file}`);
    settings.set(key, value.replace(/^["'](.*)["']$/, '$1'));
  }
  return settings;
}

/** Whose the sockets are beside root. @throws CommandError for a group that the image does not know */
function groupOf(process: Process, name: string | undefined): number {
  if (name === undefined) return process.gid;
  const id = idOf(process, '/etc/group', name);
  if (id === undefined) throw refusal(`virGetGroupID:1166 : invalid argument: Failed to parse group '${name}'`);
  return id;
}

function hostOf(process: Process, settings: ReadonlyMap<string, string>): LibvirtHost {
  const { files, pod } = process;
  const dashed = (id: string): string => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
  const machine = files.exists('/etc/machine-id') ? files.read('/etc/machine-id').trim() : '';
  const hostUuid =
    settings.get('host_uuid') ??
    (/^[0-9a-f]{32}$/.test(machine)
      ? dashed(machine)
      : dashed(Buffer.from(pod.nodeName.padEnd(16, '.').slice(0, 16)).toString('hex')));
  return {
    hostUuid,
    hostname: pod.hostNetwork ? pod.nodeName : pod.hostname,
    vcpus: files.read('/proc/cpuinfo').match(/^processor/gm)?.length ?? 0,
    memoryMb: Math.floor(Number(/^MemTotal: *(\d+) kB$/m.exec(files.read('/proc/meminfo'))?.[1]) / 1024),
    domainTypes: files.exists('/dev/kvm') ? ['qemu', 'kvm'] : ['qemu'],
  };
}

/** @throws CommandError for permissions that are no octal number */
function modeOf(text: string): number {
  if (!/^0*[0-7]+$/.test(text)) throw refusal(`main: Failed to parse mode '${text}'`);
  return Number.parseInt(text, 8);
}

function session(
  process: Process,
  server: {
    host: LibvirtHost;
    domains: Map<string, LibvirtDomain>;
    qemu: ReadonlyMap<string, string>;
    auth: string;
  },
): Session {
  const answer = (request: LibvirtRequest): unknown => {
    switch (request.type) {
      case 'open':
        // Root is never asked.
        if (request.uid === 0 || server.auth === 'none') return undefined;
        throw new LibvirtError(
          `authentication unavailable: no ${server.auth} agent available to authenticate action 'org.libvirt.unix.manage'`,
        );
      case 'capabilities':
        return server.host;
      case 'domains':
        return [...server.domains.values()];
      case 'create':
        return startGuest(process, server.domains, request.definition, server.qemu);
      case 'destroy':
        if (endGuest(process, server.domains, request.uuid)) return undefined;
        throw new LibvirtError(`Domain not found: no domain with matching uuid '${request.uuid}'`);
      case 'attach':
      case 'detach': {
        const domain = server.domains.get(request.uuid);
        if (domain === undefined)
          throw new LibvirtError(`Domain not found: no domain with matching uuid '${request.uuid}'`);
        return changeVolumes(domain, request);
      }
      case 'reload':
        return reloadScreen(process, server.domains, request.uuid);
      case 'migrate':
        return migrateGuest(process, server.domains, request.migration);
    }
  };
  return { receive: answering(answer) };
}

/** `virtlogd`: keeps the consoles of guests. */
const virtlogd: Program = commandWith(daemonOptions, async (process) => {
  await pause(process, 200);
  const receive = (path: unknown) => Promise.resolve(consoleProblem(process, path as string));
  worded(
    () => {
      makeDirectories(process, '/run/libvirt');
      process.network.listen('unix:/run/libvirt/virtlogd-sock', 'raw', () => ({ receive }));
    },
    (error) =>
      refusal(`virNetSocketNewListenUNIX: Failed to bind socket to '/var/run/libvirt/virtlogd-sock': ${error.reason}`),
  );
  await terminated(process);
  return 0;
});

type VirshTask = (connection: LibvirtConnection, line: CommandLine, uri: string) => Promise<string> | string;

const tasks: Readonly<Record<string, VirshTask>> = {
  version: (_connection, line) =>
    `Compiled against library: libvirt 11.3.0\nUsing library: libvirt 11.3.0\nUsing API: QEMU 11.3.0\nRunning hypervisor: QEMU 10.0.7\n${line.has('daemon') ? 'Running against daemon: 11.3.0\n' : ''}`,
  list: async (connection, line) => {
    const domains = await connection.domains();
    if (line.has('uuid')) return `${domains.map(({ uuid }) => uuid).join('\n')}\n`;
    const rows = domains.map(({ name }, index) => ` ${index + 1}    ${name}   running\n`);
    return ` Id   Name   State\n--------------------\n${rows.join('')}\n`;
  },
  hostname: async (connection) => `${(await connection.capabilities()).hostname}\n`,
  uri: (_connection, _line, uri) => `${uri}\n`,
  capabilities: async (connection) =>
    `<capabilities>\n  <host>\n    <uuid>${(await connection.capabilities()).hostUuid}</uuid>\n  </host>\n</capabilities>\n`,
  destroy: async (connection, { operands: [, domain] }) => {
    const found = (await connection.domains()).find(({ name, uuid }) => name === domain || uuid === domain);
    await connection.destroy(found?.uuid ?? '');
    return '';
  },
  domblklist: async (connection, { operands: [, domain] }) => {
    const found = (await connection.domains()).find(({ name, uuid }) => name === domain || uuid === domain);
    if (found === undefined) throw new LibvirtError(`failed to get domain '${domain}'`);
    const { disk, volumes } = found.definition;
    const sources = [...(disk === undefined ? [] : [disk]), ...volumes];
    const rows = sources.map((source, index) => ` vd${'abcdefgh'[index]}      ${source}\n`);
    return ` Target   Source\n-----------------\n${rows.join('')}\n`;
  },
  'domdisplay-reload': async (connection, { operands: [, domain = ''] }) => {
    await connection.reload(domain);
    return '\n';
  },
};

/** `virsh`, as far as scripts use it. */
const virsh: Program = commandWith(
  { flags: 'r|readonly q|quiet all name uuid daemon', values: 'c|connect' },
  (process, line) => {
    const uri = line.value('connect') ?? process.env['LIBVIRT_DEFAULT_URI'] ?? 'qemu:///system';
    const [task = ''] = line.operands;
    const run = tasks[task] ?? notModelled(process, `the command ${task}`);
    return attempt(
      LibvirtError,
      async () => {
        const connection = await openLibvirt(process, uri);
        process.stdout(await run(connection, line, uri));
        connection.close();
        return 0;
      },
      ({ message }): never => {
        throw new CommandError(`error: failed to connect to the hypervisor\nerror: ${message}`);
      },
    );
  },
);

/** `virt-admin`, which has the daemon read its certificates anew. */
const virtAdmin: Program = commandWith({ flags: 'q|quiet', values: 'c|connect' }, (process, line) => {
  const [task = '', server = ''] = line.operands;
  if (task !== 'server-update-tls' || server !== 'libvirtd') notModelled(process, `the command ${task} ${server}`);
  process.stdout('update tls related files succeed\n\n');
  return Promise.resolve(0);
});

/** Programs of the libvirt image. */
export const libvirtPrograms: Readonly<Record<string, Program>> = {
  libvirtd,
  virtlogd,
  virsh,
  'virt-admin': virtAdmin,
};
