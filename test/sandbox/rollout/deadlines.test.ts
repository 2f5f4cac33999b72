import { Node, Pod } from '@openstack-operator/kube';
import { Keystone, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, identityOnly, readyCloud } from './cloud.ts';

const keystone = 'my-cloud-keystone';

async function cordon(cloud: Cloud, unschedulable: boolean): Promise<void> {
  for (const { metadata } of cloud.list('Node'))
    await cloud.settle(
      cloud.rehearsal.sandbox.client().patch(Node, { name: metadata.name }, 'merge', { spec: { unschedulable } }),
    );
}
const phase = (cloud: Cloud, kind: string, name: string) =>
  (cloud.get(kind, name)?.status as { phase?: string } | undefined)?.phase;
const phases = (cloud: Cloud) => [
  phase(cloud, 'Keystone', keystone),
  phase(cloud, 'OpenStackControlPlane', 'my-cloud'),
];
const warnings = (cloud: Cloud, reason: string) =>
  cloud
    .list('Event')
    .filter((event) => event['type'] === 'Warning' && event['reason'] === reason)
    .map((event) => ((event['involvedObject'] ?? event['regarding']) as { kind: string }).kind)
    .sort();
const versions = (cloud: Cloud) =>
  [...cloud.list('Keystone'), ...cloud.list('OpenStackControlPlane')].map(({ metadata }) => metadata.resourceVersion);

test('what was Ready and does not come back is Degraded after a while, says so once, and recovers by itself', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  await cloud.clock.advance(60_000);
  await cordon(cloud, true);
  const pod = cloud.list('Pod').find(({ metadata: { name } }) => name.startsWith(`${keystone}-api-`));
  await cloud.remove(Pod, pod?.metadata.name ?? '');
  await cloud.clock.advance(13 * 60_000);
  expect(cloud.condition(Keystone, keystone)?.reason).toBe('NotAvailable');
  expect(phase(cloud, 'Keystone', keystone)).toBe('Progressing');
  await cloud.clock.advance(4 * 60_000);
  expect(phases(cloud)).toEqual(['Degraded', 'Degraded']);
  for (const [kind, name] of [
    [Keystone, keystone],
    [OpenStackControlPlane, 'my-cloud'],
  ] as const) {
    const ready = cloud.condition(kind, name);
    expect(ready?.reason).toBe('ProgressDeadlineExceeded');
    expect(ready?.message).toMatch(/0 of 1 pods are ready.*nothing has changed since .*: see the events and logs/);
  }
  const told = warnings(cloud, 'ProgressDeadlineExceeded');
  expect([...new Set(told)]).toEqual(['Keystone', 'OpenStackControlPlane']);
  const before = versions(cloud);
  await cloud.clock.advance(30 * 60_000);
  expect(versions(cloud)).toEqual(before);
  expect(warnings(cloud, 'ProgressDeadlineExceeded')).toEqual(told);
  await cordon(cloud, false);
  await cloud.ready();
  await cloud.clock.advance(5000);
  expect(phases(cloud)).toEqual(['Ready', 'Ready']);
});

test('what never was Ready and does not come is Failed after a while', async () => {
  const cloud = await createCloud();
  await cordon(cloud, true);
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.clock.advance(10 * 60_000);
  expect(phase(cloud, 'MariaDB', 'my-cloud-mariadb')).toBe('Progressing');
  await cloud.clock.advance(10 * 60_000);
  expect(phase(cloud, 'MariaDB', 'my-cloud-mariadb')).toBe('Failed');
  expect(phase(cloud, 'OpenStackControlPlane', 'my-cloud')).toBe('Failed');
  await cordon(cloud, false);
  await cloud.ready();
});

test('pods that crash after they were Ready are a warning long before, and the cloud is Degraded while they do', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  await cloud.clock.advance(60_000);
  const pod = cloud.list('Pod').find(({ metadata: { name } }) => name.startsWith(`${keystone}-api-`));
  const ref = { namespace: 'openstack', name: pod?.metadata.name ?? '' };
  const running = () => {
    const status = cloud.get('Pod', ref.name)?.['status'] as { containerStatuses?: { state?: object }[] } | undefined;
    return status?.containerStatuses?.[0]?.state !== undefined && 'running' in status.containerStatuses[0].state;
  };
  for (let crash = 0; crash < 3; crash++) {
    await cloud.until(running);
    cloud.rehearsal.sandbox.pods.kill(ref);
    await cloud.clock.advance(4000);
  }
  expect(cloud.condition(Keystone, keystone)?.reason).toBe('CrashLoopBackOff');
  expect(phases(cloud)).toEqual(['Degraded', 'Degraded']);
  await cloud.ready();
  await cloud.clock.advance(5000);
  expect(phases(cloud)).toEqual(['Ready', 'Ready']);
  expect([...new Set(warnings(cloud, 'CrashLoopBackOff'))]).toEqual(['Keystone', 'OpenStackControlPlane']);
});
