import type { StoredObject } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { afterAll } from 'vitest';
import type { Cloud } from './cloud.ts';

/**
 * One cloud for those tests of a file that leave it usable: brought up for the first one that asks for it, stopped
 * after the last one. Whoever asks gets it Ready and with the spec that it had at first; what else a test changes, it
 * puts back itself.
 */
export function sharedCloud<T extends { readonly cloud: Cloud }>(bringUp: () => Promise<T>): () => Promise<T> {
  let shared: Promise<T> | undefined;
  let spec: unknown;
  afterAll(async () => {
    const made = await shared?.catch(() => undefined);
    made?.cloud.rehearsal.stop();
    shared = undefined;
  });
  return async () => {
    shared ??= bringUp();
    const made = await shared;
    const { cloud } = made;
    spec ??= structuredClone(stated(cloud)?.['spec']);
    await restate(cloud, spec);
    return made;
  };
}

const stated = (cloud: Cloud): StoredObject | undefined => cloud.get('OpenStackControlPlane', 'my-cloud');

/** Puts the spec of the control plane back, and waits until the cloud is as it says. */
async function restate(cloud: Cloud, spec: unknown): Promise<void> {
  const now = stated(cloud);
  if (now === undefined) throw new Error('a test before has deleted the cloud that is shared');
  if (JSON.stringify(now['spec']) !== JSON.stringify(spec)) {
    await cloud.settle(cloud.rehearsal.sandbox.client().replace(OpenStackControlPlane, { ...now, spec } as never));
    await cloud.clock.advance(2000);
    await cloud.ready();
    // What ends because of it has ended.
    await cloud.clock.advance(60_000);
  }
  await cloud.ready();
}
