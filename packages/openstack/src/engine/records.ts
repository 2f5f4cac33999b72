import { secretReference } from '../oslo/references.ts';
import type { IdentityAddress } from './addresses.ts';
import type { DatabaseAudit } from './audit.ts';
import type { Component } from './component.ts';
import { inputsOf, resolvedSecret } from './config.ts';
import { type Context, databaseName } from './context.ts';
import { exposureOf } from './exposure.ts';
import { serviceHost } from './names.ts';
import type { Job, Service } from './service.ts';
import type { Desired } from './step.ts';
import { workloadName } from './workload.ts';

/**
 * What lives outside Kubernetes and is kept by Jobs of the plan's names: databases and their users, users and vhosts
 * of the broker, users, roles and endpoints in Keystone. Each is a declarative list in a Secret; running it twice
 * changes nothing.
 */
export interface Records {
  readonly job: Job;
  readonly objects: readonly Desired[];
  /** Name of the Secret with the list. */
  readonly list: string;
  /** How an audit compares and puts right what the list says. */
  readonly audit: DatabaseAudit | { readonly target: 'keystone' | 'rabbitmq' };
}

const folder = '/etc/openstack/records';

/** Each of its calls may be cut off, and made again; a server that takes a call and never answers would hold it for ever. */
const deadlineSeconds = 900;

/** Databases, user and grants (`<name>-db-create`), by the mariadb client of the database's own image. */
export function databaseRecords(service: Service, context: Context): Records {
  const { host, port, adminUser, adminPassword } = context.database;
  const name = context.named('db-create');
  const { user, secret } = context.accounts.database;
  const password = secretReference(secret, 'password', 'sqlhash');
  const databases = new Set([
    ...(service.databases ?? []).map((database) => databaseName(context.accounts, database.name)),
    ...(service.moreDatabases?.(context) ?? []),
  ]);
  const sql = [
    // COLLATE is pinned: from MariaDB 11.5 on utf8mb3 maps to another collation, and a restore then fails foreign keys.
    ...[...databases].map(
      (database) => `CREATE DATABASE IF NOT EXISTS \`${database}\` CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci;`,
    ),
    `CREATE USER IF NOT EXISTS '${user}'@'%' IDENTIFIED BY PASSWORD '${password}';`,
    `ALTER USER '${user}'@'%' IDENTIFIED BY PASSWORD '${password}';`,
    ...[...databases].map((database) => `GRANT ALL PRIVILEGES ON \`${database}\`.* TO '${user}'@'%';`),
  ];
  const client = [
    '[client]',
    `host=${host}`,
    `port=${port}`,
    `user="${adminUser('quoted')}"`,
    `password="${adminPassword('quoted')}"`,
    'connect-timeout=10',
  ];
  const list = resolvedSecret(ownerOf(service, context), name, {
    'client.cnf': `${client.join('\n')}\n`,
    'records.sql': `${sql.join('\n')}\n`,
  });
  return {
    objects: [list],
    list: name,
    audit: { target: 'mariadb', user, databases: [...databases] },
    job: {
      suffix: 'db-create',
      deadlineSeconds,
      step: 'DatabaseReady',
      image: 'mariadb-server',
      user: 'mysql',
      config: 'none',
      ...listOf(list),
      runs: [
        {
          name: 'db-create',
          // The password is in the option file: on a command line every process of the node could read it.
          command: [
            'mariadb',
            `--defaults-extra-file=${folder}/client.cnf`,
            // Without it the client goes on after a statement that failed, and exits with 0.
            '--abort-source-on-error',
            '-e',
            `source ${folder}/records.sql`,
          ],
        },
      ],
    },
  };
}

/** User, vhost, permissions and policy on the broker (`<name>-mq-create`), by its management API. */
export function brokerRecords(service: Service, context: Context): Records {
  const { managementUrl, adminUser, adminPassword } = context.broker;
  const { user, vhost, secret } = context.accounts.broker;
  const name = context.named('mq-create');
  const vhosts = [...new Set([vhost, ...(service.vhosts?.(context) ?? [])])];
  const list = resolvedSecret(ownerOf(service, context), name, {
    'records.json': json({
      url: managementUrl,
      username: adminUser('quoted'),
      password: adminPassword('quoted'),
      vhosts: vhosts.map((name) => ({ name })),
      users: [
        {
          name: user,
          password: secretReference(secret, 'password', 'quoted'),
          permissions: vhosts.map((vhost) => ({ vhost, configure: '.*', write: '.*', read: '.*' })),
        },
      ],
    }),
  });
  return {
    objects: [list],
    list: name,
    audit: { target: 'rabbitmq' },
    job: recordsJob('mq-create', 'MessagingReady', 'rabbitmq', list),
  };
}

/** Service user, roles, service and endpoints in Keystone (`<name>-endpoint-create`). */
export function identityRecords(
  service: Service,
  context: Context,
  options: { components: Readonly<Record<string, Component>>; identity: IdentityAddress },
): Records {
  const { identity } = service;
  if (identity === undefined) throw new Error(`${service.name} has no identity`);
  const { internalUrl, admin } = options.identity;
  const { user, serviceName, secret } = context.accounts.identity;
  const internal = internalEndpoint(service, context, options.components);
  const exposure = exposureOf({ namespace: context.namespace, spec: context.spec }, context.surroundings);
  const name = context.named('endpoint-create');
  const users = [
    { name: user, password: secretReference(secret, 'password', 'quoted'), project: 'service', roles: identity.roles },
  ];
  const list = resolvedSecret(ownerOf(service, context), name, {
    'records.json': json({
      url: internalUrl,
      username: admin.user('quoted'),
      password: admin.password('quoted'),
      project: admin.project('quoted'),
      userDomain: admin.userDomain('quoted'),
      projectDomain: admin.projectDomain('quoted'),
      projects: [{ name: 'service', description: 'Users of the services' }],
      roles: [...new Set(['admin', 'service', ...identity.roles])].map((role) => ({ name: role })),
      users: identity.user === undefined ? [] : users,
      services: [
        {
          type: identity.type,
          name: serviceName,
          description: identity.description,
          endpoints: {
            region: context.region,
            internal,
            public: exposure.type === 'route' ? `${exposure.url}${identity.endpoint.path}` : internal,
            admin: internal,
          },
        },
      ],
    }),
  });
  return {
    objects: [list],
    list: name,
    audit: { target: 'keystone' },
    job: recordsJob('endpoint-create', 'EndpointReady', 'keystone', list),
  };
}

/** URL of a service's API inside the cluster. */
export function internalEndpoint(
  service: Service,
  context: Context,
  components: Readonly<Record<string, Component>>,
): string {
  const { component: name, port: portName, path } = service.identity?.endpoint ?? { component: '', port: '', path: '' };
  const component = components[name];
  const port = component?.ports?.[portName];
  if (component === undefined || port === undefined) {
    throw new Error(`${service.name}: its endpoint names component ${name}, port ${portName}: there is none`);
  }
  return `http://${serviceHost(workloadName({ context, name, component }), context.namespace)}:${port}${path}`;
}

/** Mounts the list; the Job runs again when what it is resolved from changes. */
function listOf(list: Desired): Pick<Job, 'mounts' | 'inputs'> {
  if (list.verb !== 'resolve') throw new Error('records are a Secret that is resolved');
  return {
    mounts: [{ path: folder, secret: list.object.metadata.name ?? '', follows: true }],
    inputs: inputsOf(list.object),
  };
}

function recordsJob(suffix: string, step: string, target: 'keystone' | 'rabbitmq', list: Desired): Job {
  return {
    suffix,
    step,
    deadlineSeconds,
    image: 'operator',
    user: 'operator',
    config: 'none',
    ...listOf(list),
    runs: [{ name: suffix, command: ['openstack-operator', 'records', target, '--file', `${folder}/records.json`] }],
  };
}

function ownerOf(service: Service, context: Context) {
  return {
    service: service.name,
    instance: context.name,
    namespace: context.namespace,
    surroundings: context.surroundings,
  };
}

/** JSON for people: references inside strings stay as they are and are resolved with the filter `quoted`. */
function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
