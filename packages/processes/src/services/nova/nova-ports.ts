import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { endpointFilter, httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { hostOf } from './nova-service.ts';
import { plug } from './nova-spawn.ts';

/** Ids of a server's ports, by Nova's own user. @throws PythonError */
export async function portsOf(context: ServiceContext, uuid: string): Promise<readonly string[]> {
  const { session, base } = await network(context);
  const reply = await session.request('GET', `${base}/v2.0/ports?device_id=${uuid}`);
  if (reply.status >= 400) throw httpError(reply, '0');
  const { ports = [] } = JSON.parse(reply.body ?? '{}') as { ports?: readonly Row[] };
  return ports.map(({ id }) => String(id));
}

/** Binds ports of a server that has come to this host here, and plugs them. @throws PythonError */
export async function takePorts(context: ServiceContext, uuid: string, ports: readonly string[]): Promise<void> {
  const { session, base } = await network(context);
  for (const id of ports) {
    const port = { 'binding:host_id': hostOf(context) };
    const reply = await session.request('PUT', `${base}/v2.0/ports/${id}`, { port });
    if (reply.status >= 400) throw httpError(reply, '0');
    await plug(context, uuid, id);
  }
}

async function network({ process, config }: ServiceContext) {
  const session = new KeystoneSession(process, config, 'neutron');
  return { session, base: await session.endpoint(endpointFilter(config, 'neutron', 'network')) };
}
