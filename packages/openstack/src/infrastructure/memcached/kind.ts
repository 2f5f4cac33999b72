import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { nameLength } from '../../api/names.ts';
import { int, object } from '../../api/schema.ts';
import { common, phase } from '../../api/status.ts';
import { template } from '../../api/template.ts';

const single = {
  components: ['server'],
  reason: 'clients would see a different cache behind each of several servers; raise memoryMegabytes instead',
} as const;

/** The cache. */
export const Memcached = defineApi({
  kind: 'Memcached',
  plural: 'memcacheds',
  shortName: 'osmc',
  description: 'A Memcached server, which caches validated tokens and other data that may be lost.',
  nameLength: nameLength.service,
  spec: object('Desired state of Memcached.', {
    ...template({ main: 'the server', components: ['server'], single }),
    memoryMegabytes: int('Memory for cached items, in MiB. A change restarts the server, which empties the cache.', {
      minimum: 16,
      maximum: 65536,
      fallback: 256,
    }),
    maxConnections: int('How many clients may be connected at once. A change restarts the server.', {
      minimum: 64,
      maximum: 1000000,
      fallback: 5000,
    }),
  }),
  status: object('Observed state of Memcached.', { ...common, phase }),
});

export type Memcached = ObjectOf<typeof Memcached>;
export type MemcachedSpec = SpecOf<typeof Memcached>;
export type MemcachedStatus = StatusOf<typeof Memcached>;
