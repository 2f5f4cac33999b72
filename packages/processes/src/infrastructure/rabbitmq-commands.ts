import { type Program, SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../attempt.ts';
import { parseCommandLine, UsageError } from '../command-line.ts';
import { CommandError, command, nameOf, notModelled, pause } from '../program-support.ts';
import type { BrokerState } from './rabbitmq-broker.ts';
import { readRabbitmqSettings } from './rabbitmq-config.ts';
import { cookieOf, type NodeRequest } from './rabbitmq-server.ts';
import { ask } from './wire.ts';

const names = {
  flags: 'q|quiet s|silent l|longnames no-table-headers dry-run address',
  values: 'n|node p|vhost t|timeout formatter',
};

type Task = (state: BrokerState, operands: readonly string[]) => string;

const tasks: Readonly<Record<string, Task>> = {
  ping: () => 'Ping succeeded',
  check_port_connectivity: () => 'Successfully connected to ports 5672, 15672, 25672.',
  status: () => 'Status of node',
  await_startup: () => '',
  list_users: (state) =>
    ['user\ttags', ...[...state.users].map(([name, { tags }]) => `${name}\t[${tags.join(', ')}]`)].join('\n'),
  change_password: (state, [name = '', password = '']) => {
    const user = state.users.get(name);
    if (user === undefined) throw new CommandError(`Error:\nUser "${name}" does not exist`, 67);
    user.password = password;
    return '';
  },
};

/** `rabbitmqctl` and `rabbitmq-diagnostics`: reach a node by Erlang distribution, with its cookie; 1.5 s each. */
const rabbitmqctl: Program = command(async (process) => {
  const line = attempt(
    UsageError,
    () => parseCommandLine(process.argv.slice(1), names),
    ({ option }): never => {
      throw new CommandError(`\nError: \nInvalid options for this command\n\n${nameOf(process)}: ${option}`, 64);
    },
  );
  const [task = '', ...operands] = line.operands;
  const run = tasks[task];
  if (run === undefined) notModelled(process, `the command ${task}`);
  const settings = readRabbitmqSettings(process);
  const node = line.value('node') ?? settings.nodeName;
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
    const text = await ask<string | undefined>(connection, {
      cookie,
      run: (state) => run(state, operands),
    } satisfies NodeRequest);
    connection.close();
    if (text === undefined)
      return unreachable(
        `connected to epmd (port 4369) on ${host}\n  * TCP connection succeeded but Erlang distribution failed\n  * suggestion: check if the Erlang cookie is identical for all server nodes and CLI tools`,
      );
    const quiet = line.has('quiet') || line.has('silent');
    if (text !== '' && !(quiet && task === 'ping')) process.stdout(`${text}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN')
      return unreachable(`unable to connect to epmd (port 4369) on ${host}: nxdomain (non-existing domain)`);
    return unreachable(`unable to connect to epmd (port 4369) on ${host}: address (cannot connect to host/port)`);
  }
});

/** The command-line tools of RabbitMQ. */
export const rabbitmqCommands: Readonly<Record<string, Program>> = { rabbitmqctl, 'rabbitmq-diagnostics': rabbitmqctl };
