import type { HttpReply } from '@openstack-operator/sandbox';
import type { Identity } from '../../oslo/auth-token.ts';
import { type Catalog, endpointFilter, endpointOf, KeystoneSession } from '../../oslo/keystone-session.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

/** The user's request as it travels with RPC messages: Nova's request context. */
export interface RequestContext {
  readonly token: string;
  readonly project: string | undefined;
  readonly catalog: Catalog;
}

/** Who calls, as messages carry it. */
export function userOf({ token, projectId, catalog }: Identity): RequestContext {
  return { token, project: projectId, catalog };
}

/**
 * Calls another service as the user who called Nova: with the user's token, the endpoint of the user's catalogue, and
 * (with `[service_user] send_service_user_token`) a token of Nova's own user beside it.
 * @throws PythonError of keystoneauth
 */
export async function callAsUser(
  { process, config }: ServiceContext,
  user: RequestContext,
  { group, service, path }: { group: string; service: string; path: string },
): Promise<HttpReply> {
  const base = endpointOf(user.catalog, endpointFilter(config, group, service));
  const headers: Record<string, string> = { 'x-auth-token': user.token };
  const session = new KeystoneSession(process, config, 'service_user');
  if (config.boolean('service_user', 'send_service_user_token'))
    headers['x-service-token'] = (await session.token()).id;
  return session.send('GET', `${base}${path}`, headers);
}
