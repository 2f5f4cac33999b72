import { Pod } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { readyCloud } from './cloud.ts';

test("with the networks of nodes known, agents reach broker and OVN, and other namespaces' pods do not", async () => {
  const { cloud } = await readyCloud({ spec: { nodeNetworks: ['10.89.0.0/16'] } });
  // Nova's agents are up: they speak to the broker from the addresses of their nodes.
  expect(cloud.isReady('Nova', 'my-cloud-nova')).toBe(true);
  const { sandbox } = cloud.rehearsal;
  const image = cloud.list('Pod').find(({ metadata }) => metadata.name === 'my-cloud-mariadb-0')?.['spec'] as {
    containers: { image: string }[];
  };
  const stranger = {
    apiVersion: 'v1' as const,
    kind: 'Pod' as const,
    metadata: { name: 'stranger', namespace: 'default' },
    spec: { containers: [{ name: 'c', image: image.containers[0]?.image ?? '', command: ['sleep', '3600'] }] },
  };
  await cloud.settle(sandbox.client().create(Pod, stranger));
  await cloud.clock.advance(10_000);
  const reach = async (host: string) => {
    const argv = ['timeout', '5', 'bash', '-c', `: < /dev/tcp/${host}`];
    return (await cloud.settle(sandbox.pods.exec({ namespace: 'default', name: 'stranger' }, argv))).code;
  };
  expect(await reach('my-cloud-keystone-api.openstack.svc/5000')).toBe(0);
  for (const closed of [
    'my-cloud-rabbitmq.openstack.svc/5672',
    'my-cloud-mariadb.openstack.svc/3306',
    'my-cloud-ovn-sb-db.openstack.svc/6642',
  ])
    expect([closed, await reach(closed)]).toEqual([closed, 124]);
  cloud.rehearsal.stop();
});
