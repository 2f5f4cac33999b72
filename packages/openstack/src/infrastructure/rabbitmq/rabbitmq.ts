import { bytesOf } from '../../engine/names/quantity.ts';
import { memoryLimitOf } from '../../engine/objects/pod.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { secretReference } from '../../oslo/references.ts';
import { dataClaim } from '../data-claim.ts';
import { brokerAddress, externalBroker } from './address.ts';
import { RabbitMQ } from './kind.ts';
import { brokerRecords } from './records.ts';

/**
 * A single RabbitMQ broker on a volume of its own (phase 1 plan, task 7).
 *
 * Its node is named after the pod's full name from the first day: `rabbit@localhost` could never become a member of a
 * cluster (production rule 26). The administrator comes from definitions that are loaded at every start, so that a
 * renewed Secret takes effect with the restart that its digest causes; users of services are records, and never in
 * there, because definitions would bring back what was rotated.
 */
export const rabbitmq = defineService<RabbitMQ>({
  kind: RabbitMQ,
  offers: {
    messageQueueRef: {
      capability: 'broker',
      address: brokerAddress,
      external: externalBroker,
      keeps: brokerRecords,
      clientOptions: [{ section: 'DEFAULT', fields: { transport_url: 'spec.messageQueueRef or spec.messageQueue' } }],
    },
  },
  child: { field: 'rabbitmq', phase: 'Infrastructure', description: 'The message broker.' },
  name: 'rabbitmq',
  user: 'rabbitmq',
  dependsOn: {},
  retainedSecrets: ['credentials', 'erlang-cookie'],
  secrets: ({ spec }) => [
    ...(spec.credentialsSecretName === undefined
      ? [
          {
            suffix: 'credentials',
            // A fixed name: a renewed Secret then changes this account's password, and leaves no second administrator.
            values: {
              username: { type: 'literal' as const, value: 'administrator' },
              password: { type: 'password' as const, length: 32 },
            },
            secretClass: 'credential' as const,
          },
        ]
      : []),
    {
      suffix: 'erlang-cookie',
      values: { cookie: { type: 'password', length: 64 } },
      secretClass: 'credential',
    },
  ],
  config: (context) => ({
    main: {
      '/etc/rabbitmq/rabbitmq.conf': configuration(context),
      '/etc/rabbitmq/enabled_plugins': '[rabbitmq_management,rabbitmq_prometheus].\n',
      '/etc/openstack/definitions.json': definitions(context),
    },
  }),
  components: ({ spec, named, host }) => ({
    server: {
      workload: 'StatefulSet',
      suffix: '',
      image: 'rabbitmq',
      runs: { script: start },
      ports: { amqp: 5672, management: 15672, prometheus: 15692 },
      // nova-compute has the address of its node.
      reachable: ['amqp'],
      clients: 'dependents',
      monitored: ['prometheus'],
      service: 'headless',
      // Who is served before the first start is complete could lose it again.
      health: {
        exec: ['bash', '-c', `[ ! -e ${firstStart} ] && exec rabbitmq-diagnostics -q check_port_connectivity`],
        periodSeconds: 30,
      },
      graceSeconds: 120,
      env: {
        POD_NAME: { field: 'metadata.name' },
        HOME: '/var/lib/rabbitmq',
        RABBITMQ_USE_LONGNAME: 'true',
        RABBITMQ_NODENAME: `rabbit@$(POD_NAME).${host('')}`,
        RABBITMQ_MNESIA_BASE: '/var/lib/rabbitmq/mnesia',
        RABBITMQ_LOGS: '-',
      },
      mounts: [
        { path: '/var/lib/rabbitmq', claim: 'data' },
        { path: '/var/log/rabbitmq', scratch: true },
        { path: '/run/rabbitmq', scratch: true },
        { path: '/etc/openstack/erlang-cookie/cookie', secret: named('erlang-cookie'), key: 'cookie' },
      ],
      claims: [dataClaim(spec.storage, '10Gi')],
      resources: { cpu: '50m', memory },
    },
  }),
});

const memory = '512Mi';

function configuration({ spec }: Context<RabbitMQ>): string {
  return `listeners.tcp.default = 5672
management.tcp.port = 15672
prometheus.tcp.port = 15692
load_definitions = /etc/openstack/definitions.json
# Every queue is replicated as soon as there is more than one member; clients ask for it as well.
default_queue_type = quorum
# Stops publishers before the container is killed: RabbitMQ would count the node's memory.
total_memory_available_override_value = ${memoryLimit(spec)}
disk_free_limit.absolute = 500MB
# The write-ahead log of quorum queues is in memory as well; 512 MiB by default.
raft.wal_max_size_bytes = 64000000
log.console = true
log.console.level = info
log.file = false
`;
}

/**
 * Bytes that the broker may use: the container's limit; where users set resources without one, what they request, and
 * what the default limit grants at least.
 */
function memoryLimit({ components, resources }: RabbitMQ['spec']): number {
  const own = components?.server?.resources ?? resources;
  const least = bytesOf(memoryLimitOf(memory)) ?? 0;
  return bytesOf(own?.limits?.['memory'] ?? '') ?? Math.max(bytesOf(own?.requests?.['memory'] ?? '') ?? 0, least);
}

function definitions({ spec, named }: Context<RabbitMQ>): string {
  const secret = spec.credentialsSecretName ?? named('credentials');
  const name = secretReference(secret, 'username', 'quoted');
  const document = {
    users: [{ name, password: secretReference(secret, 'password', 'quoted'), tags: ['administrator'] }],
    vhosts: [{ name: '/' }],
    permissions: [{ user: name, vhost: '/', configure: '.*', write: '.*', read: '.*' }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Is there until the broker's first start is complete. */
const firstStart = '/var/lib/rabbitmq/first-start';

const start = `# Erlang wants its cookie as a file that only its owner can read.
cookie=/var/lib/rabbitmq/.erlang.cookie
umask 077
rm -f "$cookie"
cat /etc/openstack/erlang-cookie/cookie > "$cookie"
chmod 400 "$cookie"
# Some container runtimes grant a billion open files, for which Erlang makes tables, others a thousand.
ulimit -n 65536 2> /dev/null || ulimit -Sn "$(ulimit -Hn)"
# A broker that ends while it makes its tables waits for the missing ones at every later start. Until its first start is
# complete nobody has been served, and it begins anew.
first=${firstStart}
if [ -e "$first" ] || [ ! -e "$RABBITMQ_MNESIA_BASE" ]; then
  touch "$first"
  rm -rf "\${RABBITMQ_MNESIA_BASE:?}"
  { until rabbitmqctl -q await_startup > /dev/null 2>&1; do sleep 1; done; rm "$first"; } &
fi
exec /usr/lib/rabbitmq/bin/rabbitmq-server
`;
