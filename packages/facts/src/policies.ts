import { texts } from './generated/2025.1/policies/index.js';
import { parsedOf } from './parsed.ts';
import type { Texts } from './releases.ts';

/** A rule of a service's policy, as the service registers it. */
export interface PolicyFacts {
  readonly name: string;
  /** The check string that holds where policy files say nothing. */
  readonly check: string;
  readonly description?: string;
  /** Of which scopes a token may be: `system`, `domain`, `project`; absent: any. */
  readonly scopes: readonly string[];
  readonly operations: readonly (readonly [method: string, path: string])[];
  /** The rule that it replaces, whose check holds as well while `[oslo_policy] enforce_new_defaults` is false. */
  readonly deprecated?: { readonly name: string; readonly check: string };
  /** It will be gone. */
  readonly removal: boolean;
}

type RuleLine = readonly [name: string, check: string, rest?: Partial<PolicyFacts>];

const policyTexts: ReadonlyMap<string, Texts> = new Map([['2025.1', texts]]);

/** The rules of a service, by name; none of a service that registers none. */
export function policiesOf(release: string, service: string): readonly PolicyFacts[] {
  const lines = parsedOf<{ readonly '': readonly RuleLine[] }>(policyTexts.get(release), service)?.[''] ?? [];
  return lines.map(([name, check, rest]) => ({ name, check, scopes: [], operations: [], removal: false, ...rest }));
}
