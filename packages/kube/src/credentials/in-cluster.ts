import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { ConfigError } from '../objects/errors.ts';
import { cachedFile } from './cached-file.ts';
import { authenticator, fileMaterial, fixedCredentials, tlsFrom, tokenFile } from './credentials.ts';
import type { ServerAccess } from './server-access.ts';

/** Where the kubelet mounts a pod's service account. */
export const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What a pod knows. */
export interface InClusterOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly directory?: string;
}

/** Whether this process runs in a pod that was told of its API server. */
export function isInCluster({ env }: Pick<InClusterOptions, 'env'>): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST'] && env['KUBERNETES_SERVICE_PORT']);
}

/**
 * How a pod reaches its API server, as its service account; the token and the authority are read anew every minute.
 * @throws ConfigError when this is no pod, or one without a service account token
 */
export async function inClusterAccess(options: InClusterOptions): Promise<ServerAccess> {
  const { env, clock, directory = serviceAccountDirectory } = options;
  if (!isInCluster(options)) {
    throw new ConfigError(
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no pod; use a kubeconfig',
    );
  }
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const tokenPath = join(directory, 'token');
  const token = tokenFile(cachedFile(tokenPath, clock), tokenPath);
  try {
    await token.current();
  } catch (cause) {
    const way = 'give the pod a service account token (automountServiceAccountToken), or use a kubeconfig';
    throw new ConfigError(`${(cause as Error).message}; ${way}`, { cause });
  }
  const caPath = join(directory, 'ca.crt');
  const tls = tlsFrom({
    ca: fileMaterial(caPath, cachedFile(caPath, clock)),
    credentials: fixedCredentials({}),
    fixed: {},
  });
  const namespacePath = join(directory, 'namespace');
  const namespace = await fileMaterial(namespacePath, cachedFile(namespacePath, clock)).read();
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${env['KUBERNETES_SERVICE_PORT']}`,
    namespace: namespace.trim(),
    tls,
    authenticate: authenticator(token),
  };
}
