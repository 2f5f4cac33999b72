import { uuid } from '@openstack-operator/kube';
import { type HttpReply, SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../../attempt.ts';
import { json, locationOf, plain } from '../../http.ts';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { octaviaAgents } from './octavia-agents.ts';
import { type OvnProvider, openProvider } from './octavia-ovn.ts';
import { type Kind, kinds, octaviaDatabase, partsOf } from './octavia-store.ts';

const { start: takes, upgrade: upgradeTakes } = startTimes.octaviaManage;
const versions = ['v2.0', 'v2.30'].map((id) => ({ id, status: id === 'v2.30' ? 'CURRENT' : 'SUPPORTED' }));

/** Octavia 16: load balancers of OVN with listeners, pools and members; those in servers end where their image is looked for. */
export const octavia = model({
  project: 'octavia',
  images: {
    'octavia-api': { root: true },
    'octavia-driver-agent': {},
    'octavia-worker': {},
    'octavia-health-manager': {},
    'octavia-housekeeping': {},
  },
  programs: {
    'octavia-db-manage': { takes, commands: { 'upgrade head': sync(octaviaDatabase, upgradeTakes) } },
    'octavia-status': {
      takes,
      commands: { 'upgrade check': upgradeCheck({ 'YAML Policy File': () => Promise.resolve(undefined) }) },
    },
    ...octaviaAgents,
  },
  applications: { 'octavia.api.app:setup_app()': { takes: startTimes.octaviaApi, serves: serveApi } },
});

/** Providers are loaded first, and without one of them nothing is served (octavia.api.app). @throws PythonError */
async function serveApi(context: ServiceContext): Promise<WsgiHandler> {
  const { config, log } = context;
  const messaging = new Messaging(context);
  const names = config.list('api_settings', 'enabled_provider_drivers').map((one) => one.split(':')[0] ?? '');
  const refuse = (name: string, reason: string): never => {
    log.error('octavia.api.drivers.driver_factory', `Unable to load provider driver ${name} due to: ${reason}`);
    throw new PythonError('octavia.common.exceptions.ProviderNotFound', `Provider '${name}' was not found.`);
  };
  const lacking = names.find((name) => !['ovn', 'amphora', 'octavia'].includes(name));
  if (lacking !== undefined) refuse(lacking, `No 'octavia.api.drivers' driver found, looking for '${lacking}'`);
  const open = () => openProvider(context);
  const ovn = names.includes('ovn')
    ? await attempt(PythonError, open, (error) => refuse('ovn', error.message))
    : undefined;
  const healthy = config.boolean('api_settings', 'healthcheck_enabled');
  return apiHandler(context, {
    prefix: ['v2', 'v2.0'],
    open: { '/': json(200, { versions }), ...(healthy && { '/healthcheck': plain(200, 'OK') }) },
    words: {
      body: ({ message }) => ({ faultcode: 'Client', faultstring: message, debuginfo: null }),
      forbidden: () => 'Policy does not allow this request to be performed.',
    },
    database: octaviaDatabase,
    routes: { lbaas: (call) => answer(context, { messaging, names, ovn }, call) },
  });
}

interface Providers {
  readonly messaging: Messaging;
  readonly names: readonly string[];
  readonly ovn: OvnProvider | undefined;
}

/** Roles of Octavia's own count only beside former defaults (octavia.policies.keystone_default_roles). @throws Fault */
function authorise({ config }: ServiceContext, { request, identity: { roles } }: Call): void {
  const reading = request.method === 'GET';
  const own = ['load-balancer_admin', 'load-balancer_member', ...(reading ? ['load-balancer_observer'] : [])];
  const former = config.text('oslo_policy', 'enforce_new_defaults', 'true') !== 'true';
  const allowed = ['admin', 'member', ...(reading ? ['reader'] : []), ...(former ? own : [])];
  if (!roles.some((role) => allowed.includes(role)))
    throw new Fault(403, 'Policy does not allow this request to be performed.');
}

/** @throws Fault, PythonError */
async function answer(context: ServiceContext, providers: Providers, call: Call): Promise<HttpReply> {
  authorise(context, call);
  const { request, identity, store, body, query } = call;
  const [, , , first = '', parent, part, below] = locationOf(request).path.split('/');
  if (first === 'providers') return json(200, { providers: providers.names.map((name) => ({ name })) });
  const isMember = first === 'pools' && part === 'members';
  const kind = (isMember ? 'members' : first) as Kind;
  const id = isMember ? below : parent;
  const { item, table } = kinds[kind] ?? {};
  if (item === undefined || (part !== undefined && !isMember)) throw new Fault(404, 'The resource could not be found.');
  const isSeen = (row: Row) =>
    row['provisioning_status'] !== 'DELETED' &&
    (identity.roles.includes('admin') || row['project_id'] === identity.projectId) &&
    (!isMember || row['pool_id'] === parent);
  const rows = await store((schema) => [...tableOf(schema, table).values()].filter(isSeen).map((row) => ({ ...row })));
  const found = rows.find((row) => row['id'] === id);
  if (id !== undefined && found === undefined) throw new Fault(404, `${item} ${id} not found.`);
  if (request.method === 'GET') return json(200, found === undefined ? { [kind]: rows } : { [item]: found });
  if (request.method === 'POST' && id === undefined) {
    const row: Row = { project_id: identity.projectId, ...(body[item] as Row), id: uuid(context.process.random) };
    row['provisioning_status'] = 'PENDING_CREATE';
    if (isMember) row['pool_id'] = parent;
    if (kind === 'loadbalancers') await prepare(context, providers, row);
    await store((schema) => {
      if (kind !== 'loadbalancers') row['balancer'] = belongingOf(schema, kind, row);
      tableOf(schema, table).set(String(row['id']), row);
    });
    void drive(context, providers, row, kind === 'loadbalancers' ? 'create' : 'update');
    return json(201, { [item]: row });
  }
  if (request.method !== 'DELETE' || found === undefined) throw new Fault(405, 'Method Not Allowed');
  if (kind !== 'loadbalancers') throw new Fault(501, `no model deletes ${kind}: delete their load balancer`);
  await store((schema) => {
    const hasParts = partsOf(schema, String(id)).listeners.length > 0;
    if (hasParts && query.get('cascade') !== 'true')
      throw new Fault(400, `Validation failure: Cannot delete Load Balancer ${id} - it has children`);
    mutable(schema, String(id), 'PENDING_DELETE');
  });
  void drive(context, providers, found, 'delete');
  return { status: 204 };
}

/** The provider, and with OVN the port (octavia.api.v2.controllers.load_balancer). @throws Fault */
async function prepare({ config }: ServiceContext, { names, ovn }: Providers, row: Row): Promise<void> {
  const provider = (row['provider'] as string | undefined) ?? config.text('api_settings', 'default_provider_driver');
  if (!names.includes(provider)) throw new Fault(400, `Provider '${provider}' is not enabled.`);
  Object.assign(row, { provider }, provider === 'ovn' ? await ovn?.createPort(row) : {});
}

/** The load balancer of a new part; it is busy until the part is there. @throws Fault */
function belongingOf(schema: Schema, kind: Kind, row: Row): string {
  const owner = (table: string, column: string) => tableOf(schema, table).get(String(row[column]))?.['balancer'];
  const id = String(row['loadbalancer_id'] ?? owner('listener', 'listener_id') ?? owner('pool', 'pool_id'));
  const { provider } = mutable(schema, id, 'PENDING_UPDATE');
  const algorithm = String(row['lb_algorithm']);
  if (provider === 'ovn' && kind === 'pools' && algorithm !== 'SOURCE_IP_PORT')
    throw new Fault(
      501,
      `Provider 'ovn' does not support a requested option: OVN provider does not support ${algorithm} algorithm`,
    );
  return id;
}

/** @throws Fault when it is not there, or busy */
function mutable(schema: Schema, id: string, status: string): Row {
  const row = tableOf(schema, 'load_balancer').get(id);
  if (row === undefined) throw new Fault(404, `Load Balancer ${id} not found.`);
  const allowed = status === 'PENDING_DELETE' ? ['ACTIVE', 'ERROR'] : ['ACTIVE'];
  if (!allowed.includes(String(row['provisioning_status'])))
    throw new Fault(409, `Load Balancer ${id} is immutable and cannot be updated.`);
  return Object.assign(row, { provisioning_status: status });
}

/** Beside the answer: OVN is written to by the API itself, and the agent is told; servers are a worker's affair. */
async function drive(
  context: ServiceContext,
  { messaging, ovn }: Providers,
  row: Row,
  method: 'create' | 'update' | 'delete',
): Promise<void> {
  const id = (row['balancer'] ?? row['id']) as string;
  try {
    const [balancer = {}, parts] = await new Database(context, octaviaDatabase).transaction('SELECT', (schema) => [
      tableOf(schema, 'load_balancer').get(id),
      partsOf(schema, id),
    ]);
    if (balancer['provider'] !== 'ovn') return messaging.cast('octavia_provisioning_v2', method, { balancer: id });
    await ovn?.write(balancer, method === 'delete' ? undefined : parts);
    await ovn?.tell({ balancer: id, status: method === 'delete' ? 'DELETED' : 'ACTIVE' });
  } catch (error) {
    if (!(error instanceof PythonError) && !(error instanceof SystemError)) throw error;
    const words = 'Error while updating the load balancer status';
    context.log.error('ovn_octavia_provider.helper', `${words}: ${error.message}`);
  }
}
