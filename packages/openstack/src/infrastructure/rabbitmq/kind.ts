import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { nameLength } from '../../api/names.ts';
import { notOfferedYet } from '../../api/offering.ts';
import { secretName } from '../../api/references.ts';
import { bool, object } from '../../api/schema.ts';
import { common, phase } from '../../api/status.ts';
import { storage } from '../../api/storage.ts';
import { nodeNetworks, template } from '../../api/template.ts';

const single = {
  components: ['server'],
  reason: 'broker clusters are not offered yet; one broker on a durable volume is',
} as const;

/** The message broker. */
export const RabbitMQ = defineApi({
  kind: 'RabbitMQ',
  plural: 'rabbitmqs',
  shortName: 'osrmq',
  description: 'A RabbitMQ broker, through which the OpenStack services call each other.',
  nameLength: nameLength.service,
  spec: object('Desired state of RabbitMQ.', {
    ...template({ main: 'the broker', components: ['server'], single }),
    storage: storage('Volume of the broker.', '10Gi'),
    nodeNetworks,
    clusterEnabled: bool('Forms a cluster of several brokers with quorum queues.', {
      default: false,
      rules: [notOfferedYet('clusterEnabled', 'leave it out, or set it to false')],
    }),
    credentialsSecretName: secretName(
      'Secret with keys username and password of the administrator. If absent, <name>-credentials is generated.',
    ),
  }),
  status: object('Observed state of RabbitMQ.', { ...common, phase }),
});

export type RabbitMQ = ObjectOf<typeof RabbitMQ>;
export type RabbitMQSpec = SpecOf<typeof RabbitMQ>;
export type RabbitMQStatus = StatusOf<typeof RabbitMQ>;
