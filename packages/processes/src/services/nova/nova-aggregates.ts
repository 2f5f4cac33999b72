import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { PlacementClient } from './placement-client.ts';

/** `POST /os-aggregates/ID/action` with `add_host`, which Placement is told of with Nova's own user. */
export async function addHost(context: ServiceContext, { id = '', body, store }: Call): Promise<HttpReply> {
  const { add_host: { host } = { host: '' } } = body as { add_host?: { host: string } };
  const found = await store((schema) => {
    const row = tableOf(schema, 'aggregates').get(id);
    if (row === undefined || !tableOf(schema, 'host_mappings').has(host)) return undefined;
    row['hosts'] = [...(row['hosts'] as string[]), host];
    return { ...row };
  });
  if (found === undefined) throw new Fault(404, `Compute host ${host} could not be found.`);
  try {
    await new PlacementClient(context).addToAggregate(host, String(found['uuid']));
  } catch (error) {
    if (!(error instanceof PythonError) || !error.type.startsWith('nova.exception.ResourceProvider')) throw error;
    context.log.warning(
      'nova.compute.api',
      `Failed to associate ${host} with a placement aggregate: ${error.message}. This may be corrected after running nova-manage placement sync_aggregates.`,
    );
  }
  return json(200, { aggregate: found });
}
