import type { StoredObject } from '@openstack-operator/kube';
import { ownValue } from '../engine/names/own-value.ts';
import type { Observed } from './observed.ts';

/** Labels of a template by which its pods are told from others; users may add thousands. */
const distinguishing = [
  ...['name', 'instance', 'component'].map((name) => `app.kubernetes.io/${name}`),
  'batch.kubernetes.io/controller-uid',
];

/** The pods of a workload or Job, by the labels of its template. */
export function podsOf(owner: StoredObject, { pods }: Observed): readonly StoredObject[] {
  const { template } = (owner['spec'] ?? {}) as { template?: { metadata?: { labels?: Record<string, string> } } };
  const labels = distinguishing.flatMap((name) => {
    const value = ownValue(template?.metadata?.labels, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return labels.length === 0 ? [] : pods(owner.metadata.namespace ?? '', Object.fromEntries(labels));
}
