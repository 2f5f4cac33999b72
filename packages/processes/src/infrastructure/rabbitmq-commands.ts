import { type Program, SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../attempt.ts';
import { parseCommandLine, UsageError } from '../command-line.ts';
import { CommandError, command, nameOf, notModelled, pause, terminated } from '../program-support.ts';
import { addVirtualHost, type BrokerState } from './rabbitmq-broker.ts';
import { type Cluster, distributionPort, listenAsNode, type NodeRequest } from './rabbitmq-cluster.ts';
import { readRabbitmqSettings } from './rabbitmq-config.ts';
import { cookieOf } from './rabbitmq-server.ts';
import { ask } from './wire.ts';

const names = {
  flags: 'errors-only q|quiet s|silent l|longnames no-table-headers dry-run address',
  values: 'n|node p|vhost t|timeout formatter',
};

type Task = (state: BrokerState, operands: readonly string[], cluster: Cluster) => string;

const queuesOf = ({ virtualHosts }: BrokerState) =>
  [...virtualHosts.values()].flatMap(({ queues }) => [...queues.values()]);

const tasks: Readonly<Record<string, Task>> = {
  ping: () => 'Ping succeeded',
  check_port_connectivity: () => 'Successfully connected to ports 5672, 15672, 25672.',
  status: () => 'Status of node',
  await_startup: () => '',
  cluster_status: (_state, _operands, cluster) =>
    ['Running Nodes', '', ...[...cluster.nodes].filter((name) => cluster.isUp(name))].join('\n'),
  add_vhost: (state, [name = '']) => {
    if (!addVirtualHost(state, name)) throw new CommandError(`Error:\nVirtual host "${name}" already exists`, 65);
    return '';
  },
  list_vhosts: ({ virtualHosts }) => ['name', ...virtualHosts.keys()].join('\n'),
  // It takes the replicas with it.
  forget_cluster_node: (state, [name = ''], cluster) => {
    if (!cluster.nodes.delete(name))
      throw new CommandError(`Error:\n{:not_a_cluster_node, 'The node selected is not in the cluster.'}`, 70);
    for (const { members } of queuesOf(state)) members.delete(name);
    cluster.changed();
    return '';
  },
  list_queues: (state) =>
    [
      'name\tmembers',
      ...[...state.virtualHosts.values()].flatMap(({ queues }) =>
        [...queues].map(([name, { members }]) => `${name}\t[${[...members].join(', ')}]`),
      ),
    ].join('\n'),
  grow: (state, [name = '', which], cluster) => {
    if (which !== 'all' || !cluster.nodes.has(name)) throw new CommandError(`Error:\n${name}: not in the cluster`, 69);
    for (const { members } of queuesOf(state)) members.add(name);
    cluster.changed();
    return '';
  },
  list_users: (state) =>
    ['user\ttags', ...[...state.users].map(([name, { tags }]) => `${name}\t[${tags.join(', ')}]`)].join('\n'),
  change_password: (state, [name = '', password = '']) => {
    const user = state.users.get(name);
    if (user === undefined) throw new CommandError(`Error:\nUser "${name}" does not exist`, 67);
    user.password = password;
    return '';
  },
};

/** `rabbitmqctl`, `rabbitmq-diagnostics`, `rabbitmq-queues`: reach a node by Erlang distribution, with its cookie; 1.5 s each. */
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
  if (run === undefined) return notModelled(process, `the command ${task}`);
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
    const connection = await process.network.connect(host, distributionPort, 'raw');
    const text = await ask<string | undefined>(connection, {
      cookie,
      run: ({ state, cluster }) => {
        if (task === 'ping') return 'Ping succeeded';
        if (state !== undefined && cluster !== undefined) return run(state, operands, cluster);
        throw new CommandError(
          "Error: this command requires the 'rabbit' app to be running on the target node. Start it with 'rabbitmqctl start_app'.",
          69,
        );
      },
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

/** `erl -noinput -name NODE`: a node of Erlang that does nothing, and answers. */
const erl: Program = command(async (process) => {
  const [flag, option, name] = process.argv.slice(1);
  if (flag !== '-noinput' || option !== '-name' || name === undefined)
    return notModelled(process, process.argv.slice(1).join(' '));
  const listener = listenAsNode(process, { name }, cookieOf(process, process.env['HOME'] ?? ''));
  await terminated(process);
  listener.close();
  return 0;
});

/** The command-line tools of RabbitMQ, and Erlang's own. */
export const rabbitmqCommands: Readonly<Record<string, Program>> = {
  rabbitmqctl,
  'rabbitmq-diagnostics': rabbitmqctl,
  'rabbitmq-queues': rabbitmqctl,
  erl,
};
