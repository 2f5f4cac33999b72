import { type Listener, type Process, SystemError } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import { idOf } from '../shell/file-commands.ts';
import { type LibvirtDomain, LibvirtError } from './libvirt-protocol.ts';
import { CredentialsError, readCredentials, type ScreenCredentials, serveScreen } from './vnc.ts';

/** What a domain's definition says. */
export interface DomainDefinition {
  readonly uuid: string;
  readonly name: string;
  /** Its first disk, where that is a file. */
  readonly disk?: string;
  /** Block devices that it has besides, as `POOL/IMAGE`. */
  volumes: readonly string[];
  /** The file that its serial console is written to. */
  readonly console: string;
  /** Where its VNC server listens; undefined: it has none. */
  readonly vncListen: string | undefined;
}

/** Where virtlogd listens; libvirt's messages say it with `/var`. */
const virtlogdSocket = '/run/libvirt/virtlogd-sock';

const firstVncPort = 5900;

const firstGuestPid = 100_000;

/** What the QEMU driver checks when it starts (qemu.conf). @throws LibvirtError: the daemon ends */
export function demandSettings(process: Process, settings: ReadonlyMap<string, string>): void {
  for (const [key, file] of [
    ['user', '/etc/passwd'],
    ['group', '/etc/group'],
  ] as const) {
    const name = settings.get(key);
    if (name !== undefined && idOf(process, file, name) === undefined)
      throw new LibvirtError(`invalid argument: Failed to parse ${key} '${name}'`);
  }
  for (const key of ['vnc_tls_x509_cert_dir', 'migrate_tls_x509_cert_dir']) {
    const directory = settings.get(key);
    if (directory !== undefined && !process.files.exists(directory))
      throw new LibvirtError(`configuration file syntax error: ${key} directory '${directory}' does not exist`);
  }
  const handler = settings.get('stdio_handler') ?? 'logd';
  if (!['logd', 'file'].includes(handler)) throw new LibvirtError(`internal error: Unknown stdio handler ${handler}`);
}

/** Starts a guest: its files, its console by virtlogd, its VNC server. @throws LibvirtError */
export async function startGuest(
  process: Process,
  domains: Map<string, LibvirtDomain>,
  definition: DomainDefinition,
  settings: ReadonlyMap<string, string>,
): Promise<void> {
  const { uuid, name, disk, console, vncListen } = definition;
  if (disk !== undefined && !process.files.exists(disk))
    throw new LibvirtError(`Cannot access storage file '${disk}': No such file or directory`);
  if ((settings.get('stdio_handler') ?? 'logd') === 'logd') await openConsole(process, console);
  if (!process.files.exists('/dev/net/tun'))
    throw new LibvirtError('Unable to open /dev/net/tun, is tun module loaded?: No such file or directory');
  const screen = vncListen === undefined ? undefined : listenForVnc(process, vncListen, settings);
  const directory = beginProcess(process);
  const domain: LibvirtDomain = {
    uuid,
    name,
    definition: { ...definition },
    ...(screen !== undefined && { vncPort: screen.port }),
    ...(directory !== undefined && { directory }),
  };
  domains.set(uuid, domain);
  if (screen !== undefined) screens.set(domain, screen);
}

/** A guest's VNC server. */
interface Screen {
  readonly host: string;
  readonly port: number;
  /** Reads what it shows by TLS. @throws LibvirtError */
  readonly read: (process: Process) => ScreenCredentials | undefined;
  /** Of TLS, as it was started with it or last told to look. */
  credentials: ScreenCredentials | undefined;
  listener: Listener;
}

/** VNC servers of guests, which end with them. */
const screens = new WeakMap<LibvirtDomain, Screen>();

/** Guests outlive libvirtd, and their screens as well: here they are served by that which is there, as they were before. */
export function takeScreens(process: Process, domains: Map<string, LibvirtDomain>): void {
  for (const domain of domains.values()) {
    const screen = screens.get(domain);
    if (screen === undefined) continue;
    screen.listener.close();
    screen.listener = serveScreen(process, screen, () => screen.credentials);
  }
}

/** Has a guest look at its certificate again (virDomainGraphicsReload). @throws LibvirtError */
export function reloadScreen(process: Process, domains: Map<string, LibvirtDomain>, uuid: string): void {
  const domain = domains.get(uuid);
  if (domain === undefined) throw new LibvirtError(`Domain not found: no domain with matching uuid '${uuid}'`);
  const screen = screens.get(domain);
  if (screen?.credentials === undefined)
    throw new LibvirtError("internal error: unable to execute QEMU command 'display-reload': vnc tls is not enabled");
  screen.credentials = screen.read(process);
}

/** Gives a guest a block device, or takes it away (virDomainAttachDevice, virDomainDetachDevice). @throws LibvirtError */
export function changeVolumes(
  domain: LibvirtDomain,
  { type, source }: { type: 'attach' | 'detach'; source: string },
): void {
  const { volumes } = domain.definition;
  const isThere = volumes.includes(source);
  if (type === 'attach' && isThere)
    throw new LibvirtError(`operation failed: target vd${'bcdefgh'[volumes.indexOf(source)]} already exists`);
  if (type === 'detach' && !isThere) throw new LibvirtError(`device not found: no target device for ${source}`);
  domain.definition.volumes = isThere ? volumes.filter((one) => one !== source) : [...volumes, source];
}

/** Shows qemu, a child of libvirtd, in /proc of the node, where it outlives libvirtd; undefined in a process namespace that is not the node's. */
function beginProcess({ files, pod, pid: parent }: Process): string | undefined {
  if (!pod.hostPID) return undefined;
  let pid = firstGuestPid;
  while (files.exists(`/proc/${pid}`)) pid++;
  files.mkdir(`/proc/${pid}`);
  files.write(`/proc/${pid}/comm`, 'qemu-system-x86\n');
  files.write(`/proc/${pid}/oom_score_adj`, files.read(`/proc/${parent}/oom_score_adj`));
  return `/proc/${pid}`;
}

/** Ends a guest. @returns whether there was one */
export function endGuest({ files }: Process, domains: Map<string, LibvirtDomain>, uuid: string): boolean {
  const domain = domains.get(uuid);
  if (domain !== undefined) screens.get(domain)?.listener.close();
  const { directory } = domain ?? {};
  if (directory !== undefined && files.exists(directory)) {
    for (const path of [`${directory}/comm`, `${directory}/oom_score_adj`, directory]) files.remove(path);
  }
  return domains.delete(uuid);
}

/** virtlogd opens the file, in its own container. */
async function openConsole(process: Process, path: string): Promise<void> {
  const problem = await worded(
    async () => {
      const connection = await process.network.connectUnix(virtlogdSocket, 'raw');
      const answer = await connection.call(path);
      connection.close();
      return answer;
    },
    (error) => new LibvirtError(`Failed to connect socket to '/var${virtlogdSocket}': ${error.reason}`),
  );
  if (typeof problem === 'string') throw new LibvirtError(problem);
}

/** What a guest shows by TLS, by qemu.conf; undefined: nothing. @throws LibvirtError */
function credentialsOf(process: Process, settings: ReadonlyMap<string, string>): ScreenCredentials | undefined {
  if (settings.get('vnc_tls') !== '1') return undefined;
  const directory = settings.get('vnc_tls_x509_cert_dir') ?? '/etc/pki/libvirt-vnc';
  const verifies = settings.get('vnc_tls_x509_verify') ?? settings.get('default_tls_x509_verify') ?? '0';
  try {
    return readCredentials(process, directory, verifies === '1');
  } catch (error) {
    if (!(error instanceof CredentialsError)) throw error;
    throw new LibvirtError(
      `internal error: process exited while connecting to monitor: qemu-system-x86_64: ${error.message}`,
    );
  }
}

/** qemu's VNC server, on the first port that is free. */
function listenForVnc(process: Process, listen: string, settings: ReadonlyMap<string, string>): Screen {
  const read = (by: Process) => credentialsOf(by, settings);
  const credentials = read(process);
  for (let display = 0; ; display++) {
    const port = firstVncPort + display;
    try {
      const [host = listen] = process.network.lookup(listen);
      const screen = { host, port, read, credentials };
      return Object.assign(screen, { listener: serveScreen(process, screen, () => screen.credentials) });
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      if (error.code === 'EADDRINUSE') continue;
      const words = ['ENOTFOUND', 'EAI_AGAIN'].includes(error.code)
        ? `address resolution failed for ${listen}:${port}: Name or service not known`
        : `Failed to listen on socket: ${error.reason}`;
      throw new LibvirtError(
        `internal error: QEMU unexpectedly closed the monitor: qemu-system-x86_64: -vnc ${listen}:${display}: ${words}`,
      );
    }
  }
}

/** virtlogd's answer to a request to write a console: undefined, or what is wrong. */
export function consoleProblem(process: Process, path: string): string | undefined {
  try {
    process.files.write(path, '');
    return undefined;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return `Unable to open file: ${path}: ${error.reason}`;
  }
}
