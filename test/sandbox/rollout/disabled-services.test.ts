import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { controlPlane, createCloud } from './cloud.ts';

test('a cloud that loses a service is Ready once that is gone, and those that reckoned with it have rolled out', async () => {
  let latency = 0;
  const cloud = await createCloud({
    nodes: ['node-1', 'node-2'],
    wire: (transport) => ({
      ...transport,
      async request(request, signal) {
        // Statuses and objects of the others come later than the reconcile of the control plane.
        if (latency > 0 && request.method !== 'GET')
          await new Promise<void>((resolve) => void cloud.clock.after(latency, resolve));
        return await transport.request(request, signal);
      },
    }),
  });
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane({ barbican: {}, skyline: {} })));
  await cloud.ready();
  for (latency of [40, 200]) {
    const isThere = latency === 200;
    const seen: string[] = [];
    const unsubscribe = cloud.rehearsal.sandbox.api.store.subscribe(OpenStackControlPlane, ({ object }) => {
      const { readyGeneration } = object['status'] as { readyGeneration?: number };
      if (readyGeneration !== object.metadata.generation || seen.length > 0) return;
      const behind = ['Nova', 'Skyline']
        .flatMap((kind) => cloud.list(kind))
        .filter((one) => {
          const { peers = [] } = one['status'] as { peers?: readonly string[] };
          return peers.includes('Barbican') !== isThere;
        });
      seen.push(`${cloud.list('Barbican').length} of Barbican`, ...behind.map(({ metadata: { name } }) => name));
    });
    await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { barbican: { enabled: isThere } } });
    await cloud.until(() => seen.length > 0);
    unsubscribe();
    expect(seen).toEqual([`${isThere ? 1 : 0} of Barbican`]);
    // It stays so: nobody begins to roll out after that. Agents whose Nova is Ready are still being replaced.
    const status = () => ({
      ...(cloud.get('OpenStackControlPlane', 'my-cloud')?.['status'] as object),
      agentsLeaving: undefined,
    });
    const begun = status();
    await cloud.clock.advance(5000);
    expect(status()).toEqual(begun);
  }
});
