import type { StoredObject } from '@openstack-operator/kube';
import { authority, type BrokerAddress, fromSecret, hostOf, type Trust } from '../../engine/vocabulary/addresses.ts';
import { certificateSuffix, issuerOf } from '../../engine/vocabulary/certificate.ts';
import type { MessageQueueRef } from './reference.ts';

type External = NonNullable<MessageQueueRef['external']>;

/** Ports of a broker, by whether clients connect by TLS (https://www.rabbitmq.com/docs/networking). */
export const brokerPorts = {
  clear: { amqp: 5672, management: 15_672 },
  tls: { amqp: 5671, management: 15_671 },
} as const;

/** Address of a RabbitMQ resource. */
export function brokerAddress(rabbitmq: StoredObject): BrokerAddress {
  const { credentialsSecretName, tls } = (rabbitmq['spec'] ?? {}) as {
    credentialsSecretName?: string;
    tls?: { enabled?: boolean };
  };
  const { name } = rabbitmq.metadata;
  const trust = tls?.enabled === true ? { secret: `${name}-${certificateSuffix(issuerOf(rabbitmq))}` } : undefined;
  return addressOf(hostOf(rabbitmq), credentialsSecretName ?? `${name}-credentials`, trust);
}

/** Address of a broker that this operator does not run. */
export function externalBroker({ host, secretName, caSecretName, ...ports }: External): BrokerAddress {
  const trust = caSecretName === undefined ? undefined : { secret: caSecretName };
  return addressOf(host, secretName, trust, ports);
}

function addressOf(
  host: string,
  secret: string,
  trust: Trust | undefined,
  stated: Pick<External, 'port' | 'managementPort'> = {},
): BrokerAddress {
  const { amqp, management } = brokerPorts[trust === undefined ? 'clear' : 'tls'];
  const scheme = trust === undefined ? 'http' : 'https';
  return {
    host,
    port: stated.port ?? amqp,
    managementUrl: `${scheme}://${authority(host, stated.managementPort ?? management)}`,
    adminUser: fromSecret(secret, 'username'),
    adminPassword: fromSecret(secret, 'password'),
    ...(trust === undefined ? {} : { trust }),
  };
}
