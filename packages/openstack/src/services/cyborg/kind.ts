import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { serviceRef } from '../../api/references.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { array, bool, choice, int, object } from '../../api/schema.ts';
import { claimedNodes, cloud, common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** Accelerators. */
export const Cyborg = defineApi({
  kind: 'Cyborg',
  plural: 'cyborgs',
  shortName: 'oscy',
  description: 'Accelerators: devices of nodes, such as GPUs and FPGAs, which servers get by a device profile.',
  nameLength: nameLength.service,
  spec: object('Desired state of Cyborg.', {
    ...template({
      main: 'the API',
      components: ['api', 'conductor', 'agent'],
      nodeAgents: ['agent'],
      counted: { conductor: 'conductorReplicas' },
      wsgi: ['api'],
    }),
    conductorReplicas: int('How many pods of the conductor run, which records devices and tells Placement of them.', {
      minimum: 0,
      maximum: 100,
      fallback: 1,
    }),
    enableAgent: bool('Whether each node of Nova has an agent, which finds its devices. It needs enabledDrivers.', {
      fallback: true,
    }),
    enabledDrivers: array(
      'Drivers of the agents. fake_driver makes devices up, for tests. All others run as root, with all devices of the node.',
      choice('A driver.', [
        'fake_driver',
        'huawei_ascend_driver',
        'inspur_fpga_driver',
        'inspur_nvme_ssd_driver',
        'intel_fpga_driver',
        'intel_nic_driver',
        'intel_qat_driver',
        'nvidia_gpu_driver',
        'pci_driver',
        'xilinx_fpga_driver',
      ]),
      { minItems: 1, maxItems: 10, unique: true, otherwise: 'there are no agents' },
    ),
    ...api('cyborg'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    keystoneRef,
    novaRef: serviceRef('Nova', 'whose nodes have the devices'),
    database: database('cyborg', ['cyborg']),
    messageQueue: messageQueue('cyborg'),
    identity: identity('cyborg'),
    recordsAudit,
    passwordRotationDays,
    config: config('cyborg.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Cyborg.', { ...common, phase, ...endpoints, cloud, ...claimedNodes }),
  columns: [endpointColumn],
});

export type Cyborg = ObjectOf<typeof Cyborg>;
export type CyborgSpec = SpecOf<typeof Cyborg>;
export type CyborgStatus = StatusOf<typeof Cyborg>;
