import { type Random, seededRandom, type VirtualClock, virtualClock } from '@openstack-operator/kube';
import {
  type Connection,
  type HttpReply,
  type Network,
  type Peer,
  type Process,
  type Program,
  type Protocol,
  type RunOptions,
  type Session,
  SystemError,
} from '@openstack-operator/sandbox';
import {
  ContainerFileSystem,
  directoryAt,
  emptyVolume,
  fileNode,
  plant,
  segments,
  type Volume,
} from '@openstack-operator/sandbox/files';
import { unboundModule } from '../oslo/ovsdbapp.ts';

/** A container of a test: its files stay when it is started again. */
export interface ContainerOptions {
  /** Its name in the test's DNS, and its host name. */
  readonly host: string;
  readonly programs: Readonly<Record<string, Program>>;
  readonly uid?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly directories?: readonly string[];
  readonly privileged?: boolean;
  /** Path -> volume that other containers may mount too. */
  readonly volumes?: Readonly<Record<string, Volume>>;
}

/** A program that was started. */
export interface Running {
  /** All that it and its children wrote. */
  readonly output: () => string;
  readonly exit: Promise<number>;
  readonly status: () => number | undefined;
  /** SIGTERM, while the clock goes on by somebody else. */
  terminate(): void;
  stop(): Promise<number>;
}

interface Server {
  readonly protocol: Protocol;
  readonly accept: (peer: Peer) => Session;
  readonly controller: AbortController;
}

/** Some hosts on one wire, one virtual clock: enough world for programs to find each other in tests. */
export class World {
  readonly clock: VirtualClock = virtualClock();
  readonly random: Random = seededRandom(1);
  readonly #addresses = new Map<string, string>();
  readonly #servers = new Map<string, Server>();
  readonly #aliases = new Map<string, string>();

  /** A further DNS name for a host. */
  alias(name: string, host: string): void {
    this.#aliases.set(name, host);
  }

  address(host: string): string {
    const name = this.#aliases.get(host) ?? host;
    const known = this.#addresses.get(name);
    if (known !== undefined) return known;
    if ([...this.#addresses.values()].includes(host)) return host;
    throw new SystemError('ENOTFOUND', host);
  }

  container(options: ContainerOptions): Container {
    if (!this.#addresses.has(options.host)) this.#addresses.set(options.host, `10.244.0.${this.#addresses.size + 2}`);
    return new Container(this, options);
  }

  /** To connect to a socket one must be able to write to it. */
  async #allowed(files: ContainerFileSystem, path: string): Promise<void> {
    await Promise.resolve();
    files.socketAt(path);
  }

  network(host: string, files: ContainerFileSystem, owned: Set<AbortController>): Network {
    const self: Peer = { address: this.address(host) };
    const connect = (key: string, protocol: Protocol, peer: Peer): Promise<Connection> => {
      const server = this.#servers.get(key);
      if (server === undefined) return Promise.reject(new SystemError('ECONNREFUSED', `${key}: Connection refused`));
      if (server.protocol !== protocol)
        return Promise.reject(new SystemError('EPROTO', `${key} speaks ${server.protocol}, not ${protocol}`));
      const session = server.accept(peer);
      const closed = new AbortController();
      const end = (): void => {
        if (closed.signal.aborted) return;
        closed.abort();
        session.closed?.();
      };
      server.controller.signal.addEventListener('abort', end, { once: true });
      return Promise.resolve({
        call: async (message) => {
          if (closed.signal.aborted) throw new SystemError('ECONNRESET', 'Connection reset by peer');
          return Promise.race([
            session.receive(message),
            new Promise<never>((_resolve, reject) =>
              closed.signal.addEventListener(
                'abort',
                () => reject(new SystemError('ECONNRESET', 'Connection reset by peer')),
                { once: true },
              ),
            ),
          ]);
        },
        close: end,
        closed: closed.signal,
      });
    };
    return {
      listen: (address, protocol, accept) => {
        const unix = typeof address === 'string' ? address.slice(5) : undefined;
        const key = unix === undefined ? `${self.address}:${String(address)}` : `unix:${unix}`;
        if (this.#servers.has(key)) throw new SystemError('EADDRINUSE', `${key}: Address already in use`);
        const controller = new AbortController();
        owned.add(controller);
        controller.signal.addEventListener('abort', () => this.#servers.delete(key), { once: true });
        this.#servers.set(key, { protocol, accept, controller });
        if (unix !== undefined) {
          const socket = { protocol, accept, bindAddress: '', connections: new Set<{ close(): void }>(), open: true };
          files.bindSocket(unix, socket, 0o777);
          controller.signal.addEventListener('abort', () => (socket.open = false), { once: true });
        }
        return { close: () => controller.abort() };
      },
      connect: async (name, port, protocol) => {
        const address = name === 'localhost' || name === '127.0.0.1' ? self.address : this.address(name);
        return connect(`${address}:${port}`, protocol, address === self.address ? { address: '127.0.0.1' } : self);
      },
      connectUnix: (path, protocol) =>
        files.exists(path)
          ? this.#allowed(files, path).then(() => connect(`unix:${path}`, protocol, { address: '' }))
          : Promise.reject(new SystemError('ENOENT', `${path}: No such file or directory`)),
      lookup: (name) => (/^localhost$|^127\./.test(name) ? ['127.0.0.1'] : [this.address(name)]),
    };
  }
}

/** What the kernel tells of its machine. */
const machine = {
  '/proc/cpuinfo': 'processor\t: 0\n\nprocessor\t: 1\n\n',
  '/proc/meminfo': 'MemTotal:        8388608 kB\n',
};

/** A container of the world: programs run in it. */
export class Container {
  readonly #world: World;
  readonly #options: ContainerOptions;
  readonly #root = emptyVolume({ capacity: 100 * 2 ** 30 });
  #pid = 0;

  constructor(world: World, options: ContainerOptions) {
    this.#world = world;
    this.#options = options;
    const { uid = 0 } = options;
    for (const path of ['tmp', 'run', 'etc', 'var/lib'])
      directoryAt(this.#root.root, segments(path)).mode = path === 'tmp' ? 0o1777 : 0o755;
    for (const path of options.directories ?? []) {
      const node = directoryAt(this.#root.root, segments(path));
      node.uid = uid;
      node.gid = uid;
    }
    // As Debian's images: python-ovs resolves names.
    const files = { [unboundModule]: '', ...machine, ...options.files };
    for (const [path, content] of Object.entries(files)) plant(this.#root.root, path, fileNode(content));
  }

  /** The container's files as its user sees them. */
  get files(): ContainerFileSystem {
    const { uid = 0, volumes = {} } = this.#options;
    const mounts = [
      { path: '/', node: this.#root.root, volume: this.#root, readOnly: false },
      ...Object.entries(volumes).map(([path, volume]) => {
        directoryAt(this.#root.root, segments(path));
        return { path, node: volume.root, volume, readOnly: false };
      }),
    ];
    return new ContainerFileSystem({
      mounts,
      identity: {
        uid,
        gid: uid,
        groups: [],
        privileged: this.#options.privileged ?? false,
        overridesPermissions: uid === 0,
        mayHave: () => uid === 0,
      },
    });
  }

  /** The same files as root sees them. */
  get asRoot(): ContainerFileSystem {
    return new ContainerFileSystem({
      mounts: [{ path: '/', node: this.#root.root, volume: this.#root, readOnly: false }],
      identity: { uid: 0, gid: 0, groups: [], privileged: true, overridesPermissions: true, mayHave: () => true },
    });
  }

  /** Starts a program; `env` adds to the container's. */
  start(argv: readonly string[], options: { env?: Readonly<Record<string, string>>; stdin?: string } = {}): Running {
    let output = '';
    let status: number | undefined;
    const controller = new AbortController();
    const owned = new Set<AbortController>();
    const write = (text: string): void => void (output += text);
    const env = { PATH: '/usr/bin', ...this.#options.env, ...options.env };
    const exit = this.#run(1, argv, owned, controller.signal, {
      env,
      stdout: write,
      stderr: write,
      ...(options.stdin !== undefined && { stdin: options.stdin }),
    }).then((code) => {
      status = code;
      for (const server of owned) server.abort();
      return code;
    });
    return {
      output: () => output,
      exit,
      status: () => status,
      terminate: () => controller.abort(),
      stop: async () => {
        controller.abort();
        await this.#world.clock.run(() => status !== undefined);
        return exit;
      },
    };
  }

  /** Runs a program to its end in virtual time. */
  async run(
    argv: readonly string[],
    options: { env?: Readonly<Record<string, string>>; stdin?: string } = {},
  ): Promise<{ status: number; output: string }> {
    const running = this.start(argv, options);
    await this.#world.clock.run(() => running.status() !== undefined);
    return { status: running.status() as number, output: running.output() };
  }

  async #run(
    pid: number,
    argv: readonly string[],
    owned: Set<AbortController>,
    signal: AbortSignal,
    options: RunOptions & {
      env: Readonly<Record<string, string>>;
      stdout: (text: string) => void;
      stderr: (text: string) => void;
    },
  ): Promise<number> {
    const { host, programs, uid = 0, privileged = false } = this.#options;
    const program = programs[argv[0] as string] ?? programs[(argv[0] as string).split('/').at(-1) as string];
    if (program === undefined) return 127;
    this.#pid = Math.max(this.#pid, pid);
    const { files } = this;
    const process: Process = {
      argv,
      pid,
      env: options.env,
      uid,
      gid: uid,
      groups: [],
      privileged,
      mayHave: () => uid === 0,
      files,
      network: this.#world.network(host, files, owned),
      clock: this.#world.clock,
      random: this.#world.random,
      pod: {
        name: host,
        namespace: 'openstack',
        uid: host,
        ip: this.#world.address(host),
        nodeName: host,
        nodeIp: this.#world.address(host),
        hostname: host,
        hostNetwork: false,
        hostPID: false,
      },
      signal,
      signals: options.signals ?? new EventTarget(),
      get stdin() {
        return typeof options.stdin === 'function' ? options.stdin() : options.stdin;
      },
      stdout: options.stdout,
      stderr: options.stderr,
      run: (words, child = {}) =>
        this.#run(++this.#pid, words, owned, child.signal ?? signal, {
          env: child.env ?? options.env,
          stdout: child.stdout ?? options.stdout,
          stderr: child.stderr ?? options.stderr,
          ...(child.stdin !== undefined && { stdin: child.stdin }),
          ...(child.signals !== undefined && { signals: child.signals }),
        }),
    };
    return program(process);
  }
}

/** A GET (or another request) to a host of the world. */
export async function request(
  world: World,
  host: string,
  port: number,
  path: string,
  options: { method?: string; headers?: Readonly<Record<string, string>>; body?: unknown } = {},
): Promise<HttpReply> {
  const network = world.network(host, new ContainerFileSystem({ mounts: [rootMount()], identity: nobody }), new Set());
  const connection = await network.connect(host, port, 'http');
  let reply: HttpReply | undefined;
  void connection
    .call({
      method: options.method ?? 'GET',
      path,
      headers: { host: `${host}:${port}`, ...options.headers },
      body: options.body === undefined ? '' : JSON.stringify(options.body),
    })
    .then((answer) => (reply = answer as HttpReply));
  await world.clock.run(() => reply !== undefined, { limit: 120_000 });
  return reply as HttpReply;
}

const nobody = {
  uid: 65_534,
  gid: 65_534,
  groups: [],
  privileged: false,
  overridesPermissions: false,
  mayHave: () => false,
};

function rootMount() {
  const volume = emptyVolume();
  return { path: '/', node: volume.root, volume, readOnly: false };
}
