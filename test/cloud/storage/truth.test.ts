import { expect, test } from 'vitest';
import { containers } from '../pods.ts';
import { programMistakes } from '../truth/checks.ts';

test.each(['glance', 'nova', 'cinder'])(
  '%s with its data in Ceph: its options are its own, its validator and its upgrade check are content',
  async (service) => {
    expect(await programMistakes(service, await containers())).toEqual([]);
  },
);
