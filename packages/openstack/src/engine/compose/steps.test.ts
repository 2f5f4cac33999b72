import { expect, test } from 'vitest';
import { type StepDraft, steps } from './steps.ts';

const draft = (...needs: string[]): StepDraft => ({
  objects: [],
  needs: new Set(needs),
  awaits: [],
  problems: [],
  degraded: [],
  remarks: [],
});

test('each step comes after what it needs, otherwise as written; needs of steps that are not there fall away', () => {
  const drafts = {
    Deployment: draft('Migration', 'Messaging'),
    Migration: draft('Database'),
    Database: draft(),
    Endpoint: draft(),
  };
  expect(steps(drafts, { Endpoint: ['Deployment'] }).map(({ condition, needs }) => [condition, needs])).toEqual([
    ['Database', []],
    ['Migration', ['Database']],
    ['Deployment', ['Migration']],
    ['Endpoint', ['Deployment']],
  ]);
});

test('a circle is a mistake in a definition', () => {
  expect(() => steps({ A: draft('B'), B: draft('A') }, {})).toThrow('steps need each other: A -> B -> A');
});

test('several problems are one, with the reason of the first', () => {
  const problems = [
    { reason: 'GatewayMissing' as const, message: 'one' },
    { reason: 'SecretMissing' as const, message: 'two' },
  ];
  expect(steps({ A: { ...draft(), problems } }, {})[0]?.problem).toEqual({
    reason: 'GatewayMissing',
    message: 'one; two',
  });
});
