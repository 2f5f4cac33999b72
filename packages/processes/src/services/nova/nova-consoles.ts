import { type HttpMessage, type HttpReply, SystemError } from '@openstack-operator/sandbox';
import { headerOf, json, locationOf, plain } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { Fault } from '../../model/fault.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { inCell } from './nova-cells.ts';
import type { Hypervisor } from './nova-hypervisor.ts';
import { demandInstance } from './nova-instances.ts';
import type { NovaObjects } from './nova-objects.ts';

/** `POST /servers/ID/remote-consoles`: the compute makes a token, which its cell's proxy knows. */
export async function remoteConsole(context: ServiceContext, id: string): Promise<HttpReply> {
  const { cell, row } = await demandInstance(context, id);
  if (cell === undefined) throw new Fault(404, `Instance ${id} could not be found.`);
  try {
    const messaging = new Messaging(context, cell.transportUrl);
    const url = await messaging.call(`compute.${String(row['host'])}`, 'get_vnc_console', id);
    return json(200, { remote_console: { protocol: 'vnc', type: 'novnc', url } });
  } catch (error) {
    if (!(error instanceof PythonError) || !error.type.includes('ConsoleTypeUnavailable')) throw error;
    throw new Fault(400, error.message);
  }
}

/** The compute's part: where the guest's VNC server is, written down under a token. */
export async function vncConsole(
  { config }: ServiceContext,
  { objects, hypervisor }: { objects: NovaObjects; hypervisor: Hypervisor },
  id: string,
): Promise<string> {
  if (!config.boolean('vnc', 'enabled'))
    throw new PythonError('nova.exception.ConsoleTypeUnavailable', 'Unavailable console type novnc.');
  const port = await portOf(hypervisor, id);
  if (port === undefined)
    throw new PythonError('nova.exception.ConsoleTypeUnavailable', 'Unavailable console type vnc.');
  const host = config.text('vnc', 'server_proxyclient_address');
  const token = await objects.run<string>('console_token_create', { instance_uuid: id, host, port });
  return `${config.text('vnc', 'novncproxy_base_url')}?path=%3Ftoken%3D${token}`;
}

/** A guest's VNC port; undefined: it has none. */
export async function portOf(hypervisor: Hypervisor, id: string): Promise<number | undefined> {
  await hypervisor.facts();
  return (await hypervisor.libvirt?.domains())?.find(({ uuid }) => uuid === id)?.vncPort;
}

/**
 * A websocket to the proxy: the token stands in its cell's database, the compute says whether the port is still the
 * guest's, then bytes go to and fro (nova.console.websocketproxy).
 */
export async function openConsole(context: ServiceContext, request: HttpMessage): Promise<HttpReply> {
  const { process, config } = context;
  try {
    const token = locationOf(request).query.get('token') ?? '';
    const [console, server] = await inCell(context, undefined, 'SELECT', (schema) => {
      const row = tableOf(schema, 'console_auth_tokens').get(token);
      return [row, tableOf(schema, 'instances').get(String(row?.['instance_uuid']))];
    });
    const isValid = async ({ instance_uuid: instance, port }: Row): Promise<boolean> => {
      const compute = `compute.${String(server?.['host'])}`;
      return (await new Messaging(context).call(compute, 'validate_console_port', { instance, port })) === true;
    };
    if (console === undefined || !(await isValid(console)))
      throw new PythonError('nova.exception.InvalidToken', "The token '***' is invalid or has expired");
    demandOrigin(request, config.list('console', 'allowed_origins'));
    const target = await process.network.connect(String(console['host']), Number(console['port']), 'vnc');
    const body = String(await target.call(''));
    target.close();
    return { status: 101, headers: { upgrade: 'websocket' }, body };
  } catch (error) {
    if (error instanceof SystemError) return plain(500, `handler exception: ${error.reason}`);
    if (!(error instanceof PythonError)) throw error;
    context.log.exception('nova.console.websocketproxy', `handler exception: ${error.message}`, error);
    return plain(500, `handler exception: ${error.message}`);
  }
}

/** A browser's page must come from the proxy's own host, or from one that is allowed. @throws PythonError */
function demandOrigin(request: HttpMessage, allowed: readonly string[]): void {
  const origin = headerOf(request, 'origin');
  if (origin === undefined) return;
  const [host] = (headerOf(request, 'host') ?? '').split(':');
  const name = /^https?:\/\/([^/:]+)/.exec(origin)?.[1];
  if (name !== host && !allowed.some((one) => one === name))
    throw new PythonError('nova.exception.ValidationError', 'Origin header does not match this host.');
}
