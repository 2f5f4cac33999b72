import type { Process } from '@openstack-operator/sandbox';
import { CommandError } from '../program-support.ts';

/** A node's settings: configuration files and environment. */
export interface RabbitmqSettings {
  readonly nodeName: string;
  readonly longNames: boolean;
  readonly home: string;
  readonly dataDirectory: string;
  readonly plugins: readonly string[];
  /** `rabbitmq.conf`: key -> value. */
  get(key: string): string | undefined;
  readonly keys: readonly string[];
  /** An environment variable, `RABBITMQ_` in front; also from rabbitmq-env.conf. */
  environment(name: string): string | undefined;
}

/** Keys of rabbitmq.conf (cuttlefish schema of 4.0): whole, or what stands before the first dot. */
const sections: ReadonlySet<string> = new Set(
  `listeners num_acceptors handshake_timeout reverse_dns_lookups ssl_options ssl_handshake_timeout default_vhost default_user default_pass
  default_user_tags default_permissions default_users default_policies default_limits definitions load_definitions loopback_users
  auth_backends auth_mechanisms auth_ldap auth_oauth2 auth_http auth_cache password_hashing_module heartbeat frame_max channel_max
  channel_max_per_node session_max_per_connection link_max_per_session connection_max tcp_listen_options vm_memory_high_watermark
  vm_memory_high_watermark_paging_ratio vm_memory_calculation_strategy memory_monitor_interval total_memory_available_override_value
  disk_free_limit cluster_partition_handling cluster_keepalive_interval cluster_formation cluster_name cluster_tags cluster_queue_limit
  collect_statistics collect_statistics_interval management management_agent prometheus log queue_leader_locator queue_index_embed_msgs_below
  mnesia_table_loading_retry_timeout mnesia_table_loading_retry_limit background_gc_enabled background_gc_target_interval proxy_protocol
  consumer_timeout deprecated_features raft quorum_queue quorum_commands_soft_limit quorum_cluster_size quorum_membership default_queue_type
  max_message_size stream mqtt stomp web_mqtt web_stomp shovel federation statistics vhost_max node_queue_limit message_store_shutdown_timeout
  distribution erlang net_ticktime motd product credential_validator anonymous_login_user anonymous_login_pass msg_store_file_size_limit
  classic_queue trace_files_directory feature_flags include_result_details peer_discovery ra lazy_queue_explicit_gc_run_operation_threshold
  queue_explicit_gc_run_operation_threshold`.split(/\s+/),
);

const listener = 'ip|port|compress|idle_timeout|inactivity_timeout|request_timeout|shutdown_timeout|max_keepalive';

/** What may follow the first word, for sections whose keys are known one by one; the others take what comes. */
const keysOf: Readonly<Record<string, RegExp>> = {
  default_queue_type: /^$/,
  disk_free_limit: /^(relative|absolute)$/,
  load_definitions: /^$/,
  log: /^(dir|[a-z]+\.level|(console|file|exchange|syslog|journald)(\.(formatter(\..*)?|rotation\..*|[a-z_]+\.[a-z_.]+|use_file_logging|stdio|identity|facility|transport|protocol|ip|host|port))?)$/,
  management: new RegExp(
    `^((tcp|ssl|http)\\.(${listener}|[a-z_]+file|verify|fail_if_no_peer_cert|versions|ciphers)(\\..*)?|load_definitions|rates_mode|path_prefix|disable_stats|enable_queue_totals|login_session_timeout|cors\\..*|csp\\..*|hsts\\..*|headers\\..*|sample_retention_policies\\..*|db_cache_multiplier|oauth_.*|listener\\..*|http_log_dir|restrictions\\..*|require_auth_for_api_reference|delegate_count|process_stats_gc_timeout)$`,
  ),
  prometheus: new RegExp(
    `^((tcp|ssl)\\.(${listener}|[a-z_]+file|verify|versions|ciphers)(\\..*)?|path|return_per_object_metrics|filter_aggregated_queue_metrics_pattern)$`,
  ),
  total_memory_available_override_value: /^$/,
  vm_memory_high_watermark: /^(relative|absolute)$/,
};

function isKey(key: string): boolean {
  const [section = '', ...rest] = key.split('.');
  return sections.has(section) && (keysOf[section]?.test(rest.join('.')) ?? true);
}

/** @throws CommandError when a file cannot be used: the node does not start */
export function readRabbitmqSettings(process: Process): RabbitmqSettings {
  const { env, files } = process;
  const shell = new Map<string, string>();
  const environmentFile = env['RABBITMQ_CONF_ENV_FILE'] ?? '/etc/rabbitmq/rabbitmq-env.conf';
  if (files.exists(environmentFile)) {
    for (const line of files.read(environmentFile).split('\n')) {
      const match = /^\s*(?:export\s+)?(?:RABBITMQ_)?(\w+)=["']?([^"'\n]*)["']?\s*$/.exec(line);
      if (match) shell.set(match[1] as string, match[2] as string);
    }
  }
  const environment = (name: string): string | undefined => env[`RABBITMQ_${name}`] ?? shell.get(name);
  const home = env['HOME'] ?? '/var/lib/rabbitmq';
  const longNames = environment('USE_LONGNAME') === 'true';
  const host = longNames ? process.pod.hostname : (process.pod.hostname.split('.')[0] ?? 'localhost');
  const given = environment('NODENAME') ?? 'rabbit';
  const nodeName = given.includes('@') ? given : `${given}@${host}`;
  const base = environment('MNESIA_BASE') ?? '/var/lib/rabbitmq/mnesia';
  const values = readConf(process, environment('CONFIG_FILE'), environment('CONFIG_FILES'));
  return {
    nodeName,
    longNames,
    home,
    dataDirectory: environment('MNESIA_DIR') ?? `${base}/${nodeName}`,
    plugins: pluginsOf(process, environment('ENABLED_PLUGINS_FILE') ?? '/etc/rabbitmq/enabled_plugins'),
    get: (key) => values.get(key),
    keys: [...values.keys()],
    environment,
  };
}

function readConf(process: Process, given: string | undefined, further: string | undefined): Map<string, string> {
  const { files } = process;
  const main = given === undefined ? '/etc/rabbitmq/rabbitmq.conf' : given.endsWith('.conf') ? given : `${given}.conf`;
  const directory = '/etc/rabbitmq/conf.d';
  const more = files.exists(directory)
    ? files
        .list(directory)
        .filter((name) => name.endsWith('.conf'))
        .map((name) => `${directory}/${name}`)
    : [];
  const values = new Map<string, string>();
  for (const file of [main, ...(further === undefined ? more : [further])].filter((path) => files.exists(path))) {
    for (const [index, raw] of files.read(file).split('\n').entries()) {
      const line = raw.replace(/(^|\s)#.*$/, '').trim();
      if (line === '') continue;
      const match = /^([\w.$/-]+)\s*=\s*(.*)$/.exec(line);
      if (match === null)
        return fail(`Error preparing configuration in phase load:`, `${file}: Syntax error in line ${index + 1}`);
      const [, key = '', value = ''] = match;
      if (!isKey(key)) {
        return fail(
          'Error preparing configuration in phase transform_datatypes:',
          `  - Conf file attempted to set unknown variable: ${key}`,
          `You've tried to set ${key}, but there is no setting with that name.`,
        );
      }
      values.set(key, value.replace(/^'(.*)'$/, '$1'));
    }
  }
  return values;
}

function fail(...lines: readonly string[]): never {
  const said = lines.map((line) => `[error] <0.254.0> ${line}`).join('\n');
  throw new CommandError(`${said}\n\n${startupError('failed_to_prepare_configuration').message}`);
}

/** How a node ends that does not start; `reason` as Erlang's term. */
export function startupError(reason: string): CommandError {
  return new CommandError(`BOOT FAILED\n===========\nError during startup: {error,${reason}}`);
}

/** `[rabbitmq_management,rabbitmq_prometheus].` */
function pluginsOf(process: Process, path: string): string[] {
  if (!process.files.exists(path)) return [];
  const match = /^\s*\[([^\]]*)\]\s*\.\s*$/.exec(process.files.read(path));
  if (match === null) throw startupError(`{cannot_read_enabled_plugins_file,"${path}"}`);
  return (match[1] as string)
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
