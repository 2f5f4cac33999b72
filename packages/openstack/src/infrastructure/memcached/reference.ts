import { reference } from '../../api/references.ts';
import { array, type Infer, object, required, string } from '../../api/schema.ts';

/** `spec.cacheRef` of what has a cache. */
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

/** Its value. */
export type CacheRef = Infer<typeof cacheRef>;
