import {
  type Client,
  type Clock,
  ConnectionError,
  isApiError,
  type Log,
  Secret,
  type StoredObject,
  sleep,
} from '@openstack-operator/kube';
import { digest, fieldManager } from '@openstack-operator/openstack';
import { type OperatorContext, readLive } from '../context.ts';

/** Name of the Secret that holds the key, in the namespace of each cloud. */
export const digestKeySecret = 'openstack-digest-key';

/** Name of the Secret of the one key that all clouds had, in the operator's own namespace. It is only read. */
export const formerDigestKeySecret = 'openstack-operator-digest-key';

/** The key of the digests of Secrets that stand in annotations. */
export interface DigestKey {
  /** 10 characters that follow from the key; undefined for the one key that all clouds had. */
  readonly id?: string;
  readonly bytes: Uint8Array;
}

/** One `DigestKey` for each state of a Secret: what was digested with it is remembered by it. */
const known = new WeakMap<object, DigestKey>();

/**
 * The key of the digests of the resource's namespace: made once, and backed up with the namespace. When it is lost,
 * another is made: digests name their key, and those of another key are adopted (adopt-digests.ts). Undefined while the
 * namespace is being deleted, where nothing can be made any more.
 * @throws Error when a Secret of that name is somebody else's
 */
export async function ensureDigestKey(context: OperatorContext): Promise<DigestKey | undefined> {
  const { namespace = '' } = context.object.metadata;
  const ref = { namespace, name: digestKeySecret };
  const found = (await readLive(context, Secret, ref)) ?? (await createKey(context, ref));
  if (found === undefined) return undefined;
  const key = keyIn(found) ?? keyIn(await completeKey(context, found));
  if (key === undefined) throw new Error(`Secret ${namespace}/${digestKeySecret} has no key "key"`);
  return key;
}

function keyIn(secret: StoredObject): DigestKey | undefined {
  const bytes = bytesIn(secret);
  if (bytes === undefined) return undefined;
  const key = known.get(secret) ?? { id: digest(`digest key ${bytes.toString('base64')}`), bytes };
  known.set(secret, key);
  return key;
}

function bytesIn(secret: StoredObject): Buffer | undefined {
  const bytes = Buffer.from((secret['data'] as Record<string, string> | undefined)?.['key'] ?? '', 'base64');
  return bytes.length === 0 ? undefined : bytes;
}

async function createKey(
  context: OperatorContext,
  ref: { readonly namespace: string; readonly name: string },
): Promise<StoredObject<Secret> | undefined> {
  const labels = { 'app.kubernetes.io/part-of': 'openstack', 'app.kubernetes.io/managed-by': fieldManager };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...ref, labels },
    type: 'Opaque',
    data: newKey(context),
  } as const;
  try {
    return await context.client.create(Secret, secret, { fieldManager, signal: context.signal });
  } catch (error) {
    // The admission plugin NamespaceLifecycle: nothing is created in a namespace that is being deleted.
    if (isApiError(error, 403) && error.message.includes('is being terminated')) return undefined;
    // Another resource of the namespace, or another replica, was faster.
    if (!isApiError(error, 409)) throw error;
    return await context.client.get(Secret, ref, { signal: context.signal });
  }
}

/** A Secret whose key was taken out gets another one, under its resourceVersion. */
async function completeKey(context: OperatorContext, live: StoredObject<Secret>): Promise<StoredObject> {
  if (live.metadata.labels?.['app.kubernetes.io/managed-by'] !== fieldManager) {
    const { namespace, name } = live.metadata;
    throw new Error(
      `Secret ${namespace}/${name} has no key "key", and is not the operator's: delete it, and the operator makes its own`,
    );
  }
  const data = { ...live['data'], ...newKey(context) };
  return await context.client.replace(Secret, { ...live, data }, { fieldManager, signal: context.signal });
}

function newKey({ random }: OperatorContext): { readonly key: string } {
  return { key: Buffer.from(random.bytes(32)).toString('base64') };
}

/** What the former key is read with. */
export interface FormerKeyOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  /** The operator's own namespace. */
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Milliseconds between attempts while the API server does not answer. */
const retryPeriod = 5000;

/**
 * The one key that all clouds had, where an operator of that time left it: with it, what really changed since is told
 * from what only has another key now. Undefined when there is none, or when it may not be read.
 */
export async function formerDigestKey(options: FormerKeyOptions): Promise<DigestKey | undefined> {
  const { client, clock, log, namespace, signal } = options;
  for (;;) {
    try {
      const secret = await client.get(Secret, { namespace, name: formerDigestKeySecret }, { signal });
      const bytes = bytesIn(secret);
      return bytes === undefined ? undefined : { bytes };
    } catch (error) {
      if (isApiError(error, 404) || isApiError(error, 403)) return undefined;
      const passes =
        error instanceof ConnectionError || (isApiError(error) && (error.code === 429 || error.code >= 500));
      if (!passes || signal.aborted) throw error;
      log.warn('the former key of digests could not be read yet', { secret: formerDigestKeySecret, error });
      await sleep(clock, retryPeriod, signal);
    }
  }
}
