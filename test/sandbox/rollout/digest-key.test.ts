import { Job, Secret, type StoredObject } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { describe, expect, test } from 'vitest';
import { type Cloud, identityOnly, isLasting, readyCloud } from './cloud.ts';

const keySecret = 'openstack-digest-key';
const key = (cloud: Cloud) => (cloud.get('Secret', keySecret)?.['data'] as { key?: string } | undefined)?.key;
const isOfCloud = ({ metadata }: StoredObject) => metadata.labels?.['app.kubernetes.io/part-of'] === 'openstack';
/** What restarts or runs again when digests are taken for changes. */
const running = (cloud: Cloud) =>
  [...cloud.list('Pod').filter(isOfCloud), ...cloud.list('Job')]
    .filter(isLasting)
    .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid}`);
const digests = (cloud: Cloud) =>
  Object.fromEntries(
    ['Deployment', 'StatefulSet', 'DaemonSet']
      .flatMap((kind) => cloud.list(kind))
      .map(({ metadata, ...object }) => [
        metadata.name,
        JSON.stringify((object['spec'] as { template: object }).template),
      ]),
  );

/** Every resource is reconciled anew by another life of the operator. */
async function restarted(cloud: Cloud, operator: { stop(): Promise<void> }, meanwhile: () => Promise<unknown>) {
  await cloud.settle(operator.stop());
  await cloud.settle(meanwhile());
  const next = await cloud.startOperator({ identity: 'next' });
  await cloud.clock.advance(300_000);
  return next;
}

test('the key is lost: nothing restarts, no Job runs again, and a credential that changes later is noticed', async () => {
  const { cloud, operator } = await readyCloud({
    nodes: ['node-1', 'node-2', 'node-3'],
    life: { identity: 'first' },
  });
  await cloud.clock.advance(60_000);
  const before = { running: running(cloud), templates: digests(cloud), key: key(cloud) };
  const client = cloud.rehearsal.sandbox.client();
  const next = await restarted(cloud, operator, () =>
    client.delete(Secret, { namespace: 'openstack', name: keySecret }),
  );
  expect(key(cloud)).not.toBe(before.key);
  expect(running(cloud)).toEqual(before.running);
  expect(digests(cloud)).toEqual(before.templates);
  expect(cloud.isReady('OpenStackControlPlane', 'my-cloud')).toBe(true);

  // Lost once more, with digests of two keys behind it.
  await restarted(cloud, next, () => client.delete(Secret, { namespace: 'openstack', name: keySecret }));
  expect(running(cloud)).toEqual(before.running);

  await cloud.remove(Secret, 'my-cloud-placement-db-password');
  await cloud.clock.advance(10_000);
  await cloud.ready();
  const gone = before.running.filter((one) => !running(cloud).includes(one));
  expect(gone.map((one) => one.split(' ')[1])).toEqual(
    expect.arrayContaining(['my-cloud-placement-db-create', expect.stringMatching(/^my-cloud-placement-api-/)]),
  );
  expect(gone.filter((one) => !one.includes(' my-cloud-placement-'))).toEqual([]);
});

describe('the Secret of the key', () => {
  test.each([
    ['has lost its key', { data: { key: null } }],
    ['was changed by hand', { data: { key: Buffer.from('another key').toString('base64') } }],
  ])('%s: nothing restarts', async (_what, patch) => {
    const { cloud, operator } = await readyCloud({ spec: identityOnly, life: { identity: 'first' } });
    await cloud.clock.advance(60_000);
    const before = running(cloud);
    await restarted(cloud, operator, () =>
      cloud.rehearsal.sandbox.client().patch(Secret, { namespace: 'openstack', name: keySecret }, 'merge', patch),
    );
    expect(key(cloud)).toBeTruthy();
    expect(running(cloud)).toEqual(before);
    const bytes = Buffer.from('yet-another-password-1').toString('base64');
    await cloud.change(Secret, 'my-cloud-keystone-db-password', { data: { password: bytes } });
    await cloud.clock.advance(10_000);
    await cloud.ready();
    expect(running(cloud)).not.toEqual(before);
  });

  test('is one for the namespace, outlives the cloud, and belongs to no resource', async () => {
    const { cloud } = await readyCloud({ spec: identityOnly });
    const made = key(cloud);
    expect(cloud.get('Secret', keySecret)?.metadata.ownerReferences).toBeUndefined();
    await cloud.remove(OpenStackControlPlane, 'my-cloud');
    await cloud.clock.advance(60_000);
    expect(key(cloud)).toBe(made);
  });
});

test('a cloud that was restored elsewhere without its key restarts nothing because of its digests', async () => {
  const { cloud, operator } = await readyCloud({ spec: identityOnly, life: { identity: 'first' } });
  await cloud.clock.advance(60_000);
  const before = running(cloud);
  const ofJobs = cloud.list('Job').map(({ metadata }) => metadata.name);
  await restarted(cloud, operator, async () => {
    const client = cloud.rehearsal.sandbox.client();
    await client.delete(Secret, { namespace: 'openstack', name: keySecret });
    // Finished Jobs are seldom part of a backup: what the status says of them counts.
    for (const { metadata } of cloud.list('Job')) {
      await client.delete(Job, { namespace: 'openstack', name: metadata.name }, { propagationPolicy: 'Background' });
    }
  });
  expect(cloud.list('Job')).toEqual([]);
  expect(running(cloud)).toEqual(before.filter((one) => !ofJobs.some((name) => one.includes(` ${name}`))));
});
