import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { parse } from 'yaml';
import { CommandError, commandWith, logTime, notModelled, pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { answering, ask } from './wire.ts';

/** A machine that is no node of the cluster, as far as it is known by SSH: who logs in, and what becomes of it. */
export interface OutsideHost {
  /** Its public key, as `ssh-keyscan` prints it. */
  readonly hostKey: string;
  /** Private keys that it lets in. */
  readonly authorized: readonly string[];
  /** What was copied to it: path, content. */
  readonly files: Map<string, string>;
  /** Names of the tasks that have run there, each once. */
  readonly tasks: Set<string>;
}

type Request = { readonly login: string } | { readonly key: string; readonly task: string; readonly file?: string[] };

/** Its side of a connection to port 22. */
export function sshServer(host: OutsideHost) {
  return {
    receive: answering((request: Request) => {
      if ('login' in request) return host.hostKey;
      if (!host.authorized.includes(request.key)) throw new Error('Permission denied (publickey,password).');
      host.tasks.add(request.task);
      const [path, content] = request.file ?? [];
      if (path !== undefined) host.files.set(path, content ?? '');
      return '';
    }),
  };
}

type Variables = Readonly<Record<string, unknown>>;
type Host = readonly [name: string, variables: Variables];

interface Task {
  readonly name?: string;
  readonly when?: string;
  readonly block?: readonly Task[];
  readonly 'ansible.builtin.copy'?: { readonly src?: string; readonly dest: string; readonly content?: string };
  readonly [word: string]: unknown;
}

interface Play {
  readonly name?: string;
  readonly hosts: string;
  readonly tasks?: readonly Task[];
}

/** A variable where a text stands. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);

/** Words of a task that are no module. */
const keywords = new Set(
  'name when block loop loop_control vars register changed_when failed_when notify no_log diff become'.split(' '),
);
const modules = new Set(['assert', 'wait_for', 'apt', 'command', 'copy', 'file', 'systemd_service']);

/**
 * `ansible-playbook`: reads its inventory, variables and playbook, and runs each task on each host that is left, by SSH. It
 * knows of conditions only those of services (`when: openstack_services.<name>`) and of texts (`when: <name> != ''`), and
 * takes for granted what others say.
 */
export const ansiblePlaybook: Program = commandWith(
  { flags: 'version', values: 'inventory|inventory-file|i extra-vars|e' },
  async (process, line) => {
    if (!(await pause(process, startTimes.ansible))) return 143;
    const [path = ''] = line.operands;
    if (!process.files.exists(path)) throw new CommandError(`[ERROR]: the playbook: ${path} could not be found`);
    const extra = read(process, (line.value('extra-vars') ?? '').replace(/^@/, '')) as Variables;
    const groups = inventoryOf(process, line.value('inventory') ?? '', extra);
    const plays = parse(process.files.read(path)) as readonly Play[];
    if (!Array.isArray(plays)) throw new CommandError('[ERROR]: A playbook must be a list of plays.', 4);
    const run = new Run(process);
    for (const play of plays) await run.play(play, hostsOf(groups, play.hosts));
    return run.recap();
  },
);

/** @throws CommandError */
function read(process: Process, path: string): unknown {
  if (!process.files.exists(path))
    throw new CommandError(`[ERROR]: Unable to retrieve file contents: Could not find or access '${path}'`);
  return parse(process.files.read(path));
}

/** The hosts of each group, with all that their variables say. */
function inventoryOf(process: Process, path: string, extra: Variables): ReadonlyMap<string, readonly Host[]> {
  const { all } = read(process, path) as {
    all: { vars?: Variables; children: Record<string, { hosts?: Record<string, Variables>; vars?: Variables }> };
  };
  const groups = Object.entries(all.children).map(([name, { hosts = {}, vars = {} }]): [string, Host[]] => [
    name,
    Object.entries(hosts).map(([host, own]) => [
      host,
      { ...all.vars, ...vars, ...own, ...extra, inventory_hostname: host },
    ]),
  ]);
  return new Map([...groups, ['all', groups.flatMap(([, hosts]) => hosts)]]);
}

function hostsOf(groups: ReadonlyMap<string, readonly Host[]>, pattern: string): Host[] {
  return pattern.split(':').flatMap((name) => groups.get(name) ?? []);
}

/** What has become of the hosts so far. */
class Run {
  readonly #process: Process;
  readonly #counts = new Map<string, { ok: number; unreachable: number; failed: number }>();

  constructor(process: Process) {
    this.#process = process;
  }

  async play({ name = '', hosts, tasks = [] }: Play, all: readonly Host[]): Promise<void> {
    this.#say(`PLAY [${name || hosts}]`);
    if (all.length === 0) this.#say('skipping: no hosts matched');
    for (const task of tasks) await this.#task(task, all);
  }

  recap(): number {
    this.#say('PLAY RECAP');
    for (const [host, { ok, unreachable, failed }] of this.#counts)
      this.#say(
        `${host.padEnd(26)} : ok=${ok}    changed=0    unreachable=${unreachable}    failed=${failed}    skipped=0    rescued=0    ignored=0   `,
      );
    const counts = [...this.#counts.values()];
    // ansible/executor/task_queue_manager.py: unreachable hosts go before failed ones.
    if (counts.some(({ unreachable }) => unreachable > 0)) return 4;
    return counts.some(({ failed }) => failed > 0) ? 2 : 0;
  }

  async #task(task: Task, hosts: readonly Host[]): Promise<void> {
    const { name = '', when = '', block } = task;
    const service = /^openstack_services\.(\w+)$/.exec(when)?.[1];
    const text = /^(\w+) != ''$/.exec(when)?.[1];
    const left = hosts.filter(([, variables]) => {
      const { openstack_services: services = {} } = variables;
      if (text !== undefined) return variables[text] !== '';
      return service === undefined || (services as Variables)[service] === true;
    });
    for (const one of block ?? []) await this.#task(one, left);
    if (block !== undefined) return;
    const [module = ''] = Object.keys(task).filter((word) => !keywords.has(word));
    if (!modules.has(module.replace('ansible.builtin.', ''))) notModelled(this.#process, `the module ${module}`);
    this.#say(`TASK [${name}]`);
    for (const host of left) await this.#on(host, task);
  }

  async #on(host: Host, task: Task): Promise<void> {
    const [name] = host;
    const counts = this.#counts.get(name) ?? { ok: 0, unreachable: 0, failed: 0 };
    this.#counts.set(name, counts);
    if (counts.unreachable + counts.failed > 0) return;
    const fatal = (state: string, message: string) =>
      this.#say(`fatal: [${name}]: ${state} => {"changed": false, "msg": ${JSON.stringify(message)}}`);
    try {
      await this.#send(host, task);
      counts.ok += 1;
      this.#say(`ok: [${name}]`);
    } catch (error) {
      if (error instanceof CommandError) {
        counts.failed += 1;
        return fatal('FAILED!', error.message);
      }
      counts.unreachable += 1;
      fatal('UNREACHABLE!', `Task failed: Failed to connect to the host via ssh: ${(error as Error).message}`);
    }
  }

  async #send([host, variables]: Host, task: Task): Promise<void> {
    const { files, network } = this.#process;
    const text = (name: string) => textOf(variables[name]);
    const [address, port] = [text('ansible_host') || host, Number(variables['ansible_port'] ?? 22)];
    const option = (name: string) => new RegExp(`-o ${name}=(\\S+)`).exec(text('ansible_ssh_common_args'))?.[1] ?? '';
    const connection = await network.connect(address, port, 'ssh').catch((error: unknown) => {
      const why = error instanceof SystemError ? error.reason : String(error);
      throw new Error(`ssh: connect to host ${address} port ${port}: ${why}`);
    });
    try {
      const known = option('UserKnownHostsFile');
      const alias = option('HostKeyAlias') || address;
      const lines = files.exists(known) ? files.read(known).split('\n') : [];
      const hostKey = await ask<string>(connection, { login: text('ansible_user') });
      if (!lines.includes(`${alias} ${hostKey}`)) throw new Error('Host key verification failed.');
      const path = text('ansible_ssh_private_key_file');
      const key = files.exists(path) ? files.read(path) : '';
      if (!key.includes('PRIVATE KEY-----'))
        throw new Error(`Load key "${path}": error in libcrypto\r\nPermission denied (publickey,password).`);
      const copied = this.#copied(task, variables);
      await ask(connection, { key, task: task.name ?? '', ...(copied && { file: copied }) });
    } finally {
      connection.close();
    }
  }

  /** What a task copies: where to, and what. */
  #copied({ 'ansible.builtin.copy': copy }: Task, variables: Variables): [string, string] | undefined {
    if (copy === undefined) return undefined;
    const { files } = this.#process;
    const filled = (text: string) => text.replaceAll(/\{\{ (\w+) \}\}/g, (_, name: string) => textOf(variables[name]));
    if (copy.src === undefined) return [copy.dest, filled(copy.content ?? '')];
    const path = filled(copy.src);
    if (!files.exists(path)) throw new CommandError(`Could not find or access '${path}' on the Ansible Controller.`);
    return [copy.dest, files.read(path)];
  }

  /** Prints a line, and writes it to the log where there is one. */
  #say(text: string): void {
    const { files, env } = this.#process;
    this.#process.stdout(`${text}\n`);
    const path = env['ANSIBLE_LOG_PATH'];
    if (path === undefined) return;
    const time = logTime(this.#process).replace('.', ',');
    files.write(path, `${time} p=${this.#process.pid} u=ansible n=ansible INFO| ${text}\n`, { append: true });
  }
}
