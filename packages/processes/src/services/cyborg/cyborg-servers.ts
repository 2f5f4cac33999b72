import { uuid } from '@openstack-operator/kube';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { hostOf } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { endpointFilter, httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

export const cyborgDatabase: ProjectDatabase = {
  heads: ['6c77bd6afea5'],
  tables:
    'attach_handles attributes controlpath_ids deployables device_profiles devices extended_accelerator_requests quota_usages reservations',
};

/** Topic of the conductor, which no option names. */
export const conductorTopic = 'cyborg-conductor';

/** `cyborg-conductor`: whose devices they are it looks up in Placement when it is told of them (cyborg.conductor.manager). */
export const cyborgConductor: ServiceProgram = {
  takes: startTimes.cyborgServer,
  run: async (context) => {
    const messaging = new Messaging(context);
    const database = new Database(context, cyborgDatabase);
    const session = new KeystoneSession(context.process, context.config, 'placement');
    const handler: RpcHandler = async (method, parameters) => {
      if (method === 'report_data') return report(context, database, session, parameters as Report);
      if (method !== 'device_profile_create') throw new PythonError('NotImplementedError', `no model knows ${method}`);
      const profile = { uuid: uuid(context.process.random), ...(parameters as Row) };
      await database.transaction('INSERT', (schema) => {
        const { name } = profile as Row;
        if (rowsOf(schema, 'device_profiles', { name }).length > 0)
          throw new PythonError(
            'cyborg.common.exception.DuplicateDeviceProfileName',
            `A device_profile with name ${String(name)} already exists.`,
          );
        tableOf(schema, 'device_profiles').set(profile.uuid, profile);
      });
      return profile;
    };
    await Promise.race([messaging.serve(conductorTopic, handler), terminated(context.process)]);
    await terminated(context.process);
    return 0;
  },
};

interface Report {
  readonly host: string;
  readonly devices: readonly string[];
}

/** Each device has a provider below that of its host. @throws PythonError */
async function report(
  { process, config }: ServiceContext,
  database: Database,
  session: KeystoneSession,
  { host, devices }: Report,
): Promise<void> {
  const url = await session.endpoint(endpointFilter(config, 'placement', 'placement'));
  const ask = async (method: string, path: string, body?: object): Promise<Row[]> => {
    const reply = await session.request(method, `${url}${path}`, body);
    if (reply.status >= 400) throw httpError(reply, uuid(process.random));
    return (JSON.parse(reply.body || '{}') as { resource_providers?: Row[] }).resource_providers ?? [];
  };
  const [root] = await ask('GET', `/resource_providers?name=${host}`);
  if (root === undefined)
    throw new PythonError(
      'cyborg.common.exception.PlacementResourceProviderNotFound',
      `Placement resource provider not found: ${host}.`,
    );
  for (const name of devices) {
    const known = await ask('GET', `/resource_providers?name=${name}`);
    if (known.length === 0) await ask('POST', '/resource_providers', { name, parent_provider_uuid: root['uuid'] });
    await database.transaction('INSERT', (schema) =>
      tableOf(schema, 'devices').set(name, { uuid: name, type: 'FPGA', vendor: '0xABCD', hostname: host }),
    );
  }
}

/** `cyborg-agent`: reports what its drivers find, every minute; only the fake one finds something (cyborg.agent.manager). */
export const cyborgAgent: ServiceProgram = {
  takes: startTimes.cyborgServer,
  run: async (context) => {
    const { config, process, log } = context;
    const messaging = new Messaging(context);
    const drivers = config.list('agent', 'enabled_drivers');
    const unknown = drivers.find((name) => !known.includes(name));
    if (unknown !== undefined)
      throw new PythonError('cyborg.common.exception.InvalidDriver', `Found an invalid driver: ${unknown}`);
    const host = hostOf(context);
    const devices = drivers.includes('fake_driver') ? [`${host}_FakeDevice`] : [];
    const refuse: RpcHandler = (method) =>
      Promise.reject(new PythonError('NotImplementedError', `no model knows ${method}`));
    await Promise.race([messaging.serve('cyborg-agent', refuse), terminated(process)]);
    do {
      await messaging.call(conductorTopic, 'report_data', { host, devices }).catch((error: unknown) => {
        if (!(error instanceof PythonError)) throw error;
        log.error('cyborg.agent.resource_tracker', `Unable to report usage: ${error.message}`);
      });
    } while (await pause(process, config.integer('DEFAULT', 'periodic_interval') * 1000));
    return 0;
  },
};

const known = [
  'fake_driver',
  'huawei_ascend_driver',
  'inspur_fpga_driver',
  'inspur_nvme_ssd_driver',
  'intel_fpga_driver',
  'intel_nic_driver',
  'intel_qat_driver',
  'nvidia_gpu_driver',
  'nvmf_spdk_driver',
  'pci_driver',
  'xilinx_fpga_driver',
];
