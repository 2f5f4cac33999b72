import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** Why some mistakes go unnoticed in reality as well. */
export interface Explanation {
  /** Text with `*` for any characters, matched against the whole id of a mutant. */
  readonly pattern: string;
  readonly reason: string;
}

/** Reads survivors.yaml: reason -> patterns. @throws when an entry has no reason or no pattern */
export function readExplanations(path: string): Explanation[] {
  const entries = parse(readFileSync(path, 'utf8')) as { reason?: string; mutants?: string[] }[] | null;
  return (entries ?? []).flatMap(({ reason, mutants }, index) => {
    if (!reason || !mutants?.length) throw new Error(`${path}: entry ${index + 1} needs a reason and mutants`);
    return mutants.map((pattern) => ({ pattern, reason }));
  });
}

/** Whether an explanation speaks of that mutant. */
export function explains({ pattern }: Explanation, id: string): boolean {
  const expression = pattern
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${expression}$`).test(id);
}
