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

test('what is pruned after a step stays until that is done, with all variants of its component', () => {
  const sets = ['storage', 'storage-b', 'storages'].map((component) => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name: component,
      namespace: 'ns',
      uid: component,
      labels: { 'app.kubernetes.io/component': component },
    },
  }));
  const deleted = (...done: string[]) => {
    const live = {
      resource: { kind: 'Swift', metadata: { name: 's', namespace: 'ns', uid: 's' } },
      cache: {
        has: () => true,
        synced: () => true,
        served: () => true,
        controlledBy: ({ kind }: Kind) => (kind === 'StatefulSet' ? sets : []),
        list: () => [],
      },
      done: new Set(done),
      retaining: [],
    } as unknown as Live;
    const prunedAfter = { storage: 'RingsReady' };
    const { actions } = planPrune(live, { steps: [], complete: true, status: {}, prunedAfter });
    return actions.map((action) => ('live' in action ? action.live?.metadata.name : undefined));
  };
  expect(deleted()).toEqual(['storages']);
  expect(deleted('RingsReady')).toEqual(['storage', 'storage-b', 'storages']);
});
