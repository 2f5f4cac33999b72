import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import type { RowUse } from '../../model/collection.ts';
import { Fault } from '../../model/fault.ts';
import type { CommandContext } from '../../model/program.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { gather, inApi } from './nova-cells.ts';
import { isUp } from './nova-service.ts';
import { PlacementClient } from './placement-client.ts';

/** `[DEFAULT] default_availability_zone`. */
const defaultZone = 'nova';

const hostsOf = (row: Row): string[] => row['hosts'] as string[];
const zoneIn = (rows: readonly Row[]): string | undefined =>
  rows.map((row) => row['availability_zone'] as string | null | undefined).find((zone) => zone != null) ?? undefined;

const aggregatesOf = (context: ServiceContext): Promise<Row[]> =>
  inApi(context, 'SELECT', (schema) => rowsOf(schema, 'aggregates').map((row) => ({ ...row })));

/** The zone of each host, by the aggregates that it is in. */
export async function zonesOfHosts(context: ServiceContext): Promise<(host: string) => string> {
  const aggregates = await aggregatesOf(context);
  return (host) => zoneIn(aggregates.filter((row) => hostsOf(row).includes(host))) ?? defaultZone;
}

/** `GET /os-availability-zone`. */
export async function listZones(context: ServiceContext): Promise<HttpReply> {
  const zones = await availableZones(context);
  return json(200, {
    availabilityZoneInfo: zones.map((zoneName) => ({ zoneName, zoneState: { available: true }, hosts: null })),
  });
}

/** Whether a server may ask for a zone. */
export const isZone = async (context: ServiceContext, zone: string): Promise<boolean> =>
  (await availableZones(context)).includes(zone);

/** Zones that have a host which is up and enabled. */
async function availableZones(context: ServiceContext): Promise<string[]> {
  const zoneOf = await zonesOfHosts(context);
  const services = await gather(context, (schema) => rowsOf(schema, 'services', { binary: 'nova-compute' }));
  const enabled = services.filter((row) => row['disabled'] !== true && isUp(context, row));
  return [...new Set(enabled.map((row) => zoneOf(String(row['host']))))];
}

/** Identifiers of the aggregates of a zone, by which Placement is asked (nova.scheduler.request_filter). */
export async function aggregatesIn(context: ServiceContext, zone: string): Promise<string[]> {
  return (await aggregatesOf(context))
    .filter((row) => row['availability_zone'] === zone)
    .map((row) => String(row['uuid']));
}

/** `POST /os-aggregates/ID/action`. */
export function actOnAggregate(context: ServiceContext, call: Call): Promise<HttpReply> {
  const { set_metadata: set } = call.body as { readonly set_metadata?: { readonly metadata: Row } };
  return set === undefined ? changeHosts(context, call) : setMetadata(call, set.metadata);
}

/** What nova.api.validation.parameter_types takes for a key. */
const metadataKey = /^[a-zA-Z0-9-_:. ]{1,255}$/;

/** `set_metadata`: what is null goes. */
function setMetadata({ id = '', store }: Call, metadata: Row): Promise<HttpReply> {
  const wrong = Object.keys(metadata).find((key) => !metadataKey.test(key));
  if (wrong !== undefined)
    throw new Fault(
      400,
      `Invalid input for field/attribute metadata. Value: ${JSON.stringify(metadata)}. '${wrong}' does not match any of the regexes`,
    );
  return store((schema) => {
    const row = tableOf(schema, 'aggregates').get(id);
    if (row === undefined) throw new Fault(404, `Aggregate ${id} could not be found.`);
    const all = Object.entries({ ...(row['metadata'] as Row), ...metadata });
    row['metadata'] = Object.fromEntries(all.filter(([, value]) => value !== null));
    return json(200, { aggregate: { ...row } });
  });
}

/** Deletion is refused while it has hosts, a name that there is already at once. */
export const aggregateRules = {
  deleted: (row: Row, { schema }: RowUse): void => {
    if (hostsOf(row).length === 0) return;
    tableOf(schema, 'aggregates').set(String(row['id']), row);
    const words = `Cannot remove host from aggregate ${String(row['id'])}. Reason: Host aggregate is not empty.`;
    throw new Fault(400, words);
  },
};

/** A host may change its zone as long as it has no servers. @throws Fault */
function demandNoServers(
  what: 'added to' | 'removed from',
  id: string,
  { before, after, servers }: { before: string | undefined; after: string | undefined; servers: number },
): void {
  if (servers === 0 || before === after) return;
  const [said, is] = [before, after].map((zone) => zone ?? 'None');
  const action = what === 'added to' ? 'Cannot add host to' : 'Cannot remove host from';
  throw new Fault(
    409,
    `${action} aggregate ${id}. Reason: The host cannot be ${what} the aggregate as the availability zone of the host would change from '${said}' to '${is}' but the host already has ${servers} instance(s). Changing the AZ of an existing instance is not supported by this action. Move the instances away from this host then try again. If you need to move the instances between AZs then you can use shelve_offload and unshelve to achieve this..`,
  );
}

/**
 * `add_host` or `remove_host`. A host is known by its nova-compute, be it mapped to a cell or not.
 * Placement is told with Nova's own user (nova.compute.api, AggregateAPI).
 */
async function changeHosts(context: ServiceContext, { id = '', body, store }: Call): Promise<HttpReply> {
  const { add_host: added, remove_host: removed } = body as Partial<Record<string, { host: string }>>;
  const host = (added ?? removed)?.host ?? '';
  const known = await gather(context, (schema) => rowsOf(schema, 'services', { host, binary: 'nova-compute' }));
  if (known.length === 0)
    throw new Fault(
      404,
      added === undefined
        ? `Cannot remove host ${host} in aggregate ${id}`
        : `Compute host ${host} could not be found.`,
    );
  const servers = (await gather(context, (schema) => rowsOf(schema, 'instances', { host }))).length;
  const nodes = await gather(context, (schema) => rowsOf(schema, 'compute_nodes', { host }));
  const found = await store((schema) => {
    const row = tableOf(schema, 'aggregates').get(id);
    if (row === undefined) throw new Fault(404, `Aggregate ${id} could not be found.`);
    const all = rowsOf(schema, 'aggregates').filter((one) => hostsOf(one).includes(host));
    const others = all.filter((one) => one !== row);
    const [before, without] = [zoneIn(all), zoneIn(others)];
    const own = zoneIn([row]);
    if (added === undefined) {
      if (!hostsOf(row).includes(host)) throw new Fault(404, `Cannot remove host ${host} in aggregate ${id}`);
      demandNoServers('removed from', id, { before, after: without, servers });
      row['hosts'] = hostsOf(row).filter((one) => one !== host);
    } else {
      if (own !== undefined && without !== undefined && without !== own)
        throw new Fault(
          409,
          `Cannot add host to aggregate ${id}. Reason: One or more hosts already in availability zone(s) ['${without}'].`,
        );
      demandNoServers('added to', id, { before, after: own ?? before, servers });
      if (hostsOf(row).includes(host)) throw new Fault(409, `Aggregate ${id} already has host ${host}.`);
      row['hosts'] = [...hostsOf(row), host];
    }
    return { ...row };
  });
  // It is in the aggregate by then.
  if (nodes.length === 0) throw new Fault(404, `Compute host ${host} could not be found.`);
  const change = added === undefined ? 'removeFromAggregate' : 'addToAggregate';
  try {
    await new PlacementClient(context)[change](host, String(found['uuid']));
  } catch (error) {
    if (!(error instanceof PythonError) || !error.type.startsWith('nova.exception.ResourceProvider')) throw error;
    context.log.warning(
      'nova.compute.api',
      added === undefined
        ? `Failed to remove association of ${host} with a placement aggregate: ${error.message}.`
        : `Failed to associate ${host} with a placement aggregate: ${error.message}. This may be corrected after running nova-manage placement sync_aggregates.`,
    );
  }
  return json(200, { aggregate: found });
}

/** A host that is deleted leaves all of them. */
export async function leaveAggregates(context: ServiceContext, host: string): Promise<void> {
  await inApi(context, 'UPDATE', (schema) => {
    for (const row of rowsOf(schema, 'aggregates')) row['hosts'] = hostsOf(row).filter((one) => one !== host);
  });
}

/** `nova-manage placement sync_aggregates`: 6 where a host has no provider yet, 4 where one is in no cell. */
export async function syncAggregates(context: CommandContext): Promise<number> {
  const placement = new PlacementClient(context);
  const mapped = await inApi(context, 'SELECT', (schema) => new Set(tableOf(schema, 'host_mappings').keys()));
  const [unmapped, lacking]: [string[], string[]] = [[], []];
  for (const row of await aggregatesOf(context)) {
    for (const host of hostsOf(row)) {
      if (!mapped.has(host)) {
        unmapped.push(host);
        continue;
      }
      try {
        await placement.addToAggregate(host, String(row['uuid']));
      } catch (error) {
        if (!(error instanceof PythonError) || error.type !== 'nova.exception.ResourceProviderNotFound') throw error;
        lacking.push(host);
      }
    }
  }
  if (unmapped.length > 0)
    context.process.stdout(
      `The following hosts were found in nova host aggregates but no host mappings were found in the nova API DB. Run "nova-manage cell_v2 discover_hosts" and then retry. Missing: ${unmapped.join(',')}\n`,
    );
  if (lacking.length > 0)
    context.process.stdout(
      `Unable to find matching resource provider record in placement with uuid for the following hosts: ${lacking.join(',')}. Try restarting the nova-compute service on each host and then retry.\n`,
    );
  if (lacking.length > 0) return 6;
  return unmapped.length > 0 ? 4 : 0;
}
