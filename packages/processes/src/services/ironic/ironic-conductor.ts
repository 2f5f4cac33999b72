import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { hostOf } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

export const ironicDatabase: ProjectDatabase = {
  heads: ['21c48150dea9'],
  tables:
    'chassis conductors conductor_hardware_interfaces nodes ports portgroups node_tags volume_connectors volume_targets node_traits bios_settings allocations deploy_templates deploy_template_steps node_history node_inventory firmware_information runbooks runbook_steps inspection_rules',
};

/** The queue of one conductor. */
export const topicOf = (host: string): string => `ironic.conductor_manager.${host}`;

/** Kinds of interfaces, each with an option that says which there are. */
const kinds = 'bios boot console deploy firmware inspect management network power raid rescue storage vendor'.split(
  ' ',
);

/** What types of hardware have of a kind; those that are missing here have what all have, which begins with `no-` or `noop`. */
const supported: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'fake-hardware': Object.fromEntries(kinds.map((kind) => [kind, kind === 'network' ? [] : ['fake']])),
  ipmi: { boot: ['ipxe', 'pxe'], deploy: ['direct', 'ramdisk'], management: ['ipmitool'], power: ['ipmitool'] },
  redfish: { boot: ['ipxe', 'redfish-virtual-media'], deploy: ['direct'], management: ['redfish'], power: ['redfish'] },
  'manual-management': { boot: ['ipxe', 'pxe'], deploy: ['direct'], management: ['noop'], power: ['agent'] },
};

/** A machine that is made up does at once what it is told (ironic.drivers.fake_hardware). */
const provisioned: Readonly<Record<string, string>> = {
  manage: 'manageable',
  provide: 'available',
  inspect: 'manageable',
  active: 'active',
  deleted: 'available',
};

/** `ironic-conductor`: writes itself down with its hardware, and has machines do what the API is asked for. */
export const ironicConductor: ServiceProgram = {
  takes: startTimes.ironicConductor,
  run: async (context) => {
    const { config, log, process } = context;
    const messaging = new Messaging(context);
    const database = new Database(context, ironicDatabase);
    const host = hostOf(context);
    const drivers = hardwareOf(context);
    placeBootScript(context);
    await database.transaction('INSERT', (schema) => {
      const conductors = tableOf(schema, 'conductors');
      if (conductors.get(host)?.['online'] === true)
        log.warning(
          'ironic.conductor.base_manager',
          `A conductor with hostname ${host} was previously registered. Updating registration`,
        );
      conductors.set(host, { hostname: host, drivers, online: true });
    });
    const handler: RpcHandler = (method, parameters) =>
      database.transaction('UPDATE', (schema) => act(schema, method, parameters as Row));
    await Promise.race([messaging.serve(topicOf(host), handler), terminated(process)]);
    log.info('ironic.conductor.base_manager', `Successfully started conductor with hostname ${host}.`);
    config.text('deploy', 'http_root');
    await terminated(process);
    return 0;
  },
};

/** @throws PythonError where a type of hardware has nothing that is enabled of a kind (ironic.common.driver_factory) */
function hardwareOf({ config, log }: ServiceContext): readonly string[] {
  const types = config.list('DEFAULT', 'enabled_hardware_types');
  for (const type of types) {
    const own = supported[type];
    if (own === undefined)
      throw new PythonError(
        'ironic.common.exception.DriverNotFoundInEntrypoint',
        `Could not find the following items in the 'ironic.hardware.types' entrypoint: ${type}.`,
      );
    for (const kind of kinds) {
      const names = config.list('DEFAULT', `enabled_${kind}_interfaces`);
      const known = own[kind] ?? [];
      if (names.some((name) => known.includes(name) || /^no(op$|-)/.test(name))) continue;
      const words = `No default interface of type ${kind} is available for hardware type ${type}.`;
      log.error('ironic.conductor.base_manager', `Failed to register hardware types. ${words}`);
      throw new PythonError('ironic.common.exception.NoValidDefaultForInterface', words);
    }
  }
  return types;
}

/** What iPXE asks for first is written as soon as its interface is loaded (ironic.drivers.modules.ipxe). @throws PythonError */
function placeBootScript({ config, process }: ServiceContext): void {
  if (!config.list('DEFAULT', 'enabled_boot_interfaces').includes('ipxe')) return;
  const folder = config.text('deploy', 'http_root');
  if (!process.files.exists(folder))
    throw new PythonError('FileNotFoundError', `[Errno 2] No such file or directory: '${folder}/boot.ipxe'`);
  process.files.write(`${folder}/boot.ipxe`, '#!ipxe\n');
}

/** @throws PythonError */
function act(schema: Schema, method: string, { id, target, ...node }: Row): Row {
  const nodes = tableOf(schema, 'nodes');
  if (method === 'create_node') {
    const { name } = node as { name?: string };
    if (name !== undefined && rowsOf(schema, 'nodes', { name }).length > 0)
      throw new PythonError('ironic.common.exception.DuplicateName', `A node with name ${name} already exists.`);
    nodes.set(String(node['uuid']), node);
    return node;
  }
  const found = nodes.get(String(id)) ?? {};
  if (method === 'destroy_node') nodes.delete(String(id));
  else if (found['driver'] !== 'fake-hardware')
    throw new PythonError('NotImplementedError', `no model has hardware of type ${String(found['driver'])}`);
  else if (method === 'do_provision') found['provision_state'] = provisioned[String(target)] ?? 'error';
  else if (method === 'do_power') found['power_state'] = target;
  else throw new PythonError('NotImplementedError', `no model knows ${method}`);
  return found;
}
