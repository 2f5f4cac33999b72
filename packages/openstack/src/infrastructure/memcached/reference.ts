import { host, port, reference, secretName } from '../../api/references.ts';
import { array, type Infer, object, required, string } from '../../api/schema.ts';

/** `spec.cacheRef` of what has a cache. */
export const cacheRef = reference(
  'The cache.',
  'Memcached',
  object('Memcached servers that this operator does not run.', {
    servers: required(
      array(
        'The servers, as host:port.',
        string('host:port.', {
          maxLength: 259,
          form: { pattern: '^[A-Za-z0-9:.-]+:[0-9]+$', expected: 'host:port, such as cache.example.com:11211' },
        }),
        {
          minItems: 1,
          maxItems: 16,
          unique: true,
        },
      ),
    ),
  }),
);

/** Its value. */
export type CacheRef = Infer<typeof cacheRef>;

/** `spec.coordinationRef` of what has several processes that agree on who does what: locks, leaders, groups (tooz). */
export const coordinationRef = reference(
  'What its processes coordinate by.',
  'Memcached',
  object(
    'A Valkey or Redis that this operator does not run. Unlike a Memcached it forgets no lock when it is restarted.',
    {
      host: required(host('Host name or address.')),
      port: port('Port.', 6379),
      secretName: secretName('Secret with the password (key password). Absent: it asks for none.'),
    },
  ),
);

/** Its value. */
export type CoordinationRef = Infer<typeof coordinationRef>;
