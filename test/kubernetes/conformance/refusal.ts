import { isApiError } from '@openstack-operator/kube';

/** One of the mistakes that a server has found. */
export interface Cause {
  readonly field?: string;
  readonly message?: string;
}

/** What the server has against creating this, or changing the object `x` in this way; undefined when nothing. */
export async function refusal(write: Promise<unknown>): Promise<readonly Cause[] | undefined> {
  try {
    await write;
    return undefined;
  } catch (error) {
    if (!isApiError(error, 422)) throw error;
    return error.status.details?.causes ?? [];
  }
}
