import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Progress } from '../vocabulary/step.ts';
import { nextTls, settledTls, stillSettled, type TlsState, tlsField, tlsState } from './tls-steps.ts';

const progress = (more: Partial<Progress>): Progress[] => [
  { condition: 'KeystoneReady', status: 'True', reason: 'Done', message: '', ...more },
];

test('a cloud in use is prepared first', () => {
  expect(nextTls('Enabled', 'Off', undefined)).toBe('Prepared');
  expect(nextTls('Enabled', 'Prepared', undefined)).toBe('Prepared');
  expect(nextTls('Enabled', 'Prepared', 'Prepared')).toBe('Enabled');
  expect(nextTls('Off', 'Enabled', 'Enabled')).toBe('Prepared');
  expect(nextTls('Off', 'Prepared', 'Prepared')).toBe('Off');
});

test('all are done with a state when all is ready and no agent has that of before', () => {
  expect(settledTls({ now: 'Prepared', wasSettled: false }, progress({}))).toBe('Prepared');
  expect(settledTls({ now: 'Prepared', wasSettled: false }, progress({ status: 'False' }))).toBeUndefined();
  expect(settledTls({ now: 'Prepared', wasSettled: false }, progress({ leaving: true }))).toBeUndefined();
  expect(settledTls({ now: 'Prepared', wasSettled: true }, progress({ status: 'False' }))).toBe('Prepared');
  expect(settledTls({ now: 'Enabled', wasSettled: false }, progress({ status: 'False' }))).toBeUndefined();
  expect(settledTls({ now: 'Off', wasSettled: false }, progress({}))).toBeUndefined();
});

test('what tells of the way itself is not waited for', () => {
  const way: Progress = { condition: 'TLSReady', status: 'False', reason: 'Progressing', message: '' };
  expect(settledTls({ now: 'Prepared', wasSettled: false }, [...progress({}), way])).toBe('Prepared');
});

test('the field of a resource and its state lead to each other', () => {
  for (const state of ['Off', 'Prepared', 'Enabled'] as const) expect(tlsState(tlsField(state))).toBe(state);
});

test('however often somebody changes his mind, no client without trust meets one that the other end expects TLS of', () => {
  const events = fc.array(fc.constantFrom('wish', 'reconcile', 'settle', 'crash'), { maxLength: 60 });
  fc.assert(
    fc.property(events, (steps) => {
      let wanted = false;
      let present: TlsState = 'Off';
      let generation = 1;
      let status: Parameters<typeof stillSettled>[0] = {};
      // What clients and APIs may still be, those that lag behind among them.
      let inUse = new Set<TlsState>([present]);
      const reconcile = (isDone: boolean, isKilled = false) => {
        const settled = stillSettled(status, generation);
        const composed = nextTls(wanted ? 'Enabled' : 'Off', present, settled);
        const wasSettled = present === composed && settled === composed;
        const seen = generation;
        const changed = composed !== present;
        present = composed;
        if (changed) generation += 1;
        inUse.add(present);
        // The operator has told Keystone, and ends before it writes the status.
        if (isKilled) return;
        // What was just changed is not ready at once.
        const tls = settledTls(
          { now: composed, wasSettled },
          progress({ status: isDone && !changed ? 'True' : 'False' }),
        );
        status = tls === undefined ? {} : { tls, tlsGeneration: seen };
        if (isDone && !changed) inUse = new Set([present]);
        expect(inUse.has('Off') && inUse.has('Enabled'), [...inUse].join(', ')).toBe(false);
      };
      for (const step of steps) {
        if (step === 'wish') wanted = !wanted;
        else reconcile(step === 'settle', step === 'crash');
      }
      for (let round = 0; round < 6; round++) reconcile(true);
      expect(present).toBe(wanted ? 'Enabled' : 'Off');
    }),
    { numRuns: 2000, examples: [[['wish', 'reconcile', 'settle', 'crash', 'wish', 'crash']]] },
  );
});
