import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { PlacementClient } from './placement-client.ts';

/** `POST /os-aggregates/ID/action`: `remove_host`, or `add_host`, which Placement is told of with Nova's own user. */
export async function changeHosts(context: ServiceContext, { id = '', body, store }: Call): Promise<HttpReply> {
  const { add_host: added, remove_host: removed } = body as Partial<Record<string, { host: string }>>;
  const host = (added ?? removed)?.host ?? '';
  const found = await store((schema) => {
    const row = tableOf(schema, 'aggregates').get(id);
    if (row === undefined || !tableOf(schema, 'host_mappings').has(host)) return undefined;
    const others = (row['hosts'] as string[]).filter((one) => one !== host);
    row['hosts'] = added === undefined ? others : [...others, host];
    return { ...row };
  });
  if (found === undefined) throw new Fault(404, `Compute host ${host} could not be found.`);
  if (added === undefined) return json(200, { aggregate: found });
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
