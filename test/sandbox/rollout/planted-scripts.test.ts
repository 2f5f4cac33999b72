import { expect, test } from 'vitest';
import { controlPlane, createCloud, networkOnly, readyCloud } from './cloud.ts';

/** What the privileged agents of nodes run. Its name is a digest of its content, which anybody can compute. */
const isStart = (name: string) => /-(ovs-vswitchd|ovs-settings-chassis|ovn-controller)-start-/.test(name);

test('node agents never start with a script that somebody else has put under its name', async () => {
  const first = await readyCloud({ spec: networkOnly });
  const starts = first.cloud.list('ConfigMap').filter(({ metadata }) => isStart(metadata.name));
  expect(starts.length).toBe(3);
  const cloud = await createCloud();
  await cloud.startOperator();
  const env = [];
  for (const { metadata, data } of starts) {
    const { name } = metadata;
    const [key = ''] = Object.keys(data as object);
    const planted = name.includes('vswitchd') ? { [key]: 'exec sleep infinity\n' } : data;
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'openstack' }, data: planted };
    await cloud.settle(cloud.rehearsal.create(object));
    env.push({ name: `X${env.length}`, valueFrom: { configMapKeyRef: { name, key } } });
  }
  // Whoever names it makes the operator read it.
  const metadata = { name: 'deputy', namespace: 'openstack' };
  const spec = { components: { server: { env } } };
  const deputy = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Memcached', metadata, spec };
  await cloud.settle(cloud.rehearsal.create(deputy));
  await cloud.clock.advance(20_000);
  await cloud.settle(cloud.rehearsal.create(controlPlane(networkOnly)));
  await cloud.clock.advance(600_000);

  const [ovn] = cloud.list('OVNNetwork') as { status?: { conditions?: { type: string; reason: string }[] } }[];
  expect(ovn?.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'ConfigReady', reason: 'ForeignObject' }),
  );
  expect(cloud.list('DaemonSet').map((one) => one.metadata.name)).toEqual([]);
});
