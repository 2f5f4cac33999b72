import { uuid } from '@openstack-operator/kube';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { endpointOf, httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import type { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import type { RequestContext } from './user-client.ts';

/** Asks Cinder, and gives what it answers. @throws PythonError of keystoneauth, such as http.NotFound */
export type AskCinder = (method: string, path: string, body?: object) => Promise<Row>;

/**
 * Cinder in the name of who asks Nova, whose own user stands beside; without anybody who asks in the name of `[cinder]`
 * (nova.volume.cinder.cinderclient).
 */
export function cinderClient({ process, config }: ServiceContext, user: RequestContext | undefined): AskCinder {
  const session = new KeystoneSession(process, config, 'cinder');
  const [type = '', , kind = ''] = config.text('cinder', 'catalog_info').split(':');
  const region = config.optional('cinder', 'os_region_name');
  const at = { type, interfaces: [kind.replace('URL', '')], region };
  return async (method, path, body) => {
    const base = user === undefined ? await session.endpoint(at) : endpointOf(user.catalog, at);
    const headers: Record<string, string> = { 'openstack-api-version': 'volume 3.44' };
    headers['x-auth-token'] = user?.token ?? (await session.token()).id;
    if (config.boolean('service_user', 'send_service_user_token'))
      headers['x-service-token'] = (await new KeystoneSession(process, config, 'service_user').token()).id;
    const reply = await session.send(method, `${base}${path}`, headers, body);
    if (reply.status >= 400) throw httpError(reply, uuid(process.random));
    return JSON.parse(reply.body || '{}') as Row;
  };
}

/** Whether Cinder says that something is not there, or refuses it. */
export const says = (error: PythonError, name: 'NotFound' | 'BadRequest' | 'HttpError'): boolean =>
  error.type === `keystoneauth1.exceptions.http.${name}`;
