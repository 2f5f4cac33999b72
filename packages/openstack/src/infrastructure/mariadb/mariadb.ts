import { mariadbdOptions } from '@openstack-operator/facts/mariadbd-options';
import { ownedWords } from '../../engine/configuration/user-config.ts';
import { bytesOf } from '../../engine/names/quantity.ts';
import {
  certificateFiles,
  certificateMount,
  reloader,
  serverCertificate,
} from '../../engine/vocabulary/certificate.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { nearest } from '../../options/nearest.ts';
import type { Layer } from '../../oslo/layers.ts';
import { dataClaim } from '../data-claim.ts';
import { lastingQuorum, rememberedQuorum, shrinking } from '../quorum-size.ts';
import { databaseAddress, externalDatabase } from './address.ts';
import { clusterSize, member, memberOptions, ownedOfMembers } from './galera.ts';
import { MariaDB } from './kind.ts';
import { databaseRecords } from './records.ts';
import { becomeServer, prepareServer } from './start.ts';

/** The server takes hyphens and underscores for the same. */
const ownedOptions = Object.fromEntries(
  Object.entries({
    'bind-address': 'nothing: the Service connects to it',
    port: 'nothing: the Service connects to it',
    datadir: 'spec.storage',
    socket: 'nothing: the probe uses it',
    'pid-file': 'nothing: it is in the pod',
    'init-file': 'spec.rootSecretName',
    'skip-grant-tables': 'nothing: every client could read and change everything',
    'skip-networking': 'nothing: the services connect by network',
    'max-connections': 'spec.maxConnections',
    'character-set-server': 'nothing: the tables of the services use it',
    'collation-server': 'nothing: the tables of the services use it',
    'character-set-collations': 'nothing: the tables of the services use it',
    'loose-character-set-collations': 'nothing: the tables of the services use it',
    'ssl-cert': 'spec.tls',
    'ssl-key': 'spec.tls',
    ssl: 'spec.tls',
    user: 'nothing: the pod has a user already',
    ...ownedOfMembers,
  }).flatMap(([option, field]) => [
    [option, field],
    [option.replaceAll('-', '_'), field],
  ]),
);

/**
 * A MariaDB server on a volume of its own, or a Galera cluster of several (galera.ts).
 *
 * The data directory lies one level below the mount (`lost+found` would stop mariadb-install-db). Root's password is
 * set from the Secret at every start through `--init-file`, one statement a line because mariadbd executes the file
 * line by line; so a renewed Secret takes effect with the restart that its digest causes. The accounts without a
 * password that mariadb-install-db leaves for the addresses of the host itself go.
 */
export const mariadb = defineService<MariaDB>({
  kind: MariaDB,
  offers: {
    databaseRef: {
      capability: 'database',
      address: databaseAddress,
      external: externalDatabase,
      keeps: databaseRecords,
      clientOptions: [
        {
          having: 'connection',
          fields: {
            connection: 'spec.databaseRef or spec.database',
            slave_connection: 'spec.databaseRef or spec.database',
          },
        },
      ],
    },
  },
  child: {
    field: 'mariadb',
    phase: 'Infrastructure',
    description: 'The database server.',
    fields: ({ own, connections }) => ({ maxConnections: own['maxConnections'] ?? connections() }),
  },
  name: 'mariadb',
  user: 'mysql',
  dependsOn: {},
  retainedSecrets: ['root-password'],
  secrets: (context) => [
    serverCertificate(context, ['', 'members']),
    ...(context.spec.rootSecretName === undefined
      ? [
          {
            suffix: 'root-password',
            values: { password: { type: 'password', length: 32 } },
            secretClass: 'credential',
            guards: {
              kind: 'PersistentVolumeClaim',
              name: `data-${context.named('')}-0`,
              data: 'the databases',
            },
          } as const,
        ]
      : []),
  ],
  owned: { mariadbd: ownedOptions },
  problems: (context) => {
    const messages = refusedOptions(context.spec);
    return {
      ...shrinking(context, 'the databases'),
      ...(messages.length === 0 ? {} : { ConfigReady: { reason: 'ConfigRefused', message: messages.join('; ') } }),
    };
  },
  lasting: (context) => lastingQuorum(context, clusterSize(context), 'a Galera cluster'),
  remembers: (context) => rememberedQuorum(context, clusterSize(context)),
  config: (context) => ({
    main: {
      '/etc/openstack/my.cnf': { oslo: serverOptions(context), takes: (section) => section === 'mariadbd' },
    },
  }),
  components: (context) => {
    const { spec, named } = context;
    const size = clusterSize(context);
    const root = spec.rootSecretName ?? named('root-password');
    return {
      server: {
        workload: 'StatefulSet',
        suffix: '',
        image: 'mariadb-server',
        runs: {
          script: `# Prepares an empty volume, sets root's password, and becomes the server.\ndata=/var/lib/mysql/data\n${prepareServer}\n${becomeServer({})}`,
        },
        ports: { mysql: 3306 },
        service: 'headless',
        clients: 'dependents',
        health: { exec: ['mariadb-admin', '--defaults-extra-file=/run/mysqld/probe.cnf', 'ping'] },
        graceSeconds: 120,
        mounts: [
          { path: '/var/lib/mysql', claim: 'data' },
          { path: '/run/mysqld', scratch: true, memory: true },
          { path: '/etc/openstack/root/password', secret: root, key: 'password' },
          certificateMount(context),
        ],
        sidecars: [reloader(`mariadb --defaults-extra-file=/run/mysqld/probe.cnf -e 'FLUSH LOCAL SSL'`)],
        claims: [dataClaim(spec.storage, '10Gi')],
        resources: { cpu: '50m', memory: '512Mi' },
        ...(size === undefined ? {} : member(context, size)),
      },
    };
  },
});

/** `my.cnf`: an option file has the form of an oslo.config file; every option is a name and a value. */
function serverOptions(context: Context<MariaDB>): Layer {
  const { spec } = context;
  const pool = bufferPool(spec);
  return {
    mariadbd: {
      'bind-address': '0.0.0.0',
      datadir: '/var/lib/mysql/data',
      socket: '/run/mysqld/mysqld.sock',
      'pid-file': '/run/mysqld/mysqld.pid',
      'ssl-cert': certificateFiles.certificate,
      'ssl-key': certificateFiles.key,
      // Acknowledged writes survive a crash.
      'innodb-flush-log-at-trx-commit': 1,
      'sync-binlog': 1,
      // On since 11.6.2, and then two writers of a row fail with error 1020, which oslo.db does not retry: servers
      // cannot be deleted (launchpad.net/bugs/2116186, seen live).
      'innodb-snapshot-isolation': 'OFF',
      'max-connections': spec.maxConnections ?? defaultMaxConnections,
      'max-allowed-packet': '64M',
      // Pinned: 11.5 and later give tables of utf8mb3 another collation, and foreign keys between them and those of a
      // restored dump fail. Earlier servers have no such option.
      'character-set-server': 'utf8mb3',
      'collation-server': 'utf8mb3_general_ci',
      'loose-character-set-collations': 'utf8mb3=utf8mb3_general_ci,utf8mb4=utf8mb4_general_ci',
      'skip-name-resolve': 'ON',
      ...(pool === undefined ? {} : { 'innodb-buffer-pool-size': `${pool}M` }),
      ...(clusterSize(context) === undefined ? {} : memberOptions),
    },
  };
}

/** What MariaDB takes unless the resource says more. */
const defaultMaxConnections = 1000;

/** MiB for the pages of tables: half of the memory that users request; without a request the server's own 128 MiB. */
function bufferPool({ components, resources }: MariaDB['spec']): number | undefined {
  const own = components?.server?.resources ?? resources;
  const bytes = bytesOf(own?.requests?.['memory'] ?? own?.limits?.['memory'] ?? '');
  return bytes === undefined ? undefined : Math.max(128, Math.floor(bytes / 2 ** 21));
}

/** What an option file cannot say, or the server would not read. */
function refusedOptions({ config = {} }: MariaDB['spec']): string[] {
  return Object.entries(config['my.cnf'] ?? {}).flatMap(([section, options]) => {
    const path = `spec.config["my.cnf"].${section}`;
    if (section !== 'mariadbd') return [`${path}: unknown section; the only one is mariadbd, that of the server`];
    return Object.entries(options).flatMap(([option, value]) => {
      if (JSON.stringify(value).includes('$')) return [`${path}.${option}: a value cannot contain "$"`];
      const problem = nameProblem(option);
      return problem === undefined ? [] : [`${path}.${option}: ${problem}`];
    });
  });
}

/**
 * The server ends for an option that it does not know, unless it begins with `loose-`; and it takes the beginning of an
 * option for the whole, so that `loose-skip-grant` is `skip-grant-tables`.
 */
function nameProblem(option: string): string | undefined {
  if (Object.hasOwn(ownedOptions, option)) return undefined;
  const name = option.toLowerCase().replaceAll('_', '-');
  const strict = name.replace(/^loose-/, '');
  const plain = strict.replace(/^(?:skip|disable|enable|maximum)-/, '');
  if (mariadbdOptions.has(strict) || mariadbdOptions.has(plain)) {
    const field = ownedOptions[strict] ?? ownedOptions[plain];
    return field === undefined ? undefined : ownedWords(field);
  }
  const owned = Object.keys(ownedOptions).find((one) => one.startsWith(strict) || one.startsWith(plain));
  if (owned !== undefined) return `the server takes it for ${owned}: ${ownedWords(ownedOptions[owned] ?? '')}`;
  if (strict !== name) return undefined;
  const near = nearest(name, mariadbdOptions);
  return `the server does not know this option, and would not start${near === undefined ? '' : `; did you mean ${near}?`} (as loose-${name} it is skipped where it is not known)`;
}
