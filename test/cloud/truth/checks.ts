import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Container, execute } from '../pods.ts';
import { allowed, linesOf, unlisted } from './allowed.ts';
import { type ConfiguredPrograms, programs } from './programs.ts';

const script = readFileSync(join(import.meta.dirname, 'options.py'), 'utf8');

/** Programs of the table, and a container that they run in. */
export interface RunningPrograms extends ConfiguredPrograms {
  /** Service and component. */
  readonly name: string;
  readonly container: Container;
}

/**
 * The rows of the table for what runs: one for each component, of which there may be several variants, such as one for each
 * backend.
 * @throws Error when nothing runs of what every cloud has
 */
export function runningPrograms(running: readonly Container[]): RunningPrograms[] {
  return programs.flatMap((row) =>
    row.components.flatMap((name) => {
      const found = running.filter(
        ({ service, component }) => service === row.service && (component === name || component.startsWith(`${name}-`)),
      );
      // The first container of a pod is that of its program.
      const first = new Map(found.toReversed().map((container) => [container.component, container]));
      if (first.size === 0 && row.isOptional !== true) throw new Error(`no pod of ${row.service} ${name} runs`);
      return [...first.values()].map((container) => ({
        ...row,
        name: `${row.service} ${container.component}`,
        container,
      }));
    }),
  );
}

/** What of its files and its environment is no option of its own, or not of its type. */
export async function optionMistakes({ container, files, namespaces }: RunningPrograms): Promise<string[]> {
  const command = ['python3', '-W', 'ignore', '-', namespaces.join(','), ...files];
  const { code, stdout, stderr } = await execute(container, command, script);
  return code === 0 ? unlisted(linesOf(stdout), allowed.options) : [`options.py ended with ${code}: ${stderr}`];
}

/** What oslo-config-validator says against its files. */
export async function validatorMistakes(one: RunningPrograms): Promise<string[]> {
  const { container, files, namespaces, dynamicGroups = [] } = one;
  const mistakes = files.map(async (file) => {
    const groups = [...dynamicGroups, ...namedGroups((await execute(container, ['cat', file])).stdout)];
    const options = [
      ...namespaces.flatMap((name) => ['--namespace', name]),
      ...groups.flatMap((name) => ['--exclude-group', name]),
    ];
    const ended = await execute(container, ['oslo-config-validator', ...options, '--input-file', file]);
    return ended.code === 0 ? [] : [`${file}: ${ended.stderr}`];
  });
  return (await Promise.all(mistakes)).flat();
}

/** Groups of a file that its own options name: stores of Glance, backends of Cinder and Manila. */
function namedGroups(text: string): string[] {
  const lists = [...text.matchAll(/^enabled_(?:share_)?backends *= *(.*)$/gm)];
  return lists.flatMap(([, list = '']) => list.split(',').map((name) => name.trim().replace(/:.*$/, '')));
}

/**
 * What `<service>-status upgrade check` finds and is not known.
 * @throws Error when it ends otherwise, or looks at nothing
 */
export async function upgradeFindings({ container, upgradeCheck }: RunningPrograms): Promise<string[]> {
  const { code, stdout, stderr } = await execute(container, [...(upgradeCheck?.command ?? []), 'upgrade', 'check']);
  // Cells of the table that the check prints: what it looked at, and the result of it.
  const results = [...stdout.matchAll(/\| Check: (.*?) +\|\n\| Result: (\w+) +\|(?:\n\| Details: (.*?) +\|)?/g)];
  const lines = results.filter(([, , result]) => result !== 'Success').map(([, ...words]) => words.join(': '));
  if (results.length === 0 || ![0, 1].includes(code))
    throw new Error(`the upgrade check in ${container.pod} ended with ${code}: ${stdout}${stderr}`);
  return unlisted(lines, allowed.checks);
}

/** Those in whose containers the upgrade check of their service is run. */
export const withUpgradeCheck = (running: readonly RunningPrograms[]): RunningPrograms[] =>
  running.filter(({ upgradeCheck, container }) => upgradeCheck?.in === container.component);

/** All of this, of the programs of a service. @throws Error when none of them runs */
export async function programMistakes(service: string, running: readonly Container[]): Promise<string[]> {
  const its = runningPrograms(running).filter((one) => one.service === service);
  if (its.length === 0) throw new Error(`no program of ${service} runs that the table has`);
  if (its.some(({ upgradeCheck }) => upgradeCheck) && withUpgradeCheck(its).length === 0)
    throw new Error(`no container runs in which ${service} has its upgrade check`);
  const found = await Promise.all([
    ...its.flatMap((one) => [optionMistakes(one), validatorMistakes(one)]),
    ...withUpgradeCheck(its).map(upgradeFindings),
  ]);
  return found.flat();
}
