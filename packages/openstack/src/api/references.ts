import { subdomainPattern } from './names.ts';
import { array, type Field, type Infer, int, nameOf, object, required, rule, string } from './schema.ts';

/** The name of an object in the same namespace. */
export const objectName = (what: string) => string(what, { maxLength: 253, minLength: 1, pattern: subdomainPattern });

/** The name of a Secret in the same namespace, which its user brings. */
export const secretName = (what: string) => nameOf('Secret', objectName(what));

const host = (what: string) => string(what, { maxLength: 253, minLength: 1, pattern: '^[A-Za-z0-9:.-]+$' });
const port = (what: string, fallback: number) => int(what, { minimum: 1, maximum: 65535, fallback });

/** A reference: the name of a `kind` in the same namespace, or how to reach one that this operator does not run. */
function reference<T>(what: string, kind: string, external: Field<T, false>) {
  return object(
    what,
    { name: objectName(`Name of a ${kind} in the same namespace.`), external },
    {
      rules: [rule('has(self.name) != has(self.external)', 'exactly one of name and external has to be set')],
      otherwise: `the only ${kind} in the namespace; a control plane fills in its own`,
    },
  );
}

export const databaseRef = reference(
  'The database server that holds the databases.',
  'MariaDB',
  object(
    'A MariaDB server that this operator does not run. MySQL does not know the statements that make users with a hashed password.',
    {
      host: required(host('Host name or address.')),
      port: port('Port.', 3306),
      secretName: required(
        secretName('Secret with keys username and password of an account that may create databases and users.'),
      ),
    },
  ),
);

export const messageQueueRef = reference(
  'The message broker.',
  'RabbitMQ',
  object('A RabbitMQ that this operator does not run.', {
    host: required(host('Host name or address.')),
    port: port('AMQP port.', 5672),
    managementPort: port('Port of the management API, through which users and virtual hosts are made.', 15672),
    secretName: required(secretName('Secret with keys username and password of an administrator.')),
  }),
);

export const cacheRef = reference(
  'The cache.',
  'Memcached',
  object('Memcached servers that this operator does not run.', {
    servers: required(
      array(
        'The servers, as host:port.',
        string('host:port.', { maxLength: 259, pattern: '^[A-Za-z0-9:.-]+:[0-9]+$' }),
        {
          minItems: 1,
          maxItems: 16,
          unique: true,
        },
      ),
    ),
  }),
);

export const keystoneRef = reference(
  'The identity service that the service registers with and asks about tokens.',
  'Keystone',
  object('A Keystone that this operator does not run; the region is never bootstrapped there.', {
    authURL: required(
      string('Its URL, such as https://keystone.example.com/v3.', {
        maxLength: 2048,
        pattern: String.raw`^https?://[A-Za-z0-9.:/_~%@\[\]-]+$`,
      }),
    ),
    secretName: required(
      secretName(
        'Secret with keys username, password, projectName, userDomainName, projectDomainName of an account that may make users and endpoints.',
      ),
    ),
  }),
);

const connection = (what: string) =>
  string(what, { maxLength: 1024, pattern: '^(tcp|ssl):[^,]+:[0-9]+(,(tcp|ssl):[^,]+:[0-9]+)*$' });

export const ovnRef = reference(
  'The OVN that carries the networks.',
  'OVNNetwork',
  object('OVN databases that this operator does not run.', {
    northbound: required(
      connection(
        'Connection string of the northbound database: tcp:address:6641[,tcp:...]. A host name works only with images whose Python has the library unbound.',
      ),
    ),
    southbound: required(
      connection(
        'Connection string of the southbound database: tcp:address:6642[,tcp:...]. A host name works only with images whose Python has the library unbound.',
      ),
    ),
  }),
);

/** A reference to another service of the same cloud, which this operator runs. */
export const serviceRef = (kind: string, purpose: string) =>
  object(
    `The ${kind} ${purpose}.`,
    { name: required(objectName(`Name of a ${kind} in the same namespace.`)) },
    { otherwise: `the only ${kind} in the namespace; a control plane fills in its own` },
  );

export type DatabaseRef = Infer<typeof databaseRef>;
export type MessageQueueRef = Infer<typeof messageQueueRef>;
export type CacheRef = Infer<typeof cacheRef>;
export type KeystoneRef = Infer<typeof keystoneRef>;
export type OVNRef = Infer<typeof ovnRef>;
