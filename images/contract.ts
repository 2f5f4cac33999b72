import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** What the operator relies on in every image set: contract.yaml. */
export interface Contract {
  /** Numeric ids by name: uid = gid. */
  readonly users: Readonly<Record<string, number>>;
  /** Groups of another name than their user's, by user. */
  readonly groups: Readonly<Record<string, string>>;
  /** Homes other than /var/lib/<user>, by user. */
  readonly homes: Readonly<Record<string, string>>;
  /** Further members by group. */
  readonly members: Readonly<Record<string, readonly string[]>>;
}

/** The contract of this directory. */
export function readContract(): Contract {
  return parse(readFileSync(new URL('contract.yaml', import.meta.url), 'utf8')) as Contract;
}
