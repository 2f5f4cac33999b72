import type { PolicyFacts } from '@openstack-operator/facts/policies';
import { nearest } from './nearest.ts';

/** What is found of one rule of policy that a user states. */
export interface PolicyVerdict {
  /** `wrong`: no program can evaluate it; `unknown`: no rule of the release; `deprecated`: it holds, for now. */
  readonly kind: 'wrong' | 'unknown' | 'deprecated';
  readonly message: string;
}

/** The rules of a service by name, those that they replace included. */
export function policyVerdict(
  rules: readonly PolicyFacts[],
  stated: Readonly<Record<string, string>>,
  name: string,
): PolicyVerdict | undefined {
  const names = new Set(rules.map((rule) => rule.name));
  const problem = syntaxProblem(stated[name] ?? '', (rule) => names.has(rule) || Object.hasOwn(stated, rule));
  if (problem !== undefined) return { kind: 'wrong', message: problem };
  const known = rules.find((rule) => rule.name === name);
  if (known !== undefined)
    return known.removal ? { kind: 'deprecated', message: 'a later release does not have this rule' } : undefined;
  const successors = rules.filter(({ deprecated }) => deprecated?.name === name).map((rule) => rule.name);
  if (successors.length > 0)
    return { kind: 'deprecated', message: `deprecated name: use ${successors.slice(0, 3).join(', ')}` };
  // A rule that others of the file refer to is a name of the user's own.
  if (Object.values(stated).some((check) => operandsOf(check).includes(`rule:${name}`))) return undefined;
  const near = nearest(name, names);
  return {
    kind: 'unknown',
    message: `the release has no such rule${near === undefined ? '' : `; did you mean ${near}?`}`,
  };
}

const grammar =
  "expected '@', '!', or checks such as role:admin, rule:<name> and project_id:%(project_id)s, joined by and, or, not and parentheses";

/** What is wrong with a check string, by oslo.policy's grammar (oslo_policy/_parser.py): it would refuse everybody. */
function syntaxProblem(check: string, isRule: (name: string) => boolean): string | undefined {
  if (check.trim() === '') return undefined;
  let depth = 0;
  let wantsCheck = true;
  for (const token of tokensOf(check)) {
    const word = token.toLowerCase();
    if (word === '(' || word === 'not') {
      if (!wantsCheck) return `unexpected ${token}: ${grammar}`;
      if (word === '(') depth++;
      continue;
    }
    if (word === ')' || word === 'and' || word === 'or') {
      if (wantsCheck) return `unexpected ${token}: ${grammar}`;
      if (word !== ')') wantsCheck = true;
      else if (--depth < 0) return `unexpected ): ${grammar}`;
      continue;
    }
    if (!wantsCheck || !/^(?:@|!|[^:]+:.+)$/.test(token)) return `unexpected ${token}: ${grammar}`;
    if (token.startsWith('rule:') && !isRule(token.slice('rule:'.length)))
      return `${token}: no rule of the release or of spec.policy has this name`;
    wantsCheck = false;
  }
  return wantsCheck || depth > 0 ? `it ends too early: ${grammar}` : undefined;
}

function operandsOf(check: string): string[] {
  return tokensOf(check).filter((token) => token.includes(':'));
}

/** Words, and the parentheses around them; those within a word, as in `%(project_id)s`, belong to it. */
function tokensOf(check: string): string[] {
  return check
    .split(/\s+/)
    .flatMap((word) => /^(\(*)(.*?)(\)*)$/.exec(word)?.slice(1) ?? [])
    .flatMap((part) => (/^[()]+$/.test(part) ? part.split('') : [part]))
    .filter((part) => part !== '');
}
