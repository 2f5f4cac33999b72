import { database, notificationQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { certificateDuration, issuerRef, issuerStays, longEnough } from '../../api/issuer.ts';
import { accountName, nameLength } from '../../api/names.ts';
import { secretName } from '../../api/references.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { bool, int, object, rule, string } from '../../api/schema.ts';
import { authorities, common, data, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { notifiedRef } from '../../infrastructure/rabbitmq/reference.ts';

const adminName = (what: string, fallback: string) =>
  string(what, { maxLength: 64, form: accountName, fallback, immutable: fallback });

/** The identity service. */
export const Keystone = defineApi({
  kind: 'Keystone',
  plural: 'keystones',
  shortName: 'osks',
  description: 'The identity service, with users, projects, tokens, and the catalogue of all endpoints.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Keystone.',
    {
      ...template({ main: 'the API', components: ['api'], wsgi: ['api'] }),
      ...api('keystone'),
      release,
      region,
      databaseRef,
      messageQueueRef: notifiedRef,
      cacheRef,
      tls: object(
        'TLS of the APIs inside the cluster. Where it is stated, Keystone has an authority (Secret <name>-ca) or an issuer, the APIs that register there serve TLS with certificates of it at ports of their own (10000 above those without), and clients trust it.',
        {
          enabled: bool(
            'Whether clients inside the cluster use these ports, by the catalogue. Below a control plane, its tls.enabled does this in steps. Otherwise, in a cloud in use, state false first, and true once all resources are Ready and none says agentsLeaving: no request is refused then.',
            { fallback: false },
          ),
          issuerRef,
          duration: certificateDuration,
        },
        { rules: [issuerStays.whileStated, longEnough] },
      ),
      database: database('keystone', ['keystone']),
      messageQueue: notificationQueue('keystone'),
      adminPasswordSecretName: secretName(
        "Secret with the administrator's password (key password). If absent, <name>-admin-password is generated. Bootstrap sets the password once. A password that is changed in Keystone afterwards is kept.",
      ),
      adminUser: adminName('Name of the administrator.', 'admin'),
      adminProject: adminName("Name of the administrator's project.", 'admin'),
      fernetKeyRotationInterval: int('Hours between two rotations of the Fernet keys, which sign tokens.', {
        minimum: 1,
        maximum: 8760,
        default: 24,
      }),
      fernetMaxActiveKeys: int(
        'How many Fernet keys are kept. They have to cover the lifetime of a token: at least tokenExpiration / fernetKeyRotationInterval + 2.',
        {
          minimum: 3,
          maximum: 100,
          otherwise:
            'the smallest number that covers the life of a token and the 48 hours in which services may still use it',
        },
      ),
      fernetKeysSecretName: secretName(
        'Secret with the Fernet keys (keys 0, 1, ...), such as those of a cloud that is adopted. The operator does not rotate it. If absent, <name>-fernet-keys is generated and rotated.',
      ),
      credentialKeysSecretName: secretName(
        'Secret with the keys that encrypt stored credentials (keys 0, 1, ...). Key material: when it is lost, so are the credentials. If absent, <name>-credential-keys is generated.',
      ),
      tokenExpiration: int('How long a token is valid, in seconds.', { minimum: 60, maximum: 2592000, fallback: 3600 }),
      recordsAudit,
      passwordRotationDays,
      config: config('keystone.conf'),
      policy,
      unknownOptions,
    },
    {
      rules: [
        rule(
          '!has(self.fernetMaxActiveKeys) || (self.fernetMaxActiveKeys - 2) * (has(self.fernetKeyRotationInterval) ? self.fernetKeyRotationInterval : 24) * 3600 >= (has(self.tokenExpiration) ? self.tokenExpiration : 3600)',
          'fernetMaxActiveKeys is too small: tokens would outlive their keys; set at least tokenExpiration / (3600 * fernetKeyRotationInterval) + 2',
          '.fernetMaxActiveKeys',
        ),
      ],
    },
  ),
  status: object('Observed state of Keystone.', { ...common, phase, data, ...endpoints, authorities }),
  columns: [endpointColumn],
});

export type Keystone = ObjectOf<typeof Keystone>;
export type KeystoneSpec = SpecOf<typeof Keystone>;
export type KeystoneStatus = StatusOf<typeof Keystone>;
