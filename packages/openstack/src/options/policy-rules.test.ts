import { policiesOf } from '@openstack-operator/facts/policies';
import { expect, test } from 'vitest';
import { policyVerdict } from './policy-rules.ts';

const rules = policiesOf('2025.1', 'nova');
const of = (name: string, check: string, more: Record<string, string> = {}) =>
  policyVerdict(rules, { ...more, [name]: check }, name);

test.each([
  ['a role', 'role:reader'],
  ['everybody', '@'],
  ['everybody, by nothing', ''],
  ['nobody', '!'],
  ['a rule of the release', 'rule:context_is_admin'],
  ['a target', 'project_id:%(project_id)s'],
  ['all together', "(role:admin and not rule:context_is_admin) or ('public':%(visibility)s and user_id:%(user_id)s)"],
])('%s is a check', (_what, check) => {
  expect(of('os_compute_api:servers:index', check)).toBeUndefined();
});

test.each([
  ['a word', 'admin', 'unexpected admin: expected'],
  ['two checks without a word between them', 'role:admin role:reader', 'unexpected role:reader: expected'],
  ['an end after a word', 'role:admin or', 'it ends too early: expected'],
  ['a parenthesis that stays open', '(role:admin', 'it ends too early: expected'],
  ['a parenthesis that was not opened', 'role:admin)', 'unexpected ): expected'],
  ['a beginning with a word', 'and role:admin', 'unexpected and: expected'],
  ['a rule that nobody has', 'rule:admins', 'rule:admins: no rule of the release or of spec.policy has this name'],
])('%s is none', (_what, check, message) => {
  const verdict = of('os_compute_api:servers:index', check);
  expect(verdict?.kind).toBe('wrong');
  expect(verdict?.message).toContain(message);
});

test('a rule that the release does not have is told with the nearest one', () => {
  expect(of('os_compute_api:server:index', 'role:reader')).toEqual({
    kind: 'unknown',
    message: 'the release has no such rule; did you mean os_compute_api:servers:index?',
  });
});

test('a rule that others refer to is a name of its own', () => {
  expect(of('operators', 'role:operator', { 'os_compute_api:servers:index': 'rule:operators' })).toBeUndefined();
});
