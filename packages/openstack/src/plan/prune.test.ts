import type { Kind } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { Live } from './live.ts';
import { planPrune } from './prune.ts';

test('what users mount is looked up once for all ConfigMaps, whatever their labels; what nobody mounts goes', () => {
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
  const live = {
    resource: { kind: 'Memcached', metadata: { name: 'm', namespace: 'ns', uid: 'm' } },
    cache: {
      has: () => true,
      synced: () => true,
      served: () => true,
      controlledBy: ({ kind }: Kind) => (kind === 'ConfigMap' ? configMaps : []),
      list: ({ kind }: Kind) => (kind === 'Job' ? [job] : []),
    },
    done: new Set(),
    retaining: [],
  } as unknown as Live;
  const { actions } = planPrune(live, { steps: [], complete: true, status: {} });
  expect(actions).toMatchObject([{ verb: 'delete', reason: 'NotWanted', live: { metadata: { name: 'c0' } } }]);
  expect(looks).toBe(1);
});
