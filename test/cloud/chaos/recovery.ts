import { realClock } from '@openstack-operator/kube';
import { expect } from 'vitest';
import { slowness } from '../slowness.ts';
import { table } from '../table.ts';
import { answers, ready } from './health.ts';
import { facts, type Witness } from './witness.ts';

/** Seconds after which a recovery is given up, on a machine with nothing else to do. */
const bound = 120;

const rows: string[][] = [];

/** Something that happens to a cloud. */
export interface Happening extends Chaos {
  readonly happen: () => Promise<unknown>;
  /** Seconds. */
  readonly within?: number;
  /** Facts that it changes on purpose. */
  readonly changes?: readonly string[];
}

/**
 * Lets something happen, and waits until the cloud is as before, without a human: APIs answer, the operator says Ready,
 * and what was acknowledged is there.
 */
export async function recovers(
  what: string,
  { witness, before, happen, within = bound, changes = [] }: Happening,
): Promise<void> {
  const slow = slowness();
  const limit = within * slow;
  const began = realClock.now();
  const elapsed = () => (realClock.now() - began) / 1000;
  await happen();
  const back = elapsed();
  await answers(limit, witness.server.id);
  const answered = elapsed();
  await ready(limit);
  const row = [what, ...[back, answered, elapsed()].map((value) => `${value.toFixed(1)} s`), `${slow.toFixed(1)}x`];
  rows.push(row);
  process.stdout.write(`${row.join(', ')}\n`);
  const lasting = (all: Chaos['before']) => Object.entries(all).filter(([fact]) => !changes.includes(fact));
  expect(lasting(await facts(witness)), `after: ${what}`).toEqual(lasting(before));
}

/** What was there before anything happened. */
export interface Chaos {
  readonly witness: Witness;
  readonly before: Readonly<Record<string, unknown>>;
}

/** How long everything took. */
export function printRecoveries(): void {
  const head = ['what', 'it is back', 'APIs answer', 'Ready', 'machine'];
  process.stdout.write(`\n${table(head, rows)}\n`);
}
