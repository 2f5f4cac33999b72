import { host, port, reference, secretName } from '../../api/references.ts';
import { type Infer, object, required } from '../../api/schema.ts';

const external = object('A RabbitMQ that this operator does not run.', {
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
});

/** `spec.messageQueueRef` of what has messages. */
export const messageQueueRef = reference('The message broker.', 'RabbitMQ', external);

/** Its value. */
export type MessageQueueRef = Infer<typeof messageQueueRef>;

/** The same of what only sends notifications. */
export const notifiedRef = reference(
  'The message broker, by which notifications reach the services that read them.',
  'RabbitMQ',
  external,
  'none, and no notifications are sent; below a control plane, its own while a service of it reads them',
);
