import { identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { nameLength } from '../../api/names.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { bool, choice, int, object } from '../../api/schema.ts';
import { claimedNodes, common, phase } from '../../api/status.ts';
import { dataConfig, region, release, template, unknownOptions } from '../../api/template.ts';
import { cacheRef, coordinationRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { gnocchiRef } from '../gnocchi/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

const pods = (what: string) => int(`How many pods of ${what} run.`, { minimum: 0, maximum: 100, fallback: 1 });

/** What happens in a cloud, and how much of it is used. */
export const Ceilometer = defineApi({
  kind: 'Ceilometer',
  plural: 'ceilometers',
  shortName: 'oscl',
  description: 'Telemetry: measures how much of a cloud is used, and makes events of what happens in it.',
  nameLength: nameLength.service,
  spec: object('Desired state of Ceilometer.', {
    ...template({
      main: 'the central agent, unless centralAgentReplicas says so,',
      components: ['central', 'notification', 'compute'],
      counted: { central: 'centralAgentReplicas', notification: 'notificationAgentReplicas' },
      nodeAgents: ['compute'],
    }),
    metricsBackend: choice(
      'Where measures go: prometheus offers them to a Prometheus at port 9101 of the agents, gnocchi sends them to the Gnocchi of gnocchiRef.',
      ['prometheus', 'gnocchi'],
      { fallback: 'prometheus' },
    ),
    centralAgentReplicas: int(
      'How many pods of the central agent run, which asks the APIs of other services; several share what they ask by coordinationRef.',
      { minimum: 0, maximum: 100, otherwise: 'replicas, else 1' },
    ),
    notificationAgentReplicas: pods('the notification agent, which reads what other services send'),
    enableComputeAgent: bool('Whether an agent on each node that runs servers measures these.', { fallback: true }),
    pollingIntervalSeconds: int('Seconds between two looks at what is measured.', {
      minimum: 10,
      maximum: 86_400,
      fallback: 300,
    }),
    release,
    region,
    messageQueueRef,
    cacheRef,
    coordinationRef,
    keystoneRef,
    gnocchiRef: gnocchiRef('keeps what is measured'),
    messageQueue: messageQueue('ceilometer'),
    identity: identity('ceilometer'),
    recordsAudit,
    passwordRotationDays,
    config: dataConfig('polling.yaml'),
    unknownOptions,
  }),
  status: object('Observed state of Ceilometer.', { ...common, phase, ...claimedNodes }),
  columns: [{ name: 'Backend', type: 'string', jsonPath: '.spec.metricsBackend', description: 'Where measures go.' }],
});

export type Ceilometer = ObjectOf<typeof Ceilometer>;
export type CeilometerSpec = SpecOf<typeof Ceilometer>;
export type CeilometerStatus = StatusOf<typeof Ceilometer>;
