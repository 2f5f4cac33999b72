import { type Client, isApiError, type Random, Secret, type StoredObject } from '@openstack-operator/kube';

/** Name of the Secret that holds the key, in the operator's own namespace. */
export const digestKeySecret = 'openstack-operator-digest-key';

/**
 * The key of the digests that stand in annotations: made once, so that a restart or another replica computes the same
 * digests and rolls nothing.
 */
export async function ensureDigestKey(client: Client, random: Random, namespace: string): Promise<Uint8Array> {
  const ref = { namespace, name: digestKeySecret };
  const metadata = { ...ref, labels: { 'app.kubernetes.io/part-of': 'openstack-operator' } };
  const data = { key: Buffer.from(random.bytes(32)).toString('base64') };
  let secret: StoredObject;
  try {
    secret = await client.get(Secret, ref);
  } catch (error) {
    if (!isApiError(error, 404)) throw error;
    try {
      secret = await client.create(Secret, { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data });
    } catch (conflict) {
      if (!isApiError(conflict, 409)) throw conflict;
      secret = await client.get(Secret, ref);
    }
  }
  const key = (secret['data'] as Record<string, string> | undefined)?.['key'];
  if (key === undefined)
    throw new Error(`Secret ${namespace}/${digestKeySecret} has no key "key"; delete it, and it is made anew`);
  return Buffer.from(key, 'base64');
}
