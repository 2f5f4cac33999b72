import { createHmac } from 'node:crypto';
import type { KubeObject } from '@openstack-operator/kube';
import { digest } from '@openstack-operator/openstack';
import type { DigestKey } from './digest-key.ts';

/** Digests of objects that were digested before: cached objects are frozen, and most stay the same from reconcile to reconcile. */
const known = new WeakMap<DigestKey, WeakMap<object, string>>();

/** Digest of a Secret's or ConfigMap's content that tells nothing about it. */
export function keyedDigest(key: DigestKey, object: KubeObject): string {
  const ofKey = known.get(key) ?? new WeakMap<object, string>();
  known.set(key, ofKey);
  let result = ofKey.get(object);
  if (result === undefined) {
    result = createHmac('sha256', key.bytes)
      .update(digest(object['data'] ?? {}))
      .digest('hex')
      .slice(0, 16);
    ofKey.set(object, result);
  }
  return result;
}
