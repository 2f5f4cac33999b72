import type { Clock } from '../base/clock.ts';
import type { Headers } from '../client/exchange.ts';
import { ConfigError } from '../objects/errors.ts';
import { parseServer } from '../transport/connection.ts';
import { cachedFile } from './cached-file.ts';
import {
  authenticator,
  type CredentialSource,
  fileMaterial,
  fixedCredentials,
  fixedMaterial,
  type Material,
  tlsFrom,
  tokenFile,
} from './credentials.ts';
import { type ExecPlugin, execApiVersions, execCredentials } from './exec-plugin.ts';
import {
  besides,
  type Entry,
  flag,
  type Kubeconfig,
  mapping,
  mappings,
  text,
  texts,
  whereIs,
} from './kubeconfig-file.ts';
import type { ServerAccess } from './server-access.ts';

/** What a kubeconfig takes from the process. */
export interface KubeconfigOptions {
  /** The context to use; default: the file's current one. */
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Whether exec plugins may ask at the terminal. */
  readonly interactive: boolean;
}

/**
 * How to reach the server of a kubeconfig's context, and as whom.
 * @throws ConfigError that names the file, the entry, the field and the way out
 */
export async function accessOf(config: Kubeconfig, options: KubeconfigOptions): Promise<ServerAccess> {
  const context = contextOf(config, options.context);
  const cluster = referenced(config.clusters, context, 'cluster');
  const user = referenced(config.users, context, 'user');
  const server = text(cluster, 'server');
  if (server === undefined) {
    throw new ConfigError(`${whereIs(cluster, 'server')}: expected the URL of the API server`);
  }
  within(whereIs(cluster, 'server'), () => parseServer(server));
  const proxy = text(cluster, 'proxy-url');
  const serverName = text(cluster, 'tls-server-name');
  const insecure = flag(cluster, 'insecure-skip-tls-verify');
  const ca = material(cluster, 'certificate-authority', options.clock);
  if (insecure && ca) {
    throw new ConfigError(`${whereIs(cluster, 'insecure-skip-tls-verify')}: remove it, or ${ca.where}: not both`);
  }
  const cert = material(user, 'client-certificate', options.clock);
  const key = material(user, 'client-key', options.clock);
  if (!cert !== !key) {
    const missing = cert ? 'client-key' : 'client-certificate';
    throw new ConfigError(`${whereIs(user, missing)}: expected, for ${(cert ?? key)?.where} is of no use alone`);
  }
  const credentials = credentialsOf(user, options, {
    server,
    'tls-server-name': serverName,
    'insecure-skip-tls-verify': insecure || undefined,
    'certificate-authority-data': ca && Buffer.from(await ca.read()).toString('base64'),
    'proxy-url': proxy,
    config: clusterExtension(cluster),
  });
  const tls = tlsFrom({
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
    credentials,
    fixed: { ...(serverName === undefined ? {} : { serverName }), ...(insecure ? { insecure } : {}) },
  });
  // A plugin may ask somebody to log in: it runs when there is something to ask the server for.
  if (mapping(user, 'exec') === undefined) await tls();
  return {
    server,
    namespace: text(context, 'namespace') ?? 'default',
    ...(proxy === undefined ? {} : { proxy }),
    tls,
    authenticate: authenticator(credentials, impersonation(user)),
  };
}

function contextOf(config: Kubeconfig, wanted: string | undefined): Entry {
  const files = config.files.join(', ');
  const name = wanted ?? config.currentContext;
  const known = [...config.contexts.keys()].join(', ') || 'none';
  if (name === undefined) {
    throw new ConfigError(
      `kubeconfig ${files}: current-context is not set; set it, or name a context (known: ${known})`,
    );
  }
  const context = config.contexts.get(name);
  if (context === undefined) {
    throw new ConfigError(`kubeconfig ${files}: there is no context ${JSON.stringify(name)} (known: ${known})`);
  }
  return context;
}

function referenced(entries: ReadonlyMap<string, Entry>, context: Entry, field: 'cluster' | 'user'): Entry {
  const name = text(context, field);
  // A context without a user is anonymous.
  if (name === undefined && field === 'user') return { ...context, path: `${context.path}.user`, fields: {} };
  const entry = name === undefined ? undefined : entries.get(name);
  if (entry !== undefined) return entry;
  const known = [...entries.keys()].join(', ') || 'none';
  throw new ConfigError(
    `${whereIs(context, field)}: there is no ${field} ${JSON.stringify(name ?? '')} (known: ${known})`,
  );
}

/** `name-data` (base64) wins over the file `name`, as in kubectl. */
function material(entry: Entry, name: string, clock: Clock): Material | undefined {
  const data = text(entry, `${name}-data`);
  if (data !== undefined) {
    const where = whereIs(entry, `${name}-data`);
    return fixedMaterial(where, Buffer.from(data, 'base64').toString('utf8'));
  }
  const path = text(entry, name);
  if (path === undefined) return undefined;
  return fileMaterial(whereIs(entry, name), cachedFile(besides(entry, path), clock));
}

function credentialsOf(
  user: Entry,
  options: KubeconfigOptions,
  cluster: Readonly<Record<string, unknown>>,
): CredentialSource {
  const provider = mapping(user, 'auth-provider');
  if (provider) {
    throw new ConfigError(
      `${whereIs(user, 'auth-provider')}: ${text(provider, 'name') ?? 'auth providers'} is not supported ` +
        '(Kubernetes removed it in 1.26); use an exec plugin or a token',
    );
  }
  const exec = mapping(user, 'exec');
  const username = text(user, 'username');
  const token = text(user, 'token');
  const path = text(user, 'tokenFile');
  const methods = { exec, username, token: token ?? path };
  const found = Object.entries(methods).filter(([, value]) => value !== undefined);
  if (found.length > 1) {
    const names = found.map(([name]) => name).join(' and ');
    throw new ConfigError(`${user.file}: ${user.path}: found ${names}; expected one way to log in: remove the others`);
  }
  if (exec) return execCredentials(pluginOf(exec, cluster), options);
  if (path) return tokenFile(cachedFile(besides(user, path), options.clock), whereIs(user, 'tokenFile'));
  if (token) return fixedCredentials({ token });
  return fixedCredentials(username === undefined ? {} : { username, password: text(user, 'password') ?? '' });
}

function pluginOf(exec: Entry, cluster: Readonly<Record<string, unknown>>): ExecPlugin {
  const command = text(exec, 'command');
  if (command === undefined) {
    throw new ConfigError(`${whereIs(exec, 'command')}: expected the command that prints credentials`);
  }
  const apiVersion = execApiVersions.find((version) => version === text(exec, 'apiVersion'));
  if (apiVersion === undefined) {
    throw new ConfigError(
      `${whereIs(exec, 'apiVersion')}: ${JSON.stringify(text(exec, 'apiVersion') ?? '')}: ` +
        `expected ${execApiVersions.join(' or ')}; a newer release of ${command} may offer one of them`,
    );
  }
  const mode = text(exec, 'interactiveMode') ?? 'IfAvailable';
  if (mode !== 'Never' && mode !== 'IfAvailable' && mode !== 'Always') {
    throw new ConfigError(`${whereIs(exec, 'interactiveMode')}: ${mode}: expected Never, IfAvailable or Always`);
  }
  const installHint = text(exec, 'installHint');
  return {
    where: `${exec.file}: ${exec.path}`,
    apiVersion,
    // As a shell takes it: with a slash it is a path, else it is looked for.
    command: command.includes('/') ? besides(exec, command) : command,
    args: texts(exec, 'args'),
    env: Object.fromEntries(
      mappings(exec, 'env').map((variable) => [text(variable, 'name') ?? '', text(variable, 'value') ?? '']),
    ),
    ...(installHint === undefined ? {} : { installHint }),
    interactiveMode: mode,
    ...(flag(exec, 'provideClusterInfo') ? { cluster } : {}),
  };
}

/** What the cluster's entry has for exec plugins: its extension of this name. */
function clusterExtension(cluster: Entry): unknown {
  return mappings(cluster, 'extensions').find((entry) => text(entry, 'name') === 'client.authentication.k8s.io/exec')
    ?.fields['extension'];
}

function impersonation(user: Entry): Headers {
  const name = text(user, 'as');
  const groups = texts(user, 'as-groups');
  const uid = text(user, 'as-uid');
  const extra = mapping(user, 'as-user-extra');
  const more = Object.keys(extra?.fields ?? {});
  if (name === undefined && (groups.length > 0 || uid !== undefined || more.length > 0)) {
    throw new ConfigError(
      `${whereIs(user, 'as')}: expected a user name, for as-groups, as-uid and as-user-extra need it`,
    );
  }
  return {
    ...(name === undefined ? {} : { 'impersonate-user': name }),
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...Object.fromEntries(
      more.map((key) => [`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`, texts(extra as Entry, key)]),
    ),
  };
}

function within<R>(where: string, parse: () => R): R {
  try {
    return parse();
  } catch (cause) {
    throw new ConfigError(`${where}: ${(cause as Error).message}`, { cause });
  }
}
