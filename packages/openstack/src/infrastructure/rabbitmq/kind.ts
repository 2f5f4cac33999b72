import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { certificateDuration, issuerRef, issuerStays, longEnough } from '../../api/issuer.ts';
import { nameLength } from '../../api/names.ts';
import { secretName } from '../../api/references.ts';
import { bool, object, rule } from '../../api/schema.ts';
import { authorities, common, data, lasting, members, phase } from '../../api/status.ts';
import { storage } from '../../api/storage.ts';
import { nodeNetworks, template } from '../../api/template.ts';

/** The message broker. */
export const RabbitMQ = defineApi({
  kind: 'RabbitMQ',
  plural: 'rabbitmqs',
  shortName: 'osrmq',
  description: 'A RabbitMQ broker, or a cluster of several, through which the OpenStack services call each other.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of RabbitMQ.',
    {
      ...template({ main: 'the broker', components: ['server'], quorum: ['server'] }),
      storage: storage('Volume of the broker.', '10Gi'),
      nodeNetworks,
      tls: object(
        'TLS between services and the broker. The broker has a certificate in any case, of an authority of its own (Secret <name>-tls) or of an issuer (<name>-issued-tls).',
        {
          enabled: bool(
            'Whether services connect by TLS, to that broker alone. A change replaces their pods, and nova-compute on one node after the other.',
            { fallback: false },
          ),
          issuerRef,
          duration: certificateDuration,
        },
        { rules: [issuerStays.whileEnabled, longEnough] },
      ),
      clusterEnabled: bool(
        'Says that there are several brokers, which always form a cluster with quorum queues. It follows from replicas: true demands 3 or more of them.',
        { default: false },
      ),
      credentialsSecretName: secretName(
        'Secret with keys username and password of the administrator. If absent, <name>-credentials is generated.',
      ),
    },
    {
      rules: [
        rule(
          '!has(self.clusterEnabled) || !self.clusterEnabled || (has(self.replicas) && self.replicas >= 3)',
          'clusterEnabled: true needs replicas of 3 or more; replicas alone is enough',
        ),
      ],
    },
  ),
  status: object('Observed state of RabbitMQ.', { ...common, phase, data, lasting, members, authorities }),
});

export type RabbitMQ = ObjectOf<typeof RabbitMQ>;
export type RabbitMQSpec = SpecOf<typeof RabbitMQ>;
export type RabbitMQStatus = StatusOf<typeof RabbitMQ>;
