import { host, port, reference, secretName } from '../../api/references.ts';
import { type Infer, object, required } from '../../api/schema.ts';

/** `spec.messageQueueRef` of what has messages. */
export const messageQueueRef = reference(
  'The message broker.',
  'RabbitMQ',
  object('A RabbitMQ that this operator does not run.', {
    host: required(host('Host name or address.')),
    port: port('AMQP port.', '5672; 5671 with caSecretName'),
    managementPort: port(
      'Port of the management API, by which users and virtual hosts are created.',
      '15672; 15671 with caSecretName',
    ),
    secretName: required(secretName('Secret with keys username and password of an administrator.')),
    caSecretName: secretName(
      'Secret whose key ca.crt is the certificate of the authority that has signed that of the broker. Clients connect by TLS then.',
    ),
  }),
);

/** Its value. */
export type MessageQueueRef = Infer<typeof messageQueueRef>;
