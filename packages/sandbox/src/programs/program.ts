import type { Clock, Random } from '@openstack-operator/kube';

/**
 * A container image as a node knows it: which programs it holds. A pod whose image no entry matches ends in
 * ErrImagePull; a command that the image lacks ends in `exec: "x": executable file not found in $PATH`.
 */
export interface Image {
  /** Whether this entry is the image of that reference (registry/name:tag or @digest). */
  matches(reference: string): boolean;
  /** By bare name (found through PATH) or by absolute path. */
  readonly programs: Readonly<Record<string, Program>>;
  /** Used when the pod gives no `command`. */
  readonly entrypoint?: readonly string[];
  /**
   * What the image itself has on disk: absolute path -> content (a file, 0644, root's), or an entry with owner and
   * mode. Parent directories are made as needed; /tmp and /var/tmp are always there.
   */
  readonly files?: Readonly<Record<string, string | ImageEntry>>;
  /** Numeric user of the image's USER line; root when absent. */
  readonly user?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A file or directory of an image, with its owner and mode. */
export interface ImageEntry {
  /** A directory when absent. */
  readonly content?: string;
  /** Default 0644 for files, 0755 for directories. */
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * A simulated program. Resolves with its exit code; throwing is a bug of the model and shows as exit code 70.
 * A daemon resolves when `process.signal` is aborted (SIGTERM) or when it gives up by itself. After the grace period
 * the node stops waiting (SIGKILL): listeners and connections are closed whatever the model does.
 */
export type Program = (process: Process) => Promise<number>;

/** All that a program can see and do. */
export interface Process {
  /** argv[0] is the program's name as it was called. */
  readonly argv: readonly string[];
  /** 1 for the container's first process (which ignores signals that it does not handle), other numbers for the rest. */
  readonly pid: number;
  readonly env: Readonly<Record<string, string>>;
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly privileged: boolean;
  /** Whether it has a capability such as `SYS_ADMIN` as root, or gets it by setuid programs such as sudo. */
  readonly mayHave: (capability: string) => boolean;
  readonly files: FileSystem;
  readonly network: Network;
  /** All that takes time in the real program is waited for on this clock. */
  readonly clock: Clock;
  readonly random: Random;
  readonly pod: PodFacts;
  /** Aborted on SIGTERM. */
  readonly signal: AbortSignal;
  /**
   * Other signals, as events of their names (`USR1`, `USR2`): who handles one says so by `preventDefault()`, and whoever
   * sends one that nobody handles has the program end.
   */
  readonly signals: EventTarget;
  /** Standard input: present when a shell pipes or redirects into it. */
  readonly stdin?: string | undefined;
  stdout(text: string): void;
  stderr(text: string): void;
  /** Runs another program of the same container to its end and resolves with its exit code (127 when not found). */
  run(argv: readonly string[], options?: RunOptions): Promise<number>;
}

/** Options of `Process.run`. Default: those of the caller. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** A function is asked when the program reads: what it leaves unread is there for the next one. */
  readonly stdin?: string | (() => string);
  /** What the program sees as SIGTERM; the caller's own signal when absent (a shell does not pass signals on). */
  readonly signal?: AbortSignal;
  /** Where it hears of other signals; nobody sends any when absent. */
  readonly signals?: EventTarget;
  /** Take the output instead of passing it to the container's log. */
  readonly stdout?: (text: string) => void;
  readonly stderr?: (text: string) => void;
}

/** Facts about the pod, as the downward API and the kernel give them. */
export interface PodFacts {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly ip: string;
  readonly nodeName: string;
  readonly nodeIp: string;
  /** What `hostname` prints: the pod's name, or the node's with hostNetwork. */
  readonly hostname: string;
  readonly hostNetwork: boolean;
  readonly hostPID: boolean;
}

/** POSIX error codes that files and sockets fail with. */
export type ErrorCode =
  | 'ENOENT'
  | 'EACCES'
  | 'EPERM'
  | 'EINVAL'
  | 'EBUSY'
  | 'ELOOP'
  | 'EXDEV'
  | 'ENXIO'
  | 'ENOTEMPTY'
  | 'EROFS'
  | 'EISDIR'
  | 'ENOTDIR'
  | 'EEXIST'
  | 'ENOSPC'
  | 'ENOTFOUND'
  | 'EAI_AGAIN'
  | 'ECONNREFUSED'
  | 'ECONNRESET'
  | 'ETIMEDOUT'
  | 'EADDRINUSE'
  | 'EADDRNOTAVAIL'
  | 'EPROTO';

/** A system call failed. `message` is `strerror`'s text with the path or address. */
export class SystemError extends Error {
  override readonly name = 'SystemError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  /** `strerror`'s text alone. */
  get reason(): string {
    return strerror[this.code];
  }
}

/** Of each code. */
export const strerror: Readonly<Record<ErrorCode, string>> = {
  ENOENT: 'No such file or directory',
  EACCES: 'Permission denied',
  EPERM: 'Operation not permitted',
  EINVAL: 'Invalid argument',
  EBUSY: 'Device or resource busy',
  ELOOP: 'Too many levels of symbolic links',
  EXDEV: 'Invalid cross-device link',
  ENOTEMPTY: 'Directory not empty',
  EROFS: 'Read-only file system',
  EISDIR: 'Is a directory',
  ENOTDIR: 'Not a directory',
  EEXIST: 'File exists',
  ENOSPC: 'No space left on device',
  ENXIO: 'No such device or address',
  ENOTFOUND: 'Name or service not known',
  EAI_AGAIN: 'Temporary failure in name resolution',
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection reset by peer',
  ETIMEDOUT: 'Connection timed out',
  EADDRINUSE: 'Address already in use',
  EADDRNOTAVAIL: 'Cannot assign requested address',
  EPROTO: 'Protocol error',
};

/**
 * The container's files: image, mounted volumes, writable layer. Respects readOnlyRootFilesystem, read-only mounts,
 * file modes against uid and groups (root may all), volume sizes. Everything throws `SystemError`.
 */
export interface FileSystem {
  read(path: string): string;
  write(path: string, content: string, options?: { mode?: number; append?: boolean }): void;
  exists(path: string): boolean;
  isDirectory(path: string): boolean;
  /** Names in a directory, sorted. */
  list(path: string): string[];
  /** Makes one directory: the parent must exist (ENOENT), the path must not (EEXIST). */
  mkdir(path: string, options?: { mode?: number }): void;
  /** Removes a file or an empty directory (ENOTEMPTY). */
  remove(path: string): void;
  /** What stands at a path, symbolic links followed. @throws ENOENT, EACCES */
  stat(path: string): FileFacts;
  /** Bytes of the file system that a path lies on (statfs(2)); undefined for one without limit. @throws ENOENT, EACCES */
  capacity(path: string): number | undefined;
  /** Whether a file system is mounted at a path. @throws ENOENT, EACCES */
  isMountPoint(path: string): boolean;
  /** The type of the file system that a path lies on, such as `xfs`. @throws ENOENT, EACCES */
  fileSystem(path: string): string;
  /**
   * Sets an extended attribute of a file (setxattr(2)): ext2, ext3 and ext4 have a block for all of them, others 64 KiB for each.
   * @throws ENOSPC and what opening for writing throws
   */
  setAttribute(path: string, name: string, value: string): void;
  /** Only the owner and root may (EPERM). */
  chmod(path: string, mode: number): void;
  /** Only root may change the owner (EPERM). */
  chown(path: string, uid: number, gid: number): void;
  rename(from: string, to: string): void;
  /** What a symbolic link says. @throws EINVAL when it is none */
  readlink(path: string): string;
  /** Makes a symbolic link at `path`. */
  symlink(target: string, path: string): void;
  /**
   * A file whose content is a live structure (a database's data file): made by `create` on first use, kept with the
   * volume that the path lies on, lost with an emptyDir. Counts `bytes` against the volume when given: each call tells
   * the size anew. @throws ENOSPC and what opening for writing throws
   */
  attach<T extends object>(path: string, create: () => T, options?: { bytes?: number; mode?: number }): T;
}

/** What `stat` tells. Unix sockets that somebody listens on are there as `socket`. */
export interface FileFacts {
  readonly type: 'file' | 'directory' | 'socket';
  /** Permission bits such as 0o640. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
}

/**
 * Name of an application protocol: both ends must speak the same, else EPROTO. The kubelet's probes speak `http`, and `https`,
 * which is the same after a first message `{ type: 'tls' }` that the server answers with its certificate.
 */
export type Protocol = string;

/** The pod's view of the network: its own addresses, cluster DNS, Services, network policies. */
export interface Network {
  /**
   * Listens on a TCP port of the pod (of the node with hostNetwork), or on a Unix socket `unix:/path`. Connections of
   * one peer are served by the handler that `accept` returns. A socket file that nobody listens on is replaced.
   * @throws SystemError EADDRINUSE, EACCES (also ports below 1024 without root), EADDRNOTAVAIL
   */
  listen(
    address: number | `unix:${string}`,
    protocol: Protocol,
    accept: (peer: Peer) => Session,
    options?: ListenOptions,
  ): Listener;
  /**
   * Connects to a host name, an address, or a Unix socket path.
   * @throws SystemError ENOTFOUND, ECONNREFUSED, ETIMEDOUT (network policy, no endpoint answers), EPROTO
   */
  connect(host: string, port: number, protocol: Protocol): Promise<Connection>;
  connectUnix(path: string, protocol: Protocol): Promise<Connection>;
  /** Addresses of a name, as the pod's resolver gives them. @throws SystemError ENOTFOUND */
  lookup(host: string): string[];
}

/** Options of `Network.listen`. */
export interface ListenOptions {
  /** Only connections to this address reach it: `127.0.0.1`, or an own address. Default: all (`0.0.0.0`). */
  readonly host?: string;
  /** Permission bits of a Unix socket before the umask 022 (to connect, one must be able to write). Default 0777. */
  readonly mode?: number;
}

/** The other end of a connection. */
export interface Peer {
  readonly address: string;
  readonly pod?: { readonly namespace: string; readonly name: string };
}

/** One accepted connection on the server's side: answers messages until closed. */
export interface Session {
  /** One message in, one message out; what they are is the protocol's affair. */
  receive(message: unknown): Promise<unknown>;
  closed?(): void;
}

/** One connection on the client's side. */
export interface Connection {
  /** @throws SystemError ECONNRESET when the other end goes away */
  call(message: unknown): Promise<unknown>;
  close(): void;
  /** Aborted when either end goes away. */
  readonly closed: AbortSignal;
}

/** A listening socket. */
export interface Listener {
  close(): void;
}

/** Messages of protocol `http`: probes of the kubelet speak it too. */
export interface HttpMessage {
  /** By which the client has come, as the server sees it; absent: http. */
  readonly scheme?: 'https';
  readonly method: string;
  /** With the query string. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers of protocol `http`. */
export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
