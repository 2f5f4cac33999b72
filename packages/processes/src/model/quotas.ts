import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../http.ts';
import { type Row, type Schema, tableOf } from '../infrastructure/mysql-protocol.ts';
import type { ServiceContext } from '../oslo/service-context.ts';
import type { Call } from './api.ts';
import { commonWords, Fault } from './fault.ts';

/** What a service lets a project have: limits are rows of its table `quotas`. */
export interface Quotas {
  readonly resources: readonly string[];
  /** The option that has the limit of whoever has none of its own. */
  readonly option: (resource: string) => readonly [group: string, name: string];
  /** How much of each resource a project has. */
  readonly usage: (schema: Schema, project: unknown) => Readonly<Record<string, number>>;
  /** The rule that refuses a change. */
  readonly rule: string;
  /** How a resource is refused that there is not. */
  readonly unknown: (resource: string) => string;
  /** How a limit is refused below what there is already; absent: it is taken. */
  readonly exceeded?: (resource: string, limit: unknown, used: number) => string;
}

/** What a project may have at most; -1: as much as it likes. */
export function quotaOf(
  { option }: Quotas,
  { config }: ServiceContext,
  schema: Schema,
  project: unknown,
  resource: string,
): number {
  const own = tableOf(schema, 'quotas').get(`${String(project)}/${resource}`)?.['hard_limit'];
  return own === undefined ? config.integer(...option(resource)) : Number(own);
}

/** Of what a project would have too much with so much more, by name. */
export function oversOf(
  quotas: Quotas,
  context: ServiceContext,
  schema: Schema,
  project: unknown,
  more: Readonly<Record<string, number>>,
): string[] {
  const usage = quotas.usage(schema, project);
  return Object.entries(more).flatMap(([resource, count]) => {
    const limit = quotaOf(quotas, context, schema, project, resource);
    return limit >= 0 && (usage[resource] ?? 0) + count > limit ? [resource] : [];
  });
}

/** Shows or changes the quotas of a project, whether Keystone knows it or not. @throws Fault */
export async function answerQuotas(
  quotas: Quotas,
  context: ServiceContext,
  { request, id = '', body, store, identity }: Call,
): Promise<HttpReply> {
  if (!['GET', 'PUT'].includes(request.method))
    throw new Fault(405, 'The method is not allowed for the requested URL.');
  if (request.method === 'PUT' && !identity.roles.includes('admin'))
    throw new Fault(403, commonWords.forbidden(quotas.rule));
  const { quota_set: wanted = {} } = body as { quota_set?: Row };
  const unknown = Object.keys(wanted).find((name) => !quotas.resources.includes(name));
  if (unknown !== undefined) throw new Fault(400, quotas.unknown(unknown));
  const set = await store((schema) => {
    const usage = quotas.usage(schema, id);
    for (const [resource, limit] of Object.entries(wanted)) {
      const used = usage[resource] ?? 0;
      if (quotas.exceeded !== undefined && Number(limit) >= 0 && used > Number(limit))
        throw new Fault(400, quotas.exceeded(resource, limit, used));
      tableOf(schema, 'quotas').set(`${id}/${resource}`, { project_id: id, resource, hard_limit: limit });
    }
    return Object.fromEntries(quotas.resources.map((name) => [name, quotaOf(quotas, context, schema, id, name)]));
  });
  return json(200, { quota_set: request.method === 'GET' ? { ...set, id } : set });
}
