import { createHmac } from 'node:crypto';
import { type Connection, type HttpMessage, type HttpReply, SystemError } from '@openstack-operator/sandbox';
import { headerOf, plain } from '../../http.ts';
import { mapOf, rowsIn } from '../../infrastructure/ovsdb.ts';
import { errno, PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { connectHttp, MissingAuthorityError, UntrustedServerError } from '../../tls.ts';

const logger = 'neutron.agent.ovn.metadata.server';

/**
 * A guest's question, as the proxy in its network's namespace hands it on (with X-OVN-Network-ID and X-Forwarded-For):
 * asked of Nova, signed for the guest. Addresses are not modelled: it is the network's guest on this chassis.
 */
export async function answerGuest(
  { process, config, log }: ServiceContext,
  southbound: Connection,
  request: HttpMessage,
): Promise<HttpReply> {
  const network = headerOf(request, 'X-OVN-Network-ID') ?? '';
  const guest = (await rowsIn(southbound, 'OVN_Southbound', 'Port_Binding'))
    .filter((row) => row['up'] === true)
    .map((row) => mapOf(row, 'external_ids'))
    .find((ids) => ids['neutron:network_name'] === `neutron-${network}` && ids['neutron:device_id']);
  if (guest === undefined) return plain(404, '404 Not Found\n\nThe resource could not be found.');
  const instance = guest['neutron:device_id'] ?? '';
  const secret = config.text('DEFAULT', 'metadata_proxy_shared_secret');
  const host = config.text('DEFAULT', 'nova_metadata_host');
  const port = config.integer('DEFAULT', 'nova_metadata_port');
  const protocol = config.text('DEFAULT', 'nova_metadata_protocol');
  try {
    const authority = config.text('DEFAULT', 'auth_ca_cert') || undefined;
    const connection = await connectHttp(process, { scheme: protocol, host, port }, authority);
    const headers = {
      'x-forwarded-for': headerOf(request, 'X-Forwarded-For') ?? '',
      'x-instance-id': instance,
      'x-tenant-id': guest['neutron:project_id'] ?? '',
      'x-instance-id-signature': createHmac('sha256', secret).update(instance).digest('hex'),
    };
    const reply = (await connection.call({ method: 'GET', path: request.path, headers, body: '' })) as HttpReply;
    connection.close();
    if (reply.status === 403)
      log.warning(
        logger,
        'The remote metadata server responded with Forbidden. This response usually occurs when shared secrets do not match.',
      );
    return reply;
  } catch (error) {
    log.exception(logger, 'Unexpected error.', failure(error));
    return plain(500, 'An unknown error has occurred. Please try your request again.');
  }
}

/** What the library requests makes of it. @throws unknown what is none of its errors */
function failure(error: unknown): PythonError {
  if (error instanceof UntrustedServerError)
    return new PythonError('requests.exceptions.SSLError', `SSLCertVerificationError(1, '${error.message}')`);
  if (error instanceof MissingAuthorityError)
    return new PythonError(
      'OSError',
      `Could not find a suitable TLS CA certificate bundle, invalid path: ${error.message}`,
    );
  if (error instanceof SystemError) return new PythonError('requests.exceptions.ConnectionError', errno(error));
  throw error;
}
