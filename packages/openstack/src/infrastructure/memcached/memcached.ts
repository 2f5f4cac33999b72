import { defineService } from '../../engine/vocabulary/service.ts';
import { cacheAddress, coordinationUrl, externalCache, externalCoordination } from './address.ts';
import { Memcached } from './kind.ts';

/**
 * A single memcached behind its Service (phase 1 plan, task 8). More replicas behind one address would serve revoked
 * tokens from whichever was not told (production rule 29).
 */
export const memcached = defineService<Memcached>({
  kind: Memcached,
  offers: {
    cacheRef: {
      capability: 'cache',
      address: cacheAddress,
      external: externalCache,
      clientOptions: [
        {
          section: 'cache',
          fields: { memcache_servers: 'spec.cacheRef', enabled: 'spec.cacheRef', backend: 'spec.cacheRef' },
        },
      ],
    },
    coordinationRef: {
      capability: 'coordination',
      address: coordinationUrl,
      external: externalCoordination,
      clientOptions: [{ section: 'coordination', fields: { backend_url: 'spec.coordinationRef' } }],
    },
  },
  child: { field: 'memcached', phase: 'Infrastructure', description: 'The cache.' },
  name: 'memcached',
  user: 'memcached',
  dependsOn: {},
  single: () => ['server'],
  components: ({ spec }) => ({
    server: {
      workload: 'Deployment',
      suffix: '',
      image: 'memcached',
      runs: {
        command: [
          'memcached',
          '-v',
          '-l',
          '0.0.0.0',
          '-p',
          '11211',
          '-c',
          String(spec.maxConnections ?? 5000),
          // No UDP: it is an amplifier for others' attacks.
          '-U',
          '0',
          '-m',
          String(memory(spec)),
        ],
      },
      ports: { memcached: 11211 },
      clients: 'dependents',
      health: { tcp: 'memcached' },
      resources: { cpu: '10m', memory: `${memory(spec) + 64}Mi` },
    },
  }),
});

/** MiB for cached items. */
function memory(spec: Memcached['spec']): number {
  return spec.memoryMegabytes ?? 256;
}
