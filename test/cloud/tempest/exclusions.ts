import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Regular expressions of the ids of tests that are not run, each with its reason. */
export type Exclusions = Readonly<Record<string, string>>;

/** Exclusions besides, where the objects of a cloud are kept by Ceph's gateway. */
export const ofGateway = join(import.meta.dirname, 'exclusions-gateway.yaml');

/** Those of a file: by default of exclusions.yaml. @throws Error when one has no reason, or is no regular expression */
export function readExclusions(path = join(import.meta.dirname, 'exclusions.yaml')): Exclusions {
  const exclusions = parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  for (const [pattern, reason] of Object.entries(exclusions)) {
    if (typeof reason !== 'string' || reason.trim() === '') throw new Error(`${path}: ${pattern} has no reason`);
    try {
      RegExp(pattern);
    } catch (error) {
      throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
    }
  }
  return exclusions as Exclusions;
}

/** The exclusions that match none of these tests: tempest has renamed or dropped what they meant. */
export function withoutTest(exclusions: Exclusions, ids: readonly string[]): string[] {
  return Object.keys(exclusions).filter((pattern) => !ids.some((id) => new RegExp(pattern).test(id)));
}
