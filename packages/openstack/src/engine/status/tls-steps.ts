import type { Progress } from '../vocabulary/step.ts';

/**
 * What the APIs and their clients inside the cluster do: without TLS; with ports and an authority that clients trust, but do
 * not use yet; by TLS.
 */
export type TlsState = 'Off' | 'Prepared' | 'Enabled';

/** The condition that tells of a cloud that it is on the way. */
export const tlsCondition = 'TLSReady';

/** What a resource with a field `tls` is told to do. */
export function tlsState(tls: { readonly enabled?: boolean } | undefined): TlsState {
  if (tls === undefined) return 'Off';
  return tls.enabled === true ? 'Enabled' : 'Prepared';
}

/** The field `tls` that says so. */
export function tlsField(state: TlsState): { readonly enabled: boolean } | undefined {
  return state === 'Off' ? undefined : { enabled: state === 'Enabled' };
}

/**
 * What is to be done next. In a cloud in use no client may be sent to a port that is not there, or shown a certificate that it
 * does not trust: on the way from one end to the other all have to be prepared.
 * @param present what is there
 * @param settled what all were done with
 */
export function nextTls(
  wanted: Exclude<TlsState, 'Prepared'>,
  present: TlsState,
  settled: TlsState | undefined,
): TlsState {
  if (present === wanted) return wanted;
  return present === 'Prepared' && settled === 'Prepared' ? wanted : 'Prepared';
}

/** What the steps of a cloud were composed for, and whether all had been done with just that before. */
export interface ComposedTls {
  readonly now: TlsState;
  readonly wasSettled: boolean;
  /** Generation of the child that was told what is there. */
  readonly generation?: number | undefined;
}

/**
 * What all were done with, if the child has been told nothing else since: one that was told something else and then the same
 * again has another generation, and clients of what it was told in between may still be there.
 * @param generation of the child as it is there; undefined while it is not: its clients are as they were
 */
export function stillSettled(
  { tls, tlsGeneration }: { readonly tls?: TlsState; readonly tlsGeneration?: number },
  generation: number | undefined,
): TlsState | undefined {
  return generation === undefined || generation === tlsGeneration ? tls : undefined;
}

/** What all are done with, after the steps were assessed. */
export function settledTls(
  { now, wasSettled }: ComposedTls,
  progress: readonly Progress[],
): Exclude<TlsState, 'Off'> | undefined {
  const isDone = progress.every(
    ({ condition, status, leaving }) => condition === tlsCondition || (status === 'True' && leaving !== true),
  );
  return now === 'Off' || !(isDone || wasSettled) ? undefined : now;
}
