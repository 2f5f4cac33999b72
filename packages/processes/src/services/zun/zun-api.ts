import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { type Api, apiHandler, type Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { endpointOf, httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

/** What alembic makes of Zun's database. */
export const zunDatabase: ProjectDatabase = {
  heads: ['3f2b36231bee'],
  tables:
    'allocation compute_node container container_actions container_actions_events exec_instance image inventory network pci_device quota_classes quota_usages quotas registry resource_class resource_provider volume volume_mapping zun_service',
};

/** Version 1; nothing is asked before the first request. */
export function serveVersion1(context: ServiceContext, open: Api['open'], asksForTokens: boolean): WsgiHandler {
  return apiHandler(context, {
    prefix: 'v1',
    open,
    unauthenticated: () => !asksForTokens,
    policies: { services: { roles: ['admin'], rule: 'zun-service:get_all' } },
    words: {
      // The name of the exception (zun.api.middleware.parsable_error).
      body: ({ status, message, type }) => ({
        errors: [
          {
            request_id: '',
            code: `container.${codes[type] ?? type}`,
            status,
            title: message,
            detail: message,
            links: [],
          },
        ],
      }),
    },
    database: zunDatabase,
    routes: {
      containers: async (call) =>
        (await found('container', call)) ?? (call.id === undefined ? addContainer(context, call) : undefined),
      registries: async (call) => (await found('registry', call)) ?? addRegistry(context, call),
      quotas: (call) => quotas(context, call),
      services: async ({ store }) => json(200, { services: await store((schema) => rowsOf(schema, 'zun_service')) }),
    },
  });
}

const codes: Readonly<Record<string, string>> = { HTTPNotFound: '', Forbidden: 'policy-not-authorized' };
const plurals = { container: 'containers', registry: 'registries' } as const;
const names = { container: 'Container', registry: 'Registry' } as const;

/** A list, an item by its name or identifier, or its deletion; undefined: another request. @throws Fault */
async function found(kind: 'container' | 'registry', { request, id, query, identity, store }: Call) {
  if (!['GET', 'DELETE'].includes(request.method)) return undefined;
  const isAll = query.get('all_projects') === 'true';
  if (isAll && !identity.roles.includes('admin'))
    throw new Fault(403, `Policy doesn't allow ${kind}:get_all_all_projects to be performed.`, 'policy-not-authorized');
  const rows = await store((schema) => rowsOf(schema, kind, isAll ? undefined : { project_id: identity.projectId }));
  const shown = (row: Row) => (kind === 'registry' ? { ...row, password: '***' } : row);
  if (id === undefined) return json(200, { [plurals[kind]]: rows.map(shown), next: null });
  const row = rows.find((one) => one['uuid'] === id || one['name'] === id);
  if (row === undefined) throw new Fault(404, `${names[kind]} ${id} could not be found.`, `${kind}-not-found`);
  if (request.method === 'GET') return json(200, kind === 'registry' ? { registry: shown(row) } : row);
  await store((schema) => tableOf(schema, kind).delete(String(row['uuid'])));
  return { status: 204 };
}

/** A registry, whose password is encrypted: the key is its first 32 characters, of which there have to be 32. */
async function addRegistry({ process, config }: ServiceContext, { request, body, identity, store }: Call) {
  if (request.method !== 'POST') return undefined;
  if (Buffer.from(config.text('DEFAULT', 'auth_encryption_key').slice(0, 32)).length !== 32)
    throw new PythonError('ValueError', 'Fernet key must be 32 url-safe base64-encoded bytes.');
  const given = (body['registry'] ?? {}) as Row;
  const row = { uuid: uuid(process.random), project_id: identity.projectId, user_id: identity.userId, ...given };
  await store((schema) => tableOf(schema, 'registry').set(row.uuid, row));
  return json(201, { registry: { ...row, password: '***' } });
}

/** Of a project: its own, or those of the configuration. */
async function quotas({ config }: ServiceContext, { request, id = '', body, identity, store }: Call) {
  if (request.method !== 'GET' && !identity.roles.includes('admin'))
    throw new Fault(403, "Policy doesn't allow quota:update to be performed.", 'policy-not-authorized');
  const stated = await store((schema) => {
    const rows = tableOf(schema, 'quotas');
    if (request.method === 'PUT') rows.set(id, { ...rows.get(id), ...body });
    return rows.get(id);
  });
  const resources = ['containers', 'memory', 'disk', 'cpu'];
  const defaults = Object.fromEntries(resources.map((name) => [name, config.integer('quota', name)]));
  return json(200, { ...defaults, ...stated });
}

/**
 * A container: in a network that the user sees, on a host that Placement knows to have room. No model has such a host, so that
 * it is kept as one that failed, which is no failure of the request (zun.compute.api). @throws Fault, PythonError
 */
async function addContainer(context: ServiceContext, call: Call): Promise<HttpReply | undefined> {
  const { request, body, identity, store } = call;
  if (request.method !== 'POST') return undefined;
  const limits = JSON.parse(
    (await quotas(context, { ...call, request: { ...request, method: 'GET' }, id: identity.projectId })).body ?? '{}',
  ) as Row;
  const count = await store((schema) => rowsOf(schema, 'container', { project_id: identity.projectId }).length);
  if (count >= Number(limits['containers']))
    throw new Fault(403, "Quota exceeded for resources: ['containers']", 'over-quota');
  const { process, config } = context;
  const of = (client: string, type: string) => ({
    type,
    interfaces: [config.text(client, 'endpoint_type').replace(/URL$/, '')],
    region: config.optional(client, 'region_name'),
  });
  const session = new KeystoneSession(process, config, 'keystone_auth');
  const url = `${endpointOf(identity.catalog, of('neutron_client', 'network'))}/v2.0/networks`;
  const networks = await session.send('GET', url, { 'x-auth-token': identity.token });
  if (networks.status !== 200) throw httpError(networks, '');
  if ((JSON.parse(networks.body ?? '{}') as { networks: Row[] }).networks.length === 0)
    throw new Fault(409, 'There is no neutron network available', 'conflict');
  const row = {
    uuid: uuid(process.random),
    project_id: identity.projectId,
    user_id: identity.userId,
    ...body,
    status: 'Error',
    status_reason: 'Unexpected exception occurred.',
  };
  const save = () => store((schema) => tableOf(schema, 'container').set(row.uuid, row));
  try {
    const placement = await session.endpoint(of('placement_client', 'placement'));
    // Traits of its own are written down first.
    const traits = await session.request('GET', `${placement}/traits`, undefined, {
      'openstack-api-version': 'placement 1.6',
    });
    if (traits.status !== 200) throw httpError(traits, '');
    row.status_reason = 'There are not enough hosts available.';
  } finally {
    await save();
  }
  return json(202, row);
}
