import type { Deployment, Stored } from '../cluster/kinds.ts';
import { resolveIntOrPercent } from './int-or-percent.ts';

/** How far a rollout may go above and below the wanted number. */
export interface Bounds {
  readonly surge: number;
  readonly unavailable: number;
}

/** maxSurge rounds up, maxUnavailable down; both 0 would never move, so that one may then be missing. */
export function boundsOf({ spec }: Stored<Deployment>): Bounds {
  if (spec.strategy?.type === 'Recreate') return { surge: 0, unavailable: 0 };
  const { maxSurge = '25%', maxUnavailable = '25%' } = spec.strategy?.rollingUpdate ?? {};
  const replicas = spec.replicas ?? 1;
  const surge = resolveIntOrPercent(maxSurge, replicas, 'up');
  const unavailable = Math.min(resolveIntOrPercent(maxUnavailable, replicas, 'down'), replicas);
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}
