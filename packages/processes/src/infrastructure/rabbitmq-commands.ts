import type { Process, Program } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { type CommandLine, parseCommandLine, UsageError } from '../command-line.ts';
import { CommandError, command, nameOf, notModelled, pause } from '../program-support.ts';
import { addVirtualHost, type BrokerState } from './rabbitmq-broker.ts';
import { readRabbitmqSettings } from './rabbitmq-config.ts';
import { cookieOf } from './rabbitmq-server.ts';

type Task = (state: BrokerState, operands: readonly string[], line: CommandLine) => string;

const notThere = (what: string): never => {
  throw new CommandError(`Error:\n${what} does not exist`, 67);
};

function userOf(state: BrokerState, name: string) {
  return state.users.get(name) ?? notThere(`User "${name}"`);
}

const tasks: Readonly<Record<string, Task>> = {
  ping: () => 'Ping succeeded',
  check_running: () => 'RabbitMQ on node is fully booted and running',
  check_local_alarms: () => 'reported no local alarms',
  check_port_connectivity: () => 'Successfully connected to ports 5672, 15672, 25672.',
  check_virtual_hosts: () => 'All vhosts are running',
  is_booting: () => 'RabbitMQ is not booting',
  is_running: () => 'RabbitMQ is running',
  status: () => 'Status of node',
  cluster_status: () => 'Cluster status of node',
  await_startup: () => '',
  list_users: (state) =>
    ['user\ttags', ...[...state.users].map(([name, { tags }]) => `${name}\t[${tags.join(', ')}]`)].join('\n'),
  list_vhosts: (state) => ['name', ...state.virtualHosts.keys()].join('\n'),
  list_queues: (state, _operands, line) =>
    ['name', ...(state.virtualHosts.get(line.value('p') ?? '/')?.queues.keys() ?? [])].join('\n'),
  add_vhost: (state, [name = '']) => {
    if (!addVirtualHost(state, name)) throw new CommandError(`Error:\nVirtual host '${name}' already exists`, 70);
    return '';
  },
  delete_vhost: (state, [name = '']) => (state.virtualHosts.delete(name) ? '' : notThere(`Virtual host '${name}'`)),
  add_user: (state, [name = '', password = '']) => {
    if (state.users.has(name)) throw new CommandError(`Error:\nUser "${name}" already exists`, 70);
    state.users.set(name, { password, tags: [], permissions: new Map() });
    return "Done. Don't forget to grant the user permissions to some virtual hosts! See 'rabbitmqctl help set_permissions' to learn more.";
  },
  delete_user: (state, [name = '']) => (state.users.delete(name) ? '' : notThere(`User "${name}"`)),
  change_password: (state, [name = '', password = '']) => {
    userOf(state, name).password = password;
    return '';
  },
  authenticate_user: (state, [name = '', password = '']) => {
    if (state.users.get(name)?.password !== password)
      throw new CommandError(`Error:\nError: failed to authenticate user "${name}"`, 65);
    return 'Success';
  },
  set_user_tags: (state, [name = '', ...tags]) => {
    userOf(state, name).tags = tags;
    return '';
  },
  set_permissions: (state, [name = '', configure = '', write = '', read = ''], line) => {
    const vhost = line.value('p') ?? line.value('vhost') ?? '/';
    if (!state.virtualHosts.has(vhost)) notThere(`Virtual host '${vhost}'`);
    userOf(state, name).permissions.set(vhost, { configure, write, read });
    return '';
  },
  list_permissions: (state, _operands, line) => {
    const vhost = line.value('p') ?? '/';
    const rows = [...state.users].flatMap(([user, { permissions }]) => {
      const held = permissions.get(vhost);
      return held === undefined ? [] : [`${user}\t${held.configure}\t${held.write}\t${held.read}`];
    });
    return ['user\tconfigure\twrite\tread', ...rows].join('\n');
  },
};

/** `rabbitmqctl` and `rabbitmq-diagnostics`: reach a node by Erlang distribution, with its cookie; 1.5 s each. */
const rabbitmqctl: Program = command(async (process) => {
  const line = readLine(process);
  const [task = '', ...operands] = line.operands;
  const run = tasks[task];
  if (run === undefined) notModelled(process, `the command ${task}`);
  const settings = readRabbitmqSettings(process);
  const node = line.value('n') ?? line.value('node') ?? settings.nodeName;
  const cookie = cookieOf(process, settings.home);
  await pause(process, 1500);
  const unreachable = (why: string): never => {
    throw new CommandError(
      `Error: unable to perform an operation on node '${node}'. Please see diagnostics information and suggestions below.\n\nDIAGNOSTICS\n===========\n\nattempted to contact: ['${node}']\n\n${node}:\n  * ${why}`,
      69,
    );
  };
  const host = node.split('@')[1] ?? 'localhost';
  try {
    const connection = await process.network.connect(host, 25_672, 'raw');
    const reply = (await connection.call({
      cookie,
      run: (state: BrokerState) => attempt(() => run(state, operands, line)),
    })) as { refused?: true; value?: { text?: string; error?: CommandError } };
    connection.close();
    if (reply.refused)
      return unreachable(
        `connected to epmd (port 4369) on ${host}\n  * TCP connection succeeded but Erlang distribution failed\n  * suggestion: check if the Erlang cookie is identical for all server nodes and CLI tools`,
      );
    if (reply.value?.error !== undefined) throw reply.value.error;
    const text = reply.value?.text ?? '';
    const quiet = line.has('q') || line.has('s') || line.has('quiet') || line.has('silent');
    if (text !== '' && !(quiet && task === 'ping')) process.stdout(`${text}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN')
      return unreachable(`unable to connect to epmd (port 4369) on ${host}: nxdomain (non-existing domain)`);
    return unreachable(`unable to connect to epmd (port 4369) on ${host}: address (cannot connect to host/port)`);
  }
});

function attempt(run: () => string): { text?: string; error?: CommandError } {
  try {
    return { text: run() };
  } catch (error) {
    if (error instanceof CommandError) return { error };
    throw error;
  }
}

function readLine(process: Process): CommandLine {
  try {
    return parseCommandLine(process.argv.slice(1), {
      flags: 'q s quiet silent l longnames no-table-headers dry-run address',
      values: 'n node p vhost t timeout formatter',
    });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new CommandError(`\nError: \nInvalid options for this command\n\n${nameOf(process)}: ${error.option}`, 64);
  }
}

/** The command-line tools of RabbitMQ. */
export const rabbitmqCommands: Readonly<Record<string, Program>> = { rabbitmqctl, 'rabbitmq-diagnostics': rabbitmqctl };
