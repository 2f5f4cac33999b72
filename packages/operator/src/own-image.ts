import { type Client, type Clock, ConnectionError, isApiError, type Log, Pod, sleep } from '@openstack-operator/kube';

/** Where the operator runs. */
export interface OwnImageOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The operator's own pod. */
  readonly namespace: string;
  readonly pod: string;
}

/** The container of the operator, in config/manager. */
const containerName = 'operator';
/** Milliseconds between attempts while the API server does not answer. */
const retryPeriod = 5000;

/**
 * The image of the operator's container, as its pod states it, whatever a kustomization has made of it: its Jobs run the
 * same one. Undefined when there is no such pod, or it may not be read. Waits while the API server does not answer.
 */
export async function ownImage({
  client,
  clock,
  log,
  signal,
  namespace,
  pod,
}: OwnImageOptions): Promise<string | undefined> {
  for (;;) {
    try {
      const { spec } = await client.get(Pod, { namespace, name: pod }, { signal });
      const containers = spec?.containers ?? [];
      return (containers.find(({ name }) => name === containerName) ?? containers[0])?.image;
    } catch (error) {
      if (isApiError(error, 404)) return undefined;
      if (isApiError(error, 403)) {
        log.warn('the own pod may not be read; set OPERATOR_IMAGE to the image of the Jobs', { pod, error });
        return undefined;
      }
      const passes =
        error instanceof ConnectionError || (isApiError(error) && (error.code === 429 || error.code >= 500));
      if (!passes || signal.aborted) throw error;
      log.warn('the own pod could not be read yet', { pod, error });
      await sleep(clock, retryPeriod, signal);
    }
  }
}
