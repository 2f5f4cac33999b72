import { surroundingsOf } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { recorded } from './recorded.ts';

const found = (replicas: number) => ({
  found: {
    apiVersion: 'v1',
    kind: 'A',
    metadata: { name: 'a', uid: 'a', resourceVersion: '' },
    spec: { replicas },
  },
});

test('only what was asked counts; of equal answers the newest is kept, as is what the operator says of itself', () => {
  const first = surroundingsOf({ references: { aRef: found(1), bRef: found(1) }, digests: { s: 'x' } });
  const { surroundings, isSame } = recorded(first);
  const answer = surroundings.reference('aRef');
  expect(surroundings.reference('aRef')).toBe(answer);
  expect(isSame(surroundingsOf({ references: { aRef: found(1), bRef: found(2) } }))).toBe(true);
  expect(surroundings.reference('aRef')).not.toBe(answer);
  expect(surroundings.reference('aRef')).toEqual(answer);
  expect(isSame(surroundingsOf({ references: { aRef: found(2) } }))).toBe(false);
  expect(isSame(surroundingsOf({ references: { aRef: found(1) }, release: '2025.1' }))).toBe(false);
  surroundings.digest('s');
  expect(isSame(surroundingsOf({ references: { aRef: found(1) } }))).toBe(false);
});
