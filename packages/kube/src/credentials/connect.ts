import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Clock, realClock } from '../base/clock.ts';
import type { Client } from '../client/api.ts';
import { type ClientOptions, createClient } from '../client/client.ts';
import { ConfigError } from '../objects/errors.ts';
import { parseServer } from '../transport/connection.ts';
import { proxyFromEnvironment } from '../transport/proxy-environment.ts';
import type { Transport } from '../transport/transport.ts';
import { transportFor } from '../transport/transport-for.ts';
import { inClusterAccess, isInCluster } from './in-cluster.ts';
import { accessOf } from './kubeconfig.ts';
import { readKubeconfig } from './kubeconfig-file.ts';
import type { ServerAccess } from './server-access.ts';

/** Options of `connect`. */
export interface ConnectOptions extends Pick<ClientOptions, 'onWarning' | 'userAgent' | 'requestTimeout'> {
  /** Path of a kubeconfig. Default: the files of `KUBECONFIG`, else `~/.kube/config`, else the pod's service account. */
  readonly kubeconfig?: string;
  /** Context in the kubeconfig; default: its current one. */
  readonly context?: string;
  /** The environment: `process.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Puts something around the transport: `(transport, host) => meteredTransport(transport, metrics, host)`. */
  readonly wrap?: (transport: Transport, host: string) => Transport;
  /** Whether credential plugins may ask at the terminal. Default: no. */
  readonly interactive?: boolean;
}

/** A client and its server. */
export interface Connected {
  readonly client: Client;
  /** The context's namespace, or the pod's own. */
  readonly namespace: string;
  /** URL of the server. */
  readonly server: string;
}

/**
 * Makes a client as kubectl would: from a kubeconfig, or in a pod from its service account. Nothing is sent yet.
 * @throws ConfigError that names the file, the entry, the field and the way out
 *
 * @example
 * const { client, namespace } = await connect({ env: process.env });
 */
export async function connect(options: ConnectOptions): Promise<Connected> {
  const { env, clock = realClock } = options;
  const found = await findAccess({ ...options, clock });
  const { server, namespace, tls, authenticate } = found;
  const proxy = found.proxy ?? proxyFromEnvironment(server, env);
  const bare = transportFor({ server, clock, tls, ...(proxy === undefined ? {} : { proxy }) });
  const transport = options.wrap?.(bare, parseServer(server).host) ?? bare;
  return { client: createClient({ ...options, clock, transport, authenticate }), namespace, server };
}

async function findAccess({
  kubeconfig,
  context,
  env,
  clock,
  interactive = false,
}: ConnectOptions & { readonly clock: Clock }): Promise<ServerAccess> {
  const options = { context, env, clock, interactive };
  if (kubeconfig !== undefined) return accessOf(await readKubeconfig([kubeconfig]), options);
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return accessOf(await readKubeconfig(listed, { skipMissing: true }), options);
  const home = env['HOME'] ? join(env['HOME'], '.kube', 'config') : undefined;
  if (home !== undefined && (await exists(home))) return accessOf(await readKubeconfig([home]), options);
  if (isInCluster({ env })) return inClusterAccess({ env, clock });
  throw new ConfigError(
    `no Kubernetes cluster: KUBECONFIG is not set, ${home ?? '~/.kube/config'} does not exist, and this is no pod; ` +
      'name a kubeconfig',
  );
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
