import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { onlyOffered } from '../../api/offering.ts';
import { secretName } from '../../api/references.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { choice, int, object, transition } from '../../api/schema.ts';
import { common, endpoints, lasting, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** The key manager. */
export const Barbican = defineApi({
  kind: 'Barbican',
  plural: 'barbicans',
  shortName: 'osbb',
  description: 'The key manager, which stores secrets, keys and certificates, encrypted.',
  nameLength: nameLength.service,
  spec: object('Desired state of Barbican.', {
    ...template({ main: 'the API', components: ['api', 'worker', 'keystone-listener'], wsgi: ['api'] }),
    ...api('barbican'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    keystoneRef,
    database: database('barbican', ['barbican']),
    messageQueue: messageQueue('barbican'),
    identity: identity('barbican'),
    keyEncryptionKeySecretName: transition(
      secretName(
        'Secret with the key that encrypts the keys of projects (key kek: a Fernet key, 32 bytes as base64url), such as that of a cloud that is adopted. Key material: when it is lost, so is all that Barbican stores. If absent, <name>-kek is generated. It cannot be added, changed or removed later.',
      ),
      {
        absent: '""',
        allows: (next, previous) => `${next} == ${previous}`,
        message:
          'cannot be added, changed or removed after creation: all that is stored is encrypted under the former key, and encrypting it anew is not offered; set it back, or create another Barbican',
      },
    ),
    secretStore: choice(
      'What encrypts what is stored: simple_crypto, Barbican itself under one key. pkcs11, vault and kmip are not offered.',
      ['simple_crypto', 'pkcs11', 'vault', 'kmip'],
      { fallback: 'simple_crypto', rules: [onlyOffered('secretStore', ['simple_crypto'])] },
    ),
    workerReplicas: int('How many pods of the component worker run. What components says of it overrides this.', {
      minimum: 0,
      maximum: 100,
      fallback: 1,
    }),
    recordsAudit,
    passwordRotationDays,
    config: config('barbican.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Barbican.', { ...common, phase, ...endpoints, lasting }),
  columns: [endpointColumn],
});

export type Barbican = ObjectOf<typeof Barbican>;
export type BarbicanSpec = SpecOf<typeof Barbican>;
export type BarbicanStatus = StatusOf<typeof Barbican>;
