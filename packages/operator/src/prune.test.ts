import type { Kind, KubeObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { Pass } from './pass.ts';
import { prune } from './prune.ts';

test('what users mount is looked up once for all ConfigMaps, whatever their labels; what nobody mounts goes', async () => {
  const configMaps = Array.from({ length: 100 }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `c${index}`,
      namespace: 'ns',
      uid: `c${index}`,
      labels: { 'app.kubernetes.io/instance': `${index}` },
    },
  }));
  let looks = 0;
  const job = {
    kind: 'Job',
    metadata: { name: 'j' },
    get spec() {
      looks++;
      const volumes = configMaps.slice(1).map(({ metadata: { name } }) => ({ name, configMap: { name } }));
      return { template: { spec: { volumes } } };
    },
  };
  const removed: (string | undefined)[] = [];
  const pass = {
    object: { kind: 'Memcached', metadata: { name: 'm', namespace: 'ns', uid: 'm' } },
    cache: {
      has: () => true,
      synced: () => true,
      served: () => true,
      controlledBy: ({ kind }: Kind) => (kind === 'ConfigMap' ? configMaps : []),
      list: ({ kind }: Kind) => (kind === 'Job' ? [job] : []),
    },
    remove: async ({ metadata }: KubeObject) => void removed.push(metadata.name),
  } as unknown as Pass;
  await prune(pass, { steps: [], complete: true, status: {} }, new Set(), []);
  expect(removed).toEqual(['c0']);
  expect(looks).toBe(1);
});
