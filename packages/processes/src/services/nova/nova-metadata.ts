import { createHmac } from 'node:crypto';
import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { headerOf, locationOf, plain } from '../../http.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Cache } from '../../oslo/cache.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { registerApi } from './nova-api.ts';
import { findInstance } from './nova-instances.ts';

/** `nova.wsgi.metadata:application`: answers agents that sign for their guests with the shared secret. */
export async function serveMetadata(context: ServiceContext): Promise<WsgiHandler> {
  await registerApi(context, 'metadata');
  void new Cache(context.process, context.config);
  return (request) => metadata(context, request);
}

async function metadata(context: ServiceContext, request: HttpMessage): Promise<HttpReply> {
  const { config, log } = context;
  const { path } = locationOf(request);
  if (path === '/' || path === '') return plain(200, ['1.0', '2009-04-04', 'latest'].join('\n'));
  if (!config.boolean('neutron', 'service_metadata_proxy')) return plain(404, 'Not Found');
  const names = ['X-Instance-ID', 'X-Instance-ID-Signature', 'X-Tenant-ID'];
  const missing = names.find((name) => headerOf(request, name) === undefined);
  if (missing !== undefined) return plain(400, `${missing} header is missing from request.`);
  const instance = headerOf(request, 'X-Instance-ID') ?? '';
  const signature = headerOf(request, 'X-Instance-ID-Signature') ?? '';
  const secret = config.text('neutron', 'metadata_proxy_shared_secret');
  const expected = createHmac('sha256', secret).update(instance).digest('hex');
  if (signature !== expected) {
    log.warning(
      'nova.api.metadata.handler',
      `X-Instance-ID-Signature: ${signature} does not match the expected value: ${expected} for id: ${instance}. Request From: ${headerOf(request, 'X-Forwarded-For') ?? 'None'}`,
    );
    return plain(403, 'Invalid proxy request signature.');
  }
  const found = await findInstance(context, instance);
  return found === undefined
    ? plain(404, 'Not Found')
    : plain(200, `instance-id: ${instance}\nhostname: ${String(found.row['display_name'])}`);
}
