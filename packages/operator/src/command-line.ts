import { parseArgs } from 'node:util';
import { ConfigError } from '@openstack-operator/kube';

interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly default?: string;
  /** What stands for the value in the help, such as `PATH`. */
  readonly value?: string;
  readonly means: string;
}

/** Values of `--log-level`, from most to least. */
const logLevels = ['debug', 'info', 'warn', 'error'] as const;

/** Options of `openstack-operator run`, as `parseArgs` takes them. */
export const runOptions = {
  kubeconfig: {
    type: 'string',
    value: 'PATH',
    means: 'cluster to connect to (default: the cluster of this pod, or $KUBECONFIG)',
  },
  'watch-namespaces': {
    type: 'string',
    value: 'A,B',
    means: 'watch only these namespaces, for which Roles are enough (default: all namespaces)',
  },
  'operator-class': {
    type: 'string',
    value: 'NAME',
    means:
      'manage only resources with the annotation openstack.k8s.io/operator-class: NAME (default: only resources without that annotation)',
  },
  'no-leader-election': { type: 'boolean', means: 'run without a lease; no other replica may run' },
  port: {
    type: 'string',
    value: 'N',
    default: '8080',
    means: 'port of metrics and health, over plain HTTP; 0 takes any free port',
  },
  'metrics-open': {
    type: 'boolean',
    means: 'serve /metrics without a token (default: the token has to allow get on the nonResourceURL /metrics)',
  },
  'log-level': { type: 'string', value: 'LEVEL', default: 'info', means: 'debug, info, warn or error' },
} as const satisfies Readonly<Record<string, CommandOption>>;

/**
 * What the arguments of `openstack-operator run` say; `port` as a number.
 * @throws ConfigError that names the option, before anything else is looked at
 */
export function parseRun(args: readonly string[]) {
  const { values } = parsed(args);
  const port = Number(values.port);
  if (!(/^\d+$/u.test(values.port) && port < 65536)) {
    throw new ConfigError(`--port: ${JSON.stringify(values.port)} is not a port number (0 to 65535)`);
  }
  const level = logLevels.find((one) => one === values['log-level']);
  if (level === undefined) {
    throw new ConfigError(`--log-level: ${JSON.stringify(values['log-level'])} is not one of ${logLevels.join(', ')}`);
  }
  return { ...values, port, level };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: runOptions });
  } catch (cause) {
    throw new ConfigError(`${(cause as Error).message}; openstack-operator --help lists the options`, { cause });
  }
}

const commands = {
  'run [options]': 'runs the operator',
  'records TARGET --file FILE': 'creates users, endpoints and virtual hosts (run by Jobs)',
  'records audit TARGET=FILE...': 'compares and repairs them (run by CronJobs)',
  'records remove TARGET=FILE...': 'removes them (run by a Job when a resource is deleted)',
  'publish [--supersedes SECRET] [--from DIR] SECRET FILE...': 'fills a Secret with files (run by Jobs that make them)',
  'fetch [--again] SECRET DIR KEY...': 'lays out the files of a Secret (run by Jobs that go on from them)',
  'empty PLAN': 'has the guests of nodes in maintenance moved, and new ones kept away (run by a Job of Nova)',
  'forget PLAN': 'deletes what Nova or Neutron has recorded of nodes that are gone for ever (run by their Jobs)',
  'count PLAN':
    'counts what a service keeps for users, such as the servers of Nova (run by Jobs before something goes that they need)',
};

const variables = {
  OPERATOR_NAMESPACE:
    'namespace of the operator, and its name on the resources that it manages (default: that of the pod)',
  POD_NAME: 'name of its own pod',
  OPERATOR_IMAGE: 'image of its Jobs (default: the image of its own pod)',
  KUBECONFIG: 'cluster to connect to, when --kubeconfig is absent',
  NODE_OPTIONS: 'options of Node.js; config/manager limits the heap to 70% of the memory limit',
};

const exitCodes = {
  0: 'done, or stopped as asked',
  1: 'failed',
  2: 'the call is wrong, or run cannot read its kubeconfig',
  3: 'of count: the service keeps some; of empty: guests are left; of forget: records are',
};

/** What `openstack-operator --help` prints. */
export const usage = `openstack-operator: runs OpenStack clouds from custom resources

Usage:
${list(commands, 'openstack-operator ')}

Options of run:
${list(Object.fromEntries(Object.entries(runOptions).map(([name, option]) => [flagOf(name, option), meaningOf(option)])))}
  --help                      print this text
  --version                   print the version

Environment:
${list(variables)}

Exit codes:
${list(exitCodes)}
`;

function flagOf(name: string, { value }: CommandOption): string {
  return `--${name}${value === undefined ? '' : ` ${value}`}`;
}

function meaningOf({ means, default: preset }: CommandOption): string {
  return preset === undefined ? means : `${means} (default: ${preset})`;
}

/** Lines of a term and its meaning, in columns; a meaning is broken at 120 characters. */
function list(terms: Readonly<Record<string, string>>, before = ''): string {
  const column = Math.max(26, ...Object.keys(terms).map((term) => before.length + term.length)) + 2;
  return Object.entries(terms)
    .map(([term, means]) => `  ${`${before}${term}`.padEnd(column)}${broken(means, 118 - column, column + 2)}`)
    .join('\n');
}

function broken(text: string, width: number, indent: number): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join(`\n${' '.repeat(indent)}`);
}
