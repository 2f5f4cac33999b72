import { sleep, uuid } from '@openstack-operator/kube';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import type { Config } from '../../oslo/config.ts';
import { Database } from '../../oslo/database.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import { demandTables, type ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

export const blazarDatabase: ProjectDatabase = {
  heads: ['553383923ca0'],
  tables:
    'computehost_allocations computehost_extra_capabilities computehost_reservations computehost_resource_inventory computehost_trait computehosts events floatingip_allocations floatingip_reservations floatingips instance_reservations leases required_floatingips reservations resource_properties',
};

const plugins = [
  'dummy.vm.plugin',
  'flavor.instance.plugin',
  'physical.host.plugin',
  'virtual.floatingip.plugin',
  'virtual.instance.plugin',
];

/** `blazar-manager`: knows leases of hosts; what else can be reserved no model knows (blazar.manager.service). */
export const blazarManager: ServiceProgram = {
  takes: startTimes.blazarManager,
  run: async (context) => {
    const { config, process } = context;
    const database = new Database(context, blazarDatabase);
    // It makes the tables that are missing.
    await database.transaction('CREATE', (schema) => demandTables(schema, 'leases'));
    const messaging = new Messaging(context);
    const unknown = config.list('manager', 'plugins').filter((name) => !plugins.includes(name));
    if (unknown.length > 0)
      throw new PythonError(
        'blazar.exceptions.BlazarException',
        `Invalid plugin names are specified: {'${unknown.join("', '")}'}`,
      );
    const manager = new Manager(context, database);
    await Promise.race([messaging.serve(config.text('manager', 'rpc_topic'), manager.handler), terminated(process)]);
    while (await pause(process, 10_000)) await manager.begin().catch(() => undefined);
    return 0;
  },
};

/** What keystoneauth would find in a section, of options that are Blazar's own. */
function login(config: Config): Config {
  const text = (name: string) => config.text('DEFAULT', `os_${name}`);
  const path = [text('auth_prefix'), text('auth_version')].filter((part) => part !== '').join('/');
  const values: Readonly<Record<string, string>> = {
    auth_type: 'password',
    auth_url: `${text('auth_protocol')}://${text('auth_host')}:${text('auth_port')}/${path}`,
    username: text('admin_username'),
    password: text('admin_password'),
    project_name: text('admin_project_name'),
    user_domain_name: text('admin_user_domain_name'),
    project_domain_name: text('admin_project_domain_name'),
  };
  return { optional: (_group: string, name: string) => values[name] } as unknown as Config;
}

class Manager {
  readonly #context: ServiceContext;
  readonly #database: Database;
  readonly #session: KeystoneSession;

  constructor(context: ServiceContext, database: Database) {
    this.#context = context;
    this.#database = database;
    this.#session = new KeystoneSession(context.process, login(context.config), 'DEFAULT');
  }

  readonly handler: RpcHandler = async (method, parameters) => {
    const { id = '', ...values } = parameters as Row & { id?: string };
    if (method === 'list') return this.#rows(String(values['table']));
    if (method === 'create_computehost') return this.#createHost(String(values['name']));
    if (method === 'create_lease') return this.#createLease(values);
    if (method === 'delete_lease') return this.#deleteLease(id);
    throw new PythonError('NotImplementedError', `no model knows ${method}`);
  };

  /** Begins what is due: its hosts leave the pool of those that are free. */
  async begin(): Promise<void> {
    for (const lease of await this.#rows('leases'))
      if (lease['status'] === 'PENDING') {
        await this.#move(String(lease['host']), 'freepool', String(lease['reservation']));
        await this.#save('leases', { ...lease, status: 'ACTIVE' });
      }
  }

  #rows(table: string): Promise<Row[]> {
    return this.#database.transaction('SELECT', (schema) => rowsOf(schema, table).map((row) => ({ ...row })));
  }

  async #save(table: string, row: Row): Promise<Row> {
    await this.#database.transaction('INSERT', (schema) => tableOf(schema, table).set(String(row['id']), row));
    return row;
  }

  /** Of another service, as Blazar's own user. @throws PythonError of keystoneauth */
  async #ask(type: string, method: string, path: string, body?: object): Promise<Record<string, Row[]>> {
    const { config, process } = this.#context;
    const group = type === 'compute' ? 'nova' : type;
    const interfaces = [config.text(group, 'endpoint_type', 'internal')];
    const url = await this.#session.endpoint({
      type,
      interfaces,
      region: config.optional('DEFAULT', 'os_region_name'),
    });
    const reply = await this.#session.request(method, `${url}${path}`, body);
    if (reply.status >= 400) throw httpError(reply, uuid(process.random));
    return JSON.parse(reply.body || '{}') as Record<string, Row[]>;
  }

  /** The identifier of an aggregate, by its name. @throws PythonError */
  async #pool(name: string): Promise<string> {
    const { aggregates = [] } = await this.#ask('compute', 'GET', '/os-aggregates');
    const pool = aggregates.find((one) => one['name'] === name);
    if (pool === undefined) throw new PythonError('blazar.manager.exceptions.NoFreePool', 'No Freepool found');
    return String(pool['id']);
  }

  async #move(host: string, from: string | undefined, to: string | undefined): Promise<void> {
    const act = async (pool: string, action: string) =>
      this.#ask('compute', 'POST', `/os-aggregates/${await this.#pool(pool)}/action`, { [action]: { host } });
    if (from !== undefined) await act(from, 'remove_host');
    if (to !== undefined) await act(to, 'add_host');
  }

  /** Identifiers of the servers on a host. */
  async #serversOn(host: string): Promise<string[]> {
    const { servers = [] } = await this.#ask('compute', 'GET', `/servers?host=${host}&all_tenants=1`);
    return servers.map(({ id }) => String(id));
  }

  async #createHost(name: string): Promise<Row> {
    const { hypervisors = [] } = await this.#ask('compute', 'GET', '/os-hypervisors');
    if (!hypervisors.some((one) => one['hypervisor_hostname'] === name))
      throw new PythonError('blazar.manager.exceptions.HostNotFound', `Host '${name}' not found!`);
    const servers = await this.#serversOn(name);
    if (servers.length > 0)
      throw new PythonError(
        'blazar.manager.exceptions.HostHavingServers',
        `Servers [${servers.join(', ')}] found for host ${name}`,
      );
    await this.#ask('placement', 'POST', '/resource_providers', { name: `blazar_${name}` });
    await this.#move(name, undefined, 'freepool');
    return this.#save('computehosts', { id: String((await this.#rows('computehosts')).length + 1), name });
  }

  async #createLease({ name, reservations: [wanted] = [] }: { name?: unknown; reservations?: Row[] }): Promise<Row> {
    if (wanted?.['resource_type'] !== 'physical:host')
      throw new PythonError('NotImplementedError', `no model knows ${String(wanted?.['resource_type'])}`);
    const leases = await this.#rows('leases');
    const free = (await this.#rows('computehosts')).find((host) => leases.every((one) => one['host'] !== host['name']));
    if (free === undefined)
      throw new PythonError('blazar.manager.exceptions.NotEnoughHostsAvailable', 'Not enough hosts available');
    const reservation = uuid(this.#context.process.random);
    const aggregate = { name: reservation, availability_zone: `blazar_${reservation}` };
    await this.#ask('compute', 'POST', '/os-aggregates', { aggregate });
    const id = uuid(this.#context.process.random);
    return this.#save('leases', { id, name, status: 'PENDING', host: free['name'], reservation });
  }

  async #deleteLease(id: string): Promise<void> {
    const lease = (await this.#rows('leases')).find((one) => one['id'] === id);
    if (lease === undefined) throw new PythonError('blazar.manager.exceptions.LeaseNotFound', 'Lease not found');
    const { host, reservation } = lease as { host: string; reservation: string };
    if (lease['status'] === 'ACTIVE') {
      const { clock, signal } = this.#context.process;
      for (const server of await this.#serversOn(host)) await this.#ask('compute', 'DELETE', `/servers/${server}`);
      // With servers a host does not leave its zone.
      while ((await this.#serversOn(host)).length > 0) await sleep(clock, 5000, signal);
      await this.#move(host, reservation, 'freepool');
    }
    await this.#ask('compute', 'DELETE', `/os-aggregates/${await this.#pool(reservation)}`);
    await this.#database.transaction('DELETE', (schema) => tableOf(schema, 'leases').delete(id));
  }
}
