import { setImmediate } from 'node:timers/promises';
import { Job, timestamp } from '@openstack-operator/kube';
import { Keystone } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { asOperator, type Cloud, controlPlane, createCloud, identityOnly } from './cloud.ts';

const keystone = { namespace: 'openstack', name: 'my-cloud-keystone' };
const pause = { metadata: { annotations: { 'openstack.k8s.io/paused': 'true' } } };
const job = (cloud: Cloud, name: string) => cloud.get('Job', `${keystone.name}-${name}`);

test('a resource that is paused while a pass writes is written no further than the steps that were open then', async () => {
  let paused = false;
  const cloud: Cloud = await createCloud({
    wire: (transport) => ({
      ...transport,
      async request(request, signal) {
        const answer = await transport.request(request, signal);
        if (!paused && request.method === 'POST' && String(request.body).includes(`${keystone.name}-db-password`)) {
          paused = true;
          await cloud.rehearsal.sandbox.client().patch(Keystone, keystone, 'merge', pause);
          await setImmediate();
        }
        return answer;
      },
    }),
  });
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.until(() => paused);
  await cloud.clock.advance(60_000);
  expect(job(cloud, 'db-create')).toBeUndefined();
  expect(cloud.get('Keystone', keystone.name)?.status).toMatchObject({ phase: 'Paused' });
});

test('a Job that failed while no operator ran is told of, though it is run again at once', async () => {
  const cloud = await createCloud();
  const first = await cloud.startOperator(asOperator);
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.until(() => job(cloud, 'db-sync') !== undefined);
  first.kill();
  const at = timestamp(cloud.clock);
  const failed = { type: 'Failed', status: 'True', reason: 'Test', message: 'it did not work', lastTransitionTime: at };
  const { uid } = job(cloud, 'db-sync')?.metadata ?? {};
  const ref = { ...keystone, name: `${keystone.name}-db-sync` };
  const target = { ...failed, type: 'FailureTarget' };
  const status = { startTime: at, failed: 1, conditions: [target, failed] };
  const client = cloud.rehearsal.sandbox.client();
  await cloud.settle(client.patch(Job, ref, 'merge', { status }, { subresource: 'status' }));
  await cloud.clock.advance(120_000);
  await cloud.startOperator(asOperator);
  await cloud.ready();
  expect(job(cloud, 'db-sync')?.metadata.uid).not.toBe(uid);
  const told = cloud
    .list('Event')
    .map((event) => ({ reason: event['reason'], note: event['message'] ?? event['note'] }));
  expect(told).toContainEqual({ reason: 'JobFailed', note: expect.stringContaining('it did not work') });
});
