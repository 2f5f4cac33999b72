import { type UpgradePhase, upgradePhases } from '../api/status.ts';
import type { ReleaseProgress } from '../engine/status/upgrade.ts';
import type { Progress } from '../engine/vocabulary/step.ts';

/**
 * Where a resource is between two releases, after its steps were assessed. It only goes on when what the phase is for is
 * done, and what is done at the moment of the assessment counts, so that a restart in the middle misses nothing.
 * @param before what the status says
 * @param composed what the steps were composed for
 */
export function advance(
  before: ReleaseProgress,
  composed: Pick<ReleaseProgress, 'target' | 'phase'>,
  progress: readonly Progress[],
): ReleaseProgress {
  const { target, phase } = composed;
  if (target === undefined) return before;
  const open = progress.filter(({ condition, status }) => status !== 'True' && condition !== 'UpgradeReady');
  const isDone = open.length === 0;
  const deployed = before.deployed === undefined ? {} : { deployed: before.deployed };
  if (phase === undefined) return isDone ? { deployed: target, target } : { ...deployed, target };
  if (!hasEnded(phase, progress, isDone)) return { ...deployed, target, phase };
  const next = upgradePhases[upgradePhases.indexOf(phase) + 1];
  return next === undefined ? { deployed: target, target } : { ...deployed, target, phase: next };
}

/** Whether what a phase is for is done. The schema is contracted when no program of the release before is left. */
function hasEnded(phase: UpgradePhase, progress: readonly Progress[], isDone: boolean): boolean {
  if (phase === 'Expand')
    return progress.some(({ condition, status }) => condition === 'MigrationReady' && status === 'True');
  return isDone && (phase === 'Contract' || !progress.some(({ outdated }) => outdated === true));
}
