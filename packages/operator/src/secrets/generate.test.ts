import { type KubeObject, seededRandom, virtualClock } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { ComposeContext } from '../context.ts';
import { updateSecret } from './generate.ts';

test('what stays in a Secret keeps its bytes, whether they are a text or not', async () => {
  const rings = Buffer.from('1f8b0800ff8002fe', 'hex').toString('base64');
  const written: KubeObject[] = [];
  const context = {
    client: { replace: (_kind: unknown, object: KubeObject) => Promise.resolve(written.push(object)) },
    random: seededRandom(1),
    clock: virtualClock(),
    signal: new AbortController().signal,
  } as unknown as ComposeContext;
  const metadata = { name: 'rings', namespace: 'openstack', labels: { kept: 'true' } };
  const live = { apiVersion: 'v1', kind: 'Secret', metadata, data: { 'object.ring.gz': rings, old: 'b2xk' } };
  const desired = { values: { made: { type: 'password', length: 16 } } };
  const action = { desired, live, metadata, missing: ['made'], rotate: false } as never;
  await updateSecret(context, action);
  expect(written[0]?.['data']).toEqual({ 'object.ring.gz': rings, old: 'b2xk', made: expect.any(String) });
});
