import type { StoredObject } from '@openstack-operator/kube';
import { authority, type BrokerAddress, fromSecret, hostOf } from '../../engine/vocabulary/addresses.ts';
import type { MessageQueueRef } from './reference.ts';

type External = NonNullable<MessageQueueRef['external']>;

/** Address of a RabbitMQ resource. */
export function brokerAddress(rabbitmq: StoredObject): BrokerAddress {
  const { credentialsSecretName } = (rabbitmq['spec'] ?? {}) as { credentialsSecretName?: string };
  const secret = credentialsSecretName ?? `${rabbitmq.metadata.name}-credentials`;
  return {
    host: hostOf(rabbitmq),
    port: 5672,
    managementUrl: `http://${hostOf(rabbitmq)}:15672`,
    adminUser: fromSecret(secret, 'username'),
    adminPassword: fromSecret(secret, 'password'),
  };
}

/** Address of a broker that this operator does not run. */
export function externalBroker({ host, port = 5672, managementPort = 15672, secretName }: External): BrokerAddress {
  return {
    host,
    port,
    managementUrl: `http://${authority(host, managementPort)}`,
    adminUser: fromSecret(secretName, 'username'),
    adminPassword: fromSecret(secretName, 'password'),
  };
}
