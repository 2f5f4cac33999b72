import { policiesOf } from '@openstack-operator/facts/policies';
import { parse } from 'yaml';
import { readLogic } from '../logic.ts';
import type { Identity } from './auth-token.ts';
import type { ServiceContext } from './service-context.ts';

type Rules = Readonly<Record<string, string>>;

/**
 * What a service's `policy.yaml` says of a request: its rule, and whether that lets the caller pass; undefined when it says
 * nothing, or there is no file. The file is read anew each time, as oslo.policy does once it has changed.
 */
export function statedPolicy(
  { process, config: { project, options } }: ServiceContext,
  request: { readonly method: string; readonly path: string },
  identity: Identity,
): { readonly rule: string; readonly passes: boolean } | undefined {
  const file = `/etc/${project}/policy.yaml`;
  if (!process.files.exists(file)) return undefined;
  const stated = (parse(process.files.read(file)) ?? {}) as Rules;
  const rules = policiesOf('2025.1', options);
  const found = rules.find(
    ({ name, operations }) =>
      Object.hasOwn(stated, name) &&
      operations.some(([method, path]) => method === request.method && isSamePath(path, request.path)),
  );
  if (found === undefined) return undefined;
  const checks: Rules = { ...Object.fromEntries(rules.map(({ name, check }) => [name, check])), ...stated };
  return { rule: found.name, passes: holds(stated[found.name] ?? '', checks, identity) };
}

/** Whether a path is that of an operation such as `/servers/{id}`, whatever version stands before it. */
function isSamePath(template: string, path: string): boolean {
  const segments = template.split('/').filter((segment) => segment !== '' && !/^v[\d.]+$/.test(segment));
  const asked = path.split('/').filter((segment) => segment !== '' && !/^v[\d.]+$/.test(segment));
  return (
    segments.length === asked.length && segments.every((segment, i) => segment.startsWith('{') || segment === asked[i])
  );
}

/** Whether a check string lets somebody pass; what it asks of a target, the target has. */
function holds(check: string, rules: Rules, identity: Identity, depth = 0): boolean {
  const tokens = check
    .split(/\s+/)
    .flatMap((word) => /^(\(*)(.*?)(\)*)$/.exec(word)?.slice(1) ?? [])
    .flatMap((part) => (/^[()]+$/.test(part) ? part.split('') : [part]))
    .filter((part) => part !== '');
  const operand = (): boolean => {
    const token = tokens.shift() ?? '!';
    if (token === 'not') return !operand();
    if (token === '(') {
      const value = whole();
      tokens.shift();
      return value;
    }
    const [kind, match] = [token.slice(0, token.indexOf(':')), token.slice(token.indexOf(':') + 1)];
    if (kind === 'role') return identity.roles.includes(match);
    if (kind === 'rule') return depth < 32 && holds(rules[match] ?? '!', rules, identity, depth + 1);
    return token !== '!';
  };
  const whole = (): boolean => readLogic(tokens, { and: 'and', or: 'or' }, operand);
  return tokens.length === 0 || whole();
}
