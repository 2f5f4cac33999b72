import {
  type Client,
  type Clock,
  ConnectionError,
  isApiError,
  type Log,
  type Random,
  Secret,
  type StoredObject,
  sleep,
} from '@openstack-operator/kube';

/** Name of the Secret that holds the key, in the operator's own namespace. */
export const digestKeySecret = 'openstack-operator-digest-key';

/** What the key is made with. */
export interface DigestKeyOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The operator's own namespace. */
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Milliseconds between attempts while the API server does not answer. */
const retryPeriod = 5000;

/**
 * The key of the digests that stand in annotations: made once, so that a restart or another replica computes the same
 * digests and rolls nothing. Waits while the API server does not answer.
 */
export async function ensureDigestKey(options: DigestKeyOptions): Promise<Uint8Array> {
  const { clock, log, namespace, signal } = options;
  for (;;) {
    try {
      const secret = await keySecret(options);
      const key = (secret['data'] as Record<string, string> | undefined)?.['key'];
      if (key !== undefined) return Buffer.from(key, 'base64');
      throw new Error(
        `Secret ${namespace}/${digestKeySecret} has no key "key": delete it, and start the operator again, which makes it anew`,
      );
    } catch (error) {
      const passes =
        error instanceof ConnectionError || (isApiError(error) && (error.code === 429 || error.code >= 500));
      if (!passes || signal.aborted) throw error;
      log.warn('the key of digests could not be read or made yet', { secret: digestKeySecret, error });
      await sleep(clock, retryPeriod, signal);
    }
  }
}

async function keySecret({ client, random, namespace, signal }: DigestKeyOptions): Promise<StoredObject> {
  const ref = { namespace, name: digestKeySecret };
  try {
    return await client.get(Secret, ref, { signal });
  } catch (error) {
    if (!isApiError(error, 404)) throw error;
  }
  const metadata = { ...ref, labels: { 'app.kubernetes.io/part-of': 'openstack-operator' } };
  const data = { key: Buffer.from(random.bytes(32)).toString('base64') };
  try {
    return await client.create(
      Secret,
      { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data },
      { signal },
    );
  } catch (error) {
    // Another replica was faster.
    if (!isApiError(error, 409)) throw error;
    return await client.get(Secret, ref, { signal });
  }
}
