import { type LabelSelector, matchesLabels } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { Live } from './live.ts';
import { planVolumeOwners } from './volumes.ts';

const count = 2000;
const labels = Object.fromEntries(['name', 'instance', 'component'].map((name) => [`app.kubernetes.io/${name}`, 'db']));
const named = (name: string, more: { labels?: Record<string, string>; deletionTimestamp?: string } = {}) => ({
  metadata: { name, namespace: 'ns', uid: name, ...more },
});

test('the claims of a namespace are looked at once for all StatefulSets of a resource', () => {
  const set = (name: string) => ({
    ...named(name),
    kind: 'StatefulSet',
    // A selector that takes long: it may be anybody's.
    spec: {
      selector: {
        matchLabels: labels,
        matchExpressions: Array.from({ length: 1_000 }, () => ({ key: 'a', operator: 'Exists' })),
      },
      volumeClaimTemplates: [named('data'), named('log')],
    },
  });
  const claims = [
    ...Array.from({ length: count }, (_, index) => named(`data-db${index}-0`, { labels })),
    named('data-db0-12', { labels }),
    named('data-db0', { labels }),
    named('data-db0-x-0', { labels }),
    named('log-db0-0'),
    named('log-db0-1', { labels, deletionTimestamp: '2026-01-01T00:00:00Z' }),
  ];
  let lists = 0;
  const object = {
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'MariaDB',
    ...named('db', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    spec: { deletionPolicy: 'Delete' },
  };
  const live = {
    resource: object,
    cache: {
      has: () => true,
      get: () => object,
      controlledBy: () => Array.from({ length: count }, (_, index) => set(`db${index}`)),
      list: (_kind: unknown, { labelSelector }: { labelSelector: LabelSelector }) => {
        lists++;
        return claims.filter(({ metadata }) => matchesLabels(labelSelector, metadata.labels));
      },
    },
  } as unknown as Live;
  const patched = planVolumeOwners(live).actions.flatMap((action) =>
    action.verb === 'patch' ? [action.live.metadata.name] : [],
  );
  expect(lists).toBe(1);
  expect(patched).toHaveLength(count + 1);
  expect(patched).toContain('data-db0-12');
});
