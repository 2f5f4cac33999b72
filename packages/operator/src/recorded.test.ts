import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { surroundingsOf } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { recorded } from './recorded.ts';

setFlagsFromString('--expose-gc');

/** Collects all that nothing refers to any more. */
async function collectGarbage(): Promise<void> {
  // References that were looked through stay until the end of the turn.
  await setImmediate();
  runInNewContext('gc')();
}

const found = (replicas: number) => ({
  found: {
    apiVersion: 'v1',
    kind: 'A',
    metadata: { name: 'a', uid: 'a', resourceVersion: '' },
    spec: { replicas },
  },
});

test('only what was asked counts, as does what the operator says of itself', () => {
  const first = surroundingsOf({ references: { aRef: found(1), bRef: found(1) } });
  const { surroundings, seal } = recorded(first);
  const answer = surroundings.reference('aRef');
  expect(surroundings.reference('aRef')).toBe(answer);
  const isSame = seal();
  expect(isSame(surroundingsOf({ references: { aRef: found(1), bRef: found(2) }, digests: { s: 'x' } }))).toBe(true);
  expect(isSame(surroundingsOf({ references: { aRef: found(2) } }))).toBe(false);
  expect(isSame(surroundingsOf({ references: { aRef: { missing: 'gone' } } }))).toBe(false);
  expect(isSame(surroundingsOf({ references: { aRef: found(1) }, release: { target: '2025.1' } }))).toBe(false);
});

test('no answer is held when the record has ended', async () => {
  const seals = Array.from({ length: 20 }, (_, index) => {
    const answer = found(index);
    const { surroundings, seal } = recorded(surroundingsOf({ references: { aRef: answer } }));
    surroundings.reference('aRef');
    return { weak: new WeakRef(answer.found), isSame: seal() };
  });
  await collectGarbage();
  // The engine may still hold the last one or two that it looked at.
  expect(seals.filter(({ weak }) => weak.deref() !== undefined).length).toBeLessThan(3);
  expect(seals[3]?.isSame(surroundingsOf({ references: { aRef: found(3) } }))).toBe(true);
});
