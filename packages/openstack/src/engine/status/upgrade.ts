import type { UpgradePhase } from '../../api/status.ts';
import { releaseNamed, releaseNameOf } from '../../releases/index.ts';
import type { Release } from '../../releases/release.ts';
import type { Problem } from '../vocabulary/step.ts';
import type { ServiceSpec } from '../vocabulary/surroundings.ts';

/** Where a resource is between two releases, as `status.release` has it. An input of compose, advanced by `advance` alone. */
export interface ReleaseProgress {
  /** What runs, once every step was done with it. */
  readonly deployed?: string;
  /** What is being rolled out. */
  readonly target?: string;
  /** Absent while `deployed` is the target, at the first deployment, and for what has no schema. */
  readonly phase?: UpgradePhase;
}

/** What is to run now, and what it comes to. */
export interface Upgrade {
  /** Release of the programs. */
  readonly running: Release;
  /** Release of the schema. */
  readonly target: Release;
  readonly phase?: UpgradePhase;
}

/** The release that a resource is to have: what its spec says, else the one that it is at. */
export function targetOf(
  spec: { readonly release?: string } | undefined,
  { target, deployed }: ReleaseProgress,
): string {
  return releaseNameOf(spec, target ?? deployed);
}

/**
 * What of two releases a service runs now.
 * @param hasSchema whether it says how its schema follows its release
 * @throws Error when one of the releases is not known (`upgradeProblem` tells of it)
 */
export function upgradeOf(hasSchema: boolean, spec: ServiceSpec | undefined, progress: ReleaseProgress): Upgrade {
  const target = known(targetOf(spec, progress));
  const { deployed = target.name } = progress;
  if (!hasSchema || deployed === target.name) return { running: target, target };
  const phase = progress.target === target.name ? (progress.phase ?? 'Expand') : 'Expand';
  return { running: phase === 'Expand' ? known(deployed) : target, target, phase };
}

function known(name: string): Release {
  const release = releaseNamed(name);
  if (release === undefined) throw new Error(`release ${name} is not known`);
  return release;
}

/** Why a resource cannot come from the release that it has to the one that it asks for; undefined when it can. */
export function upgradeProblem(spec: ServiceSpec | undefined, progress: ReleaseProgress): Problem | undefined {
  const { deployed, target: before, phase } = progress;
  const target = targetOf(spec, progress);
  if (deployed === undefined || deployed === target) {
    return phase === 'Contract' && before !== target
      ? refused(
          `the schema is being contracted for ${before} already, with which ${target} does not run: let it go on to ${before}`,
        )
      : undefined;
  }
  if (phase !== undefined && phase !== 'Expand' && before !== target)
    return refused(
      `the upgrade from ${deployed} to ${before} has to end first, then to ${target}: set ${before} until it has`,
    );
  const { from = [] } = releaseNamed(target) ?? {};
  if (from.includes(deployed)) return undefined;
  const ways = from.length === 0 ? 'no other release' : from.join(', ');
  return refused(`${target} can be reached from ${ways}, not from ${deployed}: set spec.release to ${deployed}`);
}

function refused(message: string): Problem {
  return { reason: 'ReleaseRefused', message: `spec.release: ${message}` };
}

/** What is going on in a phase, for people. */
export const phaseWords: Readonly<Record<UpgradePhase, string>> = {
  Expand: 'the schema is being expanded, and programs of the release before run',
  Rollout: 'programs are being replaced',
  Contract: 'the schema is being contracted',
};
