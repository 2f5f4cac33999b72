import { Memcached } from '../api/memcached.ts';
import { defineService } from '../engine/service.ts';

/**
 * A single memcached behind its Service (phase 1 plan, task 8). More replicas behind one address would serve revoked
 * tokens from whichever was not told (production rule 29).
 */
export const memcached = defineService<Memcached>({
  kind: Memcached,
  name: 'memcached',
  user: 'memcached',
  references: [],
  components: () => ({
    server: {
      workload: 'Deployment',
      suffix: '',
      image: 'memcached',
      runs: { command: ['memcached', '-v', '-l', '0.0.0.0', '-p', '11211', '-c', '5000', '-U', '0', '-m', '256'] },
      ports: { memcached: 11211 },
      health: { tcp: 'memcached' },
      resources: { cpu: '20m', memory: '128Mi' },
    },
  }),
});
