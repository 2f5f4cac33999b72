import type { KubeObject } from '@openstack-operator/kube';
import { type Sample, samples } from './builtin-objects.ts';
import { spec, type WrongObject } from './wrong-objects.ts';

/** Changes of a stored sample that are refused. */
export const wrongChanges: Readonly<Record<string, WrongObject>> = {
  'an immutable ConfigMap': { from: 'config-map-frozen', patch: { immutable: false, data: { a: 'b' } } },
  'an immutable Secret': { from: 'secret-frozen', patch: { data: { a: 'Yw==' } } },
  "a Secret's type": { from: 'secret', patch: { type: 'x' } },
  "a Deployment's selector": {
    from: 'deployment',
    patch: { spec: { selector: { matchLabels: { app: 'b' } }, template: { metadata: { labels: { app: 'b' } } } } },
  },
  "a StatefulSet's service": { from: 'stateful-set', patch: spec({ serviceName: 'y' }) },
  "a StatefulSet's claims": { from: 'stateful-set-claims', patch: spec({ volumeClaimTemplates: null }) },
  "a Job's completions": { from: 'job', patch: spec({ completions: 5 }) },
  "a Job's selector": { from: 'job', patch: spec({ selector: { matchLabels: { a: 'b' } } }) },
  "a Service's address": { from: 'service-addressed', patch: spec({ clusterIP: 'None', clusterIPs: ['None'] }) },
  "a claim's class": { from: 'persistent-volume-claim-named', patch: spec({ storageClassName: 'other' }) },
  'a claim that shrinks': {
    from: 'persistent-volume-claim',
    patch: spec({ resources: { requests: { storage: '1Mi' } } }),
  },
  "a binding's role": { from: 'role-binding', patch: { roleRef: { name: 'other' } } },
  "a StorageClass's provisioner": { from: 'storage-class', patch: { provisioner: 'example.com/other' } },
  "a slice's address type": {
    from: 'endpoint-slice',
    patch: { addressType: 'IPv6', endpoints: [{ addresses: ['fd00::1'] }] },
  },
  "a PriorityClass's value": { from: 'priority-class', patch: { value: 11 } },
  "a pod's command": { from: 'pod', patch: spec({ containers: [{ name: 'main', image: 'a', command: ['x'] }] }) },
  'a name': { from: 'config-map', patch: { metadata: { name: 'other' } } },
  'a uid': { from: 'config-map', patch: { metadata: { uid: '11111111-1111-4111-8111-111111111111' } } },
};

const frozen = (name: string, content: object): Sample => {
  const sample = samples[name];
  if (!sample) throw new Error(`no sample ${name}`);
  return { ...sample, object: merge(sample.object, content) as KubeObject };
};

/** Samples of the stored objects that only changes need. */
export const changedSamples: Readonly<Record<string, Sample>> = {
  ...samples,
  'config-map-frozen': frozen('config-map', { immutable: true }),
  'secret-frozen': frozen('secret', { immutable: true }),
  'service-addressed': frozen('service', { spec: { clusterIP: '10.96.<octets>' } }),
  'persistent-volume-claim-named': frozen('persistent-volume-claim', { spec: { storageClassName: 'one' } }),
};

/** A JSON merge patch (RFC 7386). */
export function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = typeof target === 'object' && target !== null ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return result;
}
