import { bytesOf } from '../../engine/names/quantity.ts';
import { memoryLimitOf } from '../../engine/objects/pod.ts';
import { certificateFiles, certificateMount, serverCertificate } from '../../engine/vocabulary/certificate.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { secretReference } from '../../oslo/references.ts';
import { dataClaim } from '../data-claim.ts';
import { lastingQuorum, rememberedQuorum, shrinking } from '../quorum-size.ts';
import { brokerAddress, brokerPorts, externalBroker } from './address.ts';
import { clusterSize, member } from './cluster.ts';
import { RabbitMQ } from './kind.ts';
import { brokerRecords } from './records.ts';
import { firstStart, startSingle } from './start.ts';

const tlsPorts = { amqps: brokerPorts.tls.amqp, 'management-tls': brokerPorts.tls.management };

/** What decides how clients connect. */
const tlsField = 'spec.tls of the RabbitMQ, or caSecretName of an external one';

/**
 * A RabbitMQ broker on a volume of its own, or a cluster of several (cluster.ts).
 *
 * Its node is named after the pod's full name from the first day: `rabbit@localhost` could never become a member of a
 * cluster (production rule 26). The administrator comes from definitions that are loaded at every start, so that a
 * renewed Secret takes effect with the restart that its digest causes; users of services are records, and never in
 * there, because definitions would bring back what was rotated. Erlang reads a renewed certificate by itself within two
 * minutes.
 */
export const rabbitmq = defineService<RabbitMQ>({
  kind: RabbitMQ,
  offers: {
    messageQueueRef: {
      capability: 'broker',
      address: brokerAddress,
      external: externalBroker,
      keeps: brokerRecords,
      clientOptions: [
        { section: 'DEFAULT', fields: { transport_url: 'spec.messageQueueRef or spec.messageQueue' } },
        { section: 'oslo_messaging_rabbit', fields: { ssl: tlsField, ssl_ca_file: tlsField } },
      ],
    },
  },
  child: { field: 'rabbitmq', phase: 'Infrastructure', description: 'The message broker.' },
  name: 'rabbitmq',
  user: 'rabbitmq',
  dependsOn: {},
  retainedSecrets: ['credentials', 'erlang-cookie'],
  secrets: (context) => [
    serverCertificate(context, ['']),
    ...(context.spec.credentialsSecretName === undefined
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
  problems: (context) => shrinking(context, 'the queues'),
  lasting: (context) => lastingQuorum(context, clusterSize(context), 'a RabbitMQ cluster'),
  remembers: (context) => rememberedQuorum(context, clusterSize(context)),
  config: (context) => ({
    main: {
      '/etc/rabbitmq/rabbitmq.conf': configuration(context),
      '/etc/rabbitmq/enabled_plugins': '[rabbitmq_management,rabbitmq_prometheus].\n',
      '/etc/openstack/definitions.json': definitions(context),
    },
  }),
  components: (context) => {
    const { spec, named, host } = context;
    const size = clusterSize(context);
    const server: Component = {
      workload: 'StatefulSet',
      suffix: '',
      image: 'rabbitmq',
      runs: { script: startSingle },
      ports: { ...brokerPorts.clear, ...tlsPorts, prometheus: 15_692 },
      // nova-compute has the address of its node.
      reachable: ['amqp', 'amqps'],
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
        certificateMount(context),
      ],
      claims: [dataClaim(spec.storage, '10Gi')],
      resources: { cpu: '50m', memory },
    };
    return { server: size === undefined ? server : { ...server, ...member(context, size, server) } };
  },
});

const memory = '512Mi';

function configuration(context: Context<RabbitMQ>): string {
  const { spec } = context;
  const { clear, tls } = brokerPorts;
  return `listeners.tcp.default = ${clear.amqp}
listeners.ssl.default = ${tls.amqp}
ssl_options.certfile = ${certificateFiles.certificate}
ssl_options.keyfile = ${certificateFiles.key}
management.tcp.port = ${clear.management}
management.ssl.port = ${tls.management}
management.ssl.certfile = ${certificateFiles.certificate}
management.ssl.keyfile = ${certificateFiles.key}
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
${clusterSize(context) === undefined ? '' : 'cluster_partition_handling = pause_minority\n'}`;
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
