import { host, port, reference, secretName } from '../../api/references.ts';
import { type Infer, object, required } from '../../api/schema.ts';

/** `spec.databaseRef` of what has databases. */
export const databaseRef = reference(
  'The database server that holds the databases.',
  'MariaDB',
  object(
    'A MariaDB server that this operator does not run. MySQL does not support the statements that create users with a hashed password.',
    {
      host: required(host('Host name or address.')),
      port: port('Port.', 3306),
      secretName: required(
        secretName('Secret with keys username and password of an account that may create databases and users.'),
      ),
      caSecretName: secretName(
        'Secret whose key ca.crt is the certificate of the authority that has signed that of the server. Clients connect by TLS then, to a server of that host name alone.',
      ),
    },
  ),
);

/** Its value. */
export type DatabaseRef = Infer<typeof databaseRef>;
