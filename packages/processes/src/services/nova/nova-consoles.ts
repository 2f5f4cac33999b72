import {
  type Connection,
  type HttpMessage,
  type HttpReply,
  type Process,
  SystemError,
} from '@openstack-operator/sandbox';
import { readCertificate } from '../../certificates.ts';
import { headerOf, json, locationOf, plain } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { greeting, offeredBy, openScreen, ScreenClosedError, securityTypes } from '../../infrastructure/vnc.ts';
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
    try {
      await takeSecurity(context, target);
    } finally {
      target.close();
    }
    return { status: 101, headers: { upgrade: 'websocket' }, body: greeting };
  } catch (error) {
    if (error instanceof SystemError) return plain(500, `handler exception: ${error.reason}`);
    if (!(error instanceof PythonError)) throw error;
    context.log.exception('nova.console.websocketproxy', `handler exception: ${error.message}`, error);
    return plain(500, `handler exception: ${error.message}`);
  }
}

/**
 * The security that a guest's screen asks for, as far as `auth_schemes` goes (nova.console.securityproxy.rfb). With `vencrypt` the
 * proxy shows its certificate, where it has one. @throws PythonError, SystemError for files that are not there
 */
async function takeSecurity({ config, process }: ServiceContext, target: Connection): Promise<void> {
  const schemes = config.list('vnc', 'auth_schemes');
  const desired = schemes.map((scheme) => securityTypes[scheme as keyof typeof securityTypes]);
  const offered = await offeredBy(target);
  const type = offered.find((one) => desired.some((known) => known === one));
  if (type === undefined)
    throw new PythonError(
      'nova.exception.SecurityProxyNegotiationFailed',
      `Failed to negotiate security type with server: No compute auth available: No matching auth scheme: allowed types: '${desired.join(', ')}', desired types: '${offered.join(', ')}'`,
    );
  try {
    await openScreen(target, type, type === securityTypes.vencrypt ? shownBy(config, process) : undefined);
  } catch (error) {
    if (!(error instanceof ScreenClosedError)) throw error;
    throw new PythonError('ssl.SSLEOFError', error.message);
  }
}

/** The certificate of the proxy; undefined: it has none. @throws PythonError, SystemError */
function shownBy(config: ServiceContext['config'], { files }: Process): string | undefined {
  const path = (option: string) => config.text('vnc', option) || undefined;
  const paths = { certificate: path('vencrypt_client_cert'), key: path('vencrypt_client_key') };
  const authority = path('vencrypt_ca_certs');
  for (const file of [authority, paths.certificate, paths.key]) if (file !== undefined) files.read(file);
  if (paths.certificate === undefined || paths.key === undefined) return undefined;
  const read = readCertificate(files, paths);
  if (!('unusable' in read)) return read.pem;
  throw new PythonError('ssl.SSLError', '[SSL] PEM lib (_ssl.c:3917)');
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
