import type { Assembly } from '../compose/assembly.ts';
import { addJob } from '../compose/compose-jobs.ts';
import { phaseWords, type Upgrade } from '../status/upgrade.ts';
import type { Job } from './service.ts';

/**
 * How the schema of a service follows its release. Each command is run by a Job in the image of the release that is
 * rolled out, and may be run twice.
 */
export interface Migration extends Pick<Job, 'image' | 'config' | 'mounts'> {
  /** Brings an empty database, or one of the same release, to its schema. */
  readonly sync: readonly string[];
  /** What an upgrade runs in its place while programs of the release before run; default: `sync`. */
  readonly expand?: readonly (readonly string[])[];
  /**
   * The program, with its options, whose `upgrade check` tells whether the new release may run on what there is. An upgrade runs it
   * after `expand`, as it reads tables by what the new release knows of them, and replaces no program before it is content.
   */
  readonly check?: readonly string[];
  /** What it runs when all programs are of the new release: contraction, and data that is moved online. */
  readonly contract?: readonly (readonly string[])[];
}

/** Adds the Jobs of the schema: one outside of an upgrade, and in it those of the phase that it is in. */
export function addMigration(assembly: Assembly, migrate: Migration | undefined, upgrade: Upgrade): void {
  if (migrate === undefined) return;
  const { running, target, phase } = upgrade;
  const { sync, expand = [sync], check, contract = [], ...common } = migrate;
  const add = (suffix: string, step: string, commands: readonly (readonly string[])[], ...needs: string[]) => {
    const runs = commands.map((command, index) => ({
      name: commands.length === 1 ? suffix : `${suffix}-${index + 1}`,
      command,
    }));
    addJob(assembly, { ...common, suffix, step, runs, release: target }, 'ConfigReady', 'DatabaseReady', ...needs);
  };
  if (phase === undefined) return add('db-sync', 'MigrationReady', [sync]);
  add('db-expand', 'MigrationReady', [...expand, ...(check === undefined ? [] : [checkedBy(check)])]);
  if (phase === 'Contract' && contract.length > 0) add('db-contract', 'ContractionReady', contract, 'MigrationReady');
  const from = phase === 'Expand' ? running.name : (assembly.context.surroundings.release.deployed ?? running.name);
  const message = `upgrade from ${from} to ${target.name}, phase ${phase}: ${phaseWords[phase]}`;
  assembly.drafts.refuse('UpgradeReady', { reason: 'Upgrading', message });
}

/**
 * Its status is 1 where it has warnings alone (oslo_upgradecheck.upgradecheck.Code), and where it crashes. A table is what it
 * says.
 */
function checkedBy(program: readonly string[]): readonly string[] {
  const script = `code=0
said=$("$@" upgrade check) || code=$?
echo "$said"
case $code:$said in
  0:* | 1:*'Result: Warning'*) ;;
  *)
    echo "$1 upgrade check failed: the log of the Job says what has to be done first"
    exit 1
    ;;
esac`;
  return ['sh', '-euc', script, 'check', ...program];
}
