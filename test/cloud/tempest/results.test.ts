import { expect, test } from 'vitest';
import { resultOf, summary } from './results.ts';

test('a line of tempest says how a test ended', () => {
  expect(resultOf('{1} tempest.api.image.v2.test_images.ImagesTest.test_one [0.532s] ... ok')).toEqual({
    id: 'tempest.api.image.v2.test_images.ImagesTest.test_one',
    seconds: 0.532,
    outcome: 'passed',
    reason: '',
  });
  expect(resultOf('{0} setUpClass (tempest.api.network.test_ports.PortsTest) [0.000000s] ... FAILED')).toMatchObject({
    id: 'setUpClass (tempest.api.network.test_ports.PortsTest)',
    outcome: 'failed',
  });
  expect(resultOf('{0} setUpClass (tempest.api.a.B) ... SKIPPED: Cinder is not available')).toMatchObject({
    outcome: 'skipped',
    reason: 'Cinder is not available',
  });
  expect(resultOf('    Details: {"code": 409} ... ok')).toBeUndefined();
});

test('the last line counts tests as those of the other suites do, failures first', () => {
  const result = (outcome: 'passed' | 'failed' | 'skipped', reason = '') => ({
    id: 'a.b',
    seconds: 1,
    outcome,
    reason,
  });
  const results = [result('passed'), result('failed'), result('skipped', 'no Cinder'), result('skipped', 'no Cinder')];
  const lines = summary(results, { passed: 1, failed: 0 }).split('\n');
  expect(lines).toContain('     2  no Cinder');
  expect(lines).toContain('FAIL  a.b');
  expect(lines.at(-1)).toBe('      Tests  1 failed | 2 passed | 2 skipped (5)');
  expect(summary([result('passed')], { passed: 1, failed: 0 }).trim()).toBe('Tests  2 passed (2)');
});
