import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { certificateDuration, issuerRef, issuerStays, longEnough } from '../../api/issuer.ts';
import { nameLength } from '../../api/names.ts';
import { secretName } from '../../api/references.ts';
import { bool, int, object, rule, string } from '../../api/schema.ts';
import { authorities, common, data, lasting, ledMembers, phase } from '../../api/status.ts';
import { storage } from '../../api/storage.ts';
import { fileConfig, template } from '../../api/template.ts';

/** The relational database that the services keep their state in. */
export const MariaDB = defineApi({
  kind: 'MariaDB',
  plural: 'mariadbs',
  shortName: 'osmdb',
  description: 'A MariaDB server, or a Galera cluster of several, which holds the databases of the OpenStack services.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of MariaDB.',
    {
      ...template({ main: 'the server', components: ['server'], quorum: ['server'] }),
      storage: storage('Volume of the server.', '10Gi'),
      storageSize: string('Older name of storage.size. Use that field instead.', {
        maxLength: 32,
        rules: [rule('false', 'storageSize is called storage.size here: set that instead')],
      }),
      galeraEnabled: bool(
        'Says that there are several servers, which always form a Galera cluster. It follows from replicas: true demands 3 or more of them.',
        { default: false },
      ),
      maxConnections: int(
        "How many clients may be connected. The services' connection pools together must not exceed it. A change restarts the server.",
        {
          minimum: 100,
          maximum: 100_000,
          otherwise: '1000; below a control plane 4000, doubled until the pools of its services fit',
        },
      ),
      tls: object(
        'TLS between services and the server. The server has a certificate in any case, of an authority of its own (Secret <name>-tls) or of an issuer (<name>-issued-tls).',
        {
          enabled: bool('Whether services connect by TLS, to that server alone. A change replaces their pods.', {
            fallback: false,
          }),
          issuerRef,
          duration: certificateDuration,
        },
        { rules: [issuerStays.whileEnabled, longEnough] },
      ),
      config: fileConfig('my.cnf'),
      rootSecretName: secretName(
        'Secret with the password of root (key password). If absent, <name>-root-password is generated.',
      ),
    },
    {
      rules: [
        rule(
          '!has(self.galeraEnabled) || !self.galeraEnabled || (has(self.replicas) && self.replicas >= 3)',
          'galeraEnabled: true needs replicas of 3 or more; replicas alone is enough',
        ),
      ],
    },
  ),
  status: object('Observed state of MariaDB.', { ...common, phase, data, lasting, members: ledMembers, authorities }),
});

export type MariaDB = ObjectOf<typeof MariaDB>;
export type MariaDBSpec = SpecOf<typeof MariaDB>;
export type MariaDBStatus = StatusOf<typeof MariaDB>;
