import { expect, test } from 'vitest';
import type { UpgradePhase } from '../api/status.ts';
import type { Progress } from '../engine/vocabulary/step.ts';
import { advance } from './advance.ts';

const step = (condition: string, status: Progress['status'], more: Partial<Progress> = {}): Progress => {
  return { condition, status, reason: status === 'True' ? 'Done' : 'Waiting', message: '', ...more };
};
const upgrading = step('UpgradeReady', 'False');
const from = { deployed: 'a', target: 'b' };
const at = (phase: UpgradePhase, ...progress: readonly Progress[]) =>
  advance({ ...from, phase }, { target: 'b', phase }, [...progress, upgrading]);

test('a release is deployed when every step is done with it', () => {
  expect(advance({}, { target: 'a' }, [step('ConfigReady', 'False')])).toEqual({ target: 'a' });
  expect(advance({}, { target: 'a' }, [step('ConfigReady', 'True')])).toEqual({ deployed: 'a', target: 'a' });
  expect(advance({ deployed: 'a', target: 'a' }, { target: 'b' }, [step('ConfigReady', 'False')])).toEqual(from);
});

test('programs are replaced when the schema was expanded, whatever else is open', () => {
  const others = step('AgentsReady', 'False');
  expect(at('Expand', step('MigrationReady', 'False'), others)).toEqual({ ...from, phase: 'Expand' });
  expect(at('Expand', step('MigrationReady', 'True'), others)).toEqual({ ...from, phase: 'Rollout' });
});

test('the schema is contracted when every program is of the new release, node agents included', () => {
  expect(at('Rollout', step('DeploymentReady', 'False'))).toEqual({ ...from, phase: 'Rollout' });
  expect(at('Rollout', step('AgentsReady', 'True', { outdated: true }))).toEqual({ ...from, phase: 'Rollout' });
  expect(at('Rollout', step('AgentsReady', 'True'))).toEqual({ ...from, phase: 'Contract' });
});

test('the new release is deployed when the schema was contracted', () => {
  expect(at('Contract', step('ContractionReady', 'False'))).toEqual({ ...from, phase: 'Contract' });
  expect(at('Contract', step('ContractionReady', 'True'))).toEqual({ deployed: 'b', target: 'b' });
});

test('of what could not be composed nothing is known', () => {
  expect(advance(from, {}, [step('DependenciesReady', 'False')])).toEqual(from);
});
