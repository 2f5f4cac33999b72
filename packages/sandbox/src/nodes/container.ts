import type { Clock, Random } from '@openstack-operator/kube';
import type { ProcessNetwork } from '../network/process-network.ts';
import { findExecutable } from '../programs/executable.ts';
import type { ContainerFileSystem, Identity } from '../programs/file-system.ts';
import { ProcessClock } from '../programs/process-clock.ts';
import {
  type Image,
  type PodFacts,
  type Process,
  type Program,
  type RunOptions,
  SystemError,
} from '../programs/program.ts';
import type { ContainerLog } from './container-log.ts';
import type { ProcessTable } from './process-table.ts';

/** How a container ended. */
export interface Exit {
  readonly code: number;
  readonly reason: 'Completed' | 'Error' | 'StartError';
  readonly message?: string;
}

/** The result of a command that ran in a container. */
export interface ExecResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The runtime could not start a command; `message` is the container runtime's. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly code = 'START';
}

/** What a container is made of. */
export interface ContainerOptions {
  readonly id: string;
  readonly image: Image;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly identity: Identity;
  readonly files: ContainerFileSystem;
  readonly network: ProcessNetwork;
  readonly clock: Clock;
  readonly random: Random;
  readonly pod: PodFacts;
  readonly log: ContainerLog;
  /** What /proc shows. */
  readonly processes: ProcessTable;
  /** Called once, when the first process has ended or was killed. */
  onExit(exit: Exit): void;
}

const SIGKILLED = 137;
const MODEL_ERROR = 70;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

/** One run of a container: its processes live and die together. */
export class Container {
  readonly id: string;
  readonly log: ContainerLog;
  readonly files: ContainerFileSystem;
  readonly #options: ContainerOptions;
  readonly #clock: ProcessClock;
  readonly #term = new AbortController();
  readonly #dead = new AbortController();
  #pids = 0;
  readonly #table: ProcessTable;

  constructor(options: ContainerOptions) {
    this.id = options.id;
    this.log = options.log;
    this.files = options.files;
    this.#options = options;
    this.#clock = new ProcessClock(options.clock);
    this.#table = options.processes;
  }

  /** Aborted when the container has ended. */
  get ended(): AbortSignal {
    return this.#dead.signal;
  }

  /** Starts the first process. @throws StartError when the image has no such program */
  start(): void {
    const { argv, env, log } = this.#options;
    const found = this.#find(argv, env);
    if (typeof found === 'string') {
      throw new StartError(
        'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: ' +
          `unable to start container process: ${found}: unknown`,
      );
    }
    const streams = { stdout: (text: string) => log.write(text), stderr: (text: string) => log.write(text) };
    const process = this.#process(found.argv, env, { ...streams, signal: this.#term.signal });
    void this.#run(found.program, process).then((code) => this.#end(code));
  }

  /** SIGTERM to the first process. */
  terminate(): void {
    this.#term.abort(new Error('SIGTERM'));
  }

  /** SIGKILL to all processes. */
  kill(): void {
    this.#end(SIGKILLED);
  }

  /**
   * Runs a command beside the first process, as `kubectl exec` and exec probes do.
   * @throws StartError when there is no such program, or the container has ended
   */
  async exec(argv: readonly string[], options: { stdin?: string; signal?: AbortSignal } = {}): Promise<ExecResult> {
    const { env } = this.#options;
    if (this.ended.aborted) throw new StartError(`container ${this.id} is not running`);
    const found = this.#find(argv, env);
    if (typeof found === 'string') {
      throw new StartError(
        `failed to exec in container: failed to start exec: OCI runtime exec failed: exec failed: unable to start container process: ${found}`,
      );
    }
    let stdout = '';
    let stderr = '';
    const process = this.#process(found.argv, env, {
      ...(options.stdin !== undefined && { stdin: options.stdin }),
      signal: options.signal ?? new AbortController().signal,
      stdout: (text) => {
        stdout += text;
      },
      stderr: (text) => {
        stderr += text;
      },
    });
    const code = await this.#untilDead(this.#run(found.program, process));
    return { code, stdout, stderr };
  }

  #end(code: number): void {
    if (this.#dead.signal.aborted) return;
    this.#clock.stop();
    this.#options.network.shutDown();
    this.log.close();
    this.#dead.abort();
    this.#options.onExit({ code, reason: code === 0 ? 'Completed' : 'Error' });
  }

  /** A killed process never answers: whoever waits for it learns that it was killed. */
  #untilDead(exit: Promise<number>): Promise<number> {
    return new Promise((resolve) => {
      const onDead = () => resolve(SIGKILLED);
      this.ended.addEventListener('abort', onDead, { once: true });
      void exit.then((code) => {
        this.ended.removeEventListener('abort', onDead);
        resolve(code);
      });
    });
  }

  #find(argv: readonly string[], env: Readonly<Record<string, string>>) {
    return findExecutable(this.#options.image, this.files, argv, env['PATH']);
  }

  async #run(program: Program, process: Process): Promise<number> {
    try {
      return await program(process).finally(() => this.#table.end(process.pid));
    } catch (error) {
      const text = error instanceof SystemError ? error.message : error instanceof Error ? error.stack : String(error);
      process.stderr(`${process.argv[0]}: ${text}\n`);
      return MODEL_ERROR;
    }
  }

  #process(
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
    options: Required<Pick<RunOptions, 'stdout' | 'stderr' | 'signal'>> & Pick<RunOptions, 'stdin' | 'signals'>,
    parent = 0,
  ): Process {
    const { identity, network, random, pod } = this.#options;
    const { stdout, stderr, signal, signals = new EventTarget(), stdin } = options;
    const alive = (write: (text: string) => void) => (text: string) => {
      if (!this.ended.aborted) write(text);
    };
    const write = { stdout: alive(stdout), stderr: alive(stderr) };
    const pid = ++this.#pids;
    const { opened } = this.#table.begin(pid, parent, argv);
    return {
      argv,
      pid,
      env,
      uid: identity.uid,
      gid: identity.gid,
      groups: identity.groups,
      privileged: identity.privileged,
      mayHave: identity.mayHave,
      files: this.files,
      network: network.of(opened),
      clock: this.#clock,
      random,
      pod,
      signal,
      signals,
      get stdin() {
        return typeof stdin === 'function' ? stdin() : stdin;
      },
      ...write,
      run: async (childArgv, child = {}) => {
        const childEnv = child.env ?? env;
        const found = this.#find(childArgv, childEnv);
        if (typeof found === 'string') return found.endsWith('permission denied') ? NOT_EXECUTABLE : NOT_FOUND;
        const streams = {
          stdout: child.stdout ?? write.stdout,
          stderr: child.stderr ?? write.stderr,
          signal: child.signal ?? signal,
          ...(child.signals !== undefined && { signals: child.signals }),
          ...(child.stdin !== undefined && { stdin: child.stdin }),
        };
        return this.#run(found.program, this.#process(found.argv, childEnv, streams, pid));
      },
    };
  }
}
