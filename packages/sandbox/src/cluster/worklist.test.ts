import { type Clock, virtualClock } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { Worklist } from './worklist.ts';

const onError = (_: string, error: unknown) => {
  throw error;
};

test('a long list gives way after a while, and goes on where it was', async () => {
  const virtual = virtualClock();
  let spent = 0;
  // Handling a key takes four milliseconds.
  const clock: Clock = {
    now: () => virtual.now(),
    monotonic: () => virtual.monotonic() + spent,
    after: (ms, callback) => virtual.after(ms, callback),
    immediate: (callback) => virtual.immediate(callback),
  };
  const handled: string[] = [];
  const worklist = new Worklist({
    clock,
    handle: (key) => {
      handled.push(key);
      spent += 4;
      if (key === 'a') worklist.add('z');
    },
    onError,
  });
  for (const key of ['a', 'b', 'c', 'd', 'e']) worklist.add(key);
  let meanwhile: string[] = [];
  clock.after(0, () => (meanwhile = [...handled]));
  await virtual.advance(1);
  expect(meanwhile).toEqual(['a', 'b', 'c']);
  expect(handled).toEqual(['a', 'b', 'c', 'd', 'e', 'z']);
});
