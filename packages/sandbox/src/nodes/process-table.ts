import type { Host } from '../network/host.ts';
import type { Identity } from '../programs/file-system.ts';
import { type DirectoryNode, directoryNode, type FileNode, fileNode, type TreeNode } from '../programs/file-tree.ts';
import { machineFiles } from './machine.ts';

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly argv: readonly string[];
  /** Inodes of its TCP connections. */
  readonly sockets: Set<number>;
  /** Written by whoever wants it otherwise; children begin with it. */
  readonly oomScoreAdj: FileNode;
  /** Made when somebody looks at it. */
  directory?: DirectoryNode;
}

/** Name of a thing in a directory -> the thing, made when it is looked at. */
type Names = () => Iterable<readonly [string, TreeNode]>;

/**
 * The processes of a container, as `/proc` shows them (proc_pid_cmdline(5), proc_pid_stat(5), proc_pid_fd(5),
 * proc_net_tcp in the kernel's Documentation/networking): command lines, parents, sockets. All of it is made when it is
 * read. A process that was started from outside (a probe, `kubectl exec`) has no parent here: 0. Beside them: the machine.
 */
export class ProcessTable {
  /** What is mounted at /proc. */
  readonly directory: DirectoryNode;
  readonly #entries = new Map<number, Entry>();
  readonly #identity: Identity;
  readonly #host: Host;
  readonly #oomScoreAdj: number;

  /**
   * `node`: /proc of the node, for a pod in the node's process namespace: what is made there outlives the container.
   * `oomScoreAdj`: of processes that the kubelet starts.
   */
  constructor(
    identity: Identity,
    host: Host,
    capacity: Readonly<Record<string, string | number>>,
    node?: DirectoryNode,
    oomScoreAdj = 0,
  ) {
    this.#identity = identity;
    this.#host = host;
    this.#oomScoreAdj = oomScoreAdj;
    const net = directoryOf(() => [
      ['tcp', textOf(() => this.#connections())],
      ['tcp6', textOf(() => heading)],
    ]);
    const machine = machineFiles(capacity);
    const names: Names = () => [
      ...[...this.#entries.values()].map(
        (entry) => [String(entry.pid), (entry.directory ??= this.#process(entry))] as const,
      ),
      ['net', net],
      ...machine,
    ];
    this.directory = node === undefined ? directoryOf(names) : over(node, names);
  }

  /** Enters a process; `opened` is to be told each TCP connection that it opens. */
  begin(pid: number, parent: number, argv: readonly string[]) {
    const inherited = this.#entries.get(parent)?.oomScoreAdj.content ?? `${this.#oomScoreAdj}\n`;
    const { uid, gid } = this.#identity;
    const entry: Entry = { pid, parent, argv, sockets: new Set(), oomScoreAdj: fileNode(inherited, { uid, gid }) };
    this.#entries.set(pid, entry);
    return {
      opened: (inode: number, closed: AbortSignal) => {
        entry.sockets.add(inode);
        closed.addEventListener('abort', () => entry.sockets.delete(inode), { once: true });
      },
    };
  }

  end(pid: number): void {
    this.#entries.delete(pid);
  }

  #process({ pid, parent, argv, sockets, oomScoreAdj }: Entry): DirectoryNode {
    const { uid, gid } = this.#identity;
    const name = (argv[0] ?? '').split('/').at(-1)?.slice(0, 15);
    const descriptors = directoryOf(() =>
      [...sockets].map((inode, index) => [
        String(index + 3),
        { type: 'link', target: `socket:[${inode}]`, mode: 0o700, uid, gid } as const,
      ]),
    );
    const owned = { uid, gid };
    return Object.assign(
      directoryOf(() => [
        ['comm', fileNode(`${name}\n`, { ...owned, mode: 0o444 })],
        ['cmdline', fileNode(argv.map((word) => `${word}\0`).join(''), { ...owned, mode: 0o444 })],
        ['stat', fileNode(`${pid} (${name}) S ${parent} ${pid} ${pid} 0 -1\n`, { ...owned, mode: 0o444 })],
        ['oom_score_adj', oomScoreAdj],
        ['fd', Object.assign(descriptors, owned, { mode: 0o500 })],
      ]),
      owned,
      { mode: 0o555 },
    );
  }

  #connections(): string {
    const lines = [...this.#host.connections].map(([inode, { address, port, uid }], index) => {
      const number = String(index).padStart(4);
      return `${number}: ${hex(this.#host.address, 32_768 + (inode % 28_000))} ${hex(address, port)} 01 00000000:00000000 00:00000000 00000000 ${String(uid).padStart(5)} 0 ${inode} 1 0000000000000000 20 4 30 10 -1\n`;
    });
    return heading + lines.join('');
  }
}

const heading = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';

/** Address and port as the kernel prints them: the address in the order of the machine's bytes, little end first. */
function hex(address: string, port: number): string {
  const bytes = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  return `${bytes.reverse().join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

function directoryOf(names: Names): DirectoryNode {
  return {
    type: 'directory',
    mode: 0o555,
    uid: 0,
    gid: 0,
    get children() {
      return new Map(names());
    },
  };
}

/** What another directory has, and what is made when it is looked at; new things are made in the other one. */
function over(below: DirectoryNode, names: Names): DirectoryNode {
  const children = () => {
    const all = new Map([...below.children, ...names()]);
    all.set = (name, node) => {
      below.children.set(name, node);
      return all;
    };
    all.delete = (name) => below.children.delete(name);
    return all;
  };
  return Object.defineProperty(directoryNode({ mode: 0o555 }), 'children', { get: children });
}

function textOf(content: () => string): FileNode {
  return Object.defineProperty(fileNode('', { mode: 0o444 }), 'content', { get: content });
}
