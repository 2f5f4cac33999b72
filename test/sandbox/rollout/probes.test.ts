import { StatefulSet } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { networkOnly, readyCloud } from './cloud.ts';

interface PodStatus {
  conditions?: { type: string; status: string }[];
  containerStatuses?: { restartCount: number }[];
}

const programs = ['nova-scheduler', 'nova-conductor', 'nova-cell1-conductor'];

test('without its broker a program is unready, is not restarted, and comes back with it', async () => {
  const { cloud, operator } = await readyCloud();
  const statuses = () =>
    programs.map((program) => {
      const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(`my-cloud-${program}-`));
      const { conditions = [], containerStatuses = [] } = (pod?.['status'] ?? {}) as PodStatus;
      const ready = conditions.find(({ type }) => type === 'Ready')?.status;
      return `${program}: ready ${ready}, restarted ${containerStatuses[0]?.restartCount}`;
    });
  expect(statuses()).toEqual(programs.map((program) => `${program}: ready True, restarted 0`));
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { rabbitmq: { replicas: 0 } } });
  // Longer than the liveness probe takes to end a program.
  await cloud.clock.advance(15 * 60_000);
  expect(statuses()).toEqual(programs.map((program) => `${program}: ready False, restarted 0`));
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { rabbitmq: { replicas: 1 } } });
  await cloud.ready();
  expect(statuses()).toEqual(programs.map((program) => `${program}: ready True, restarted 0`));
  await cloud.settle(operator.stop());
  cloud.rehearsal.stop();
});

test('a chassis without its southbound database is unready, and nothing restarts it', async () => {
  const { cloud, operator } = await readyCloud({ spec: networkOnly });
  const status = () => {
    const pod = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-ovn-ovn-controller-'));
    const { conditions = [], containerStatuses = [] } = (pod?.['status'] ?? {}) as PodStatus;
    return [conditions.find(({ type }) => type === 'Ready')?.status, containerStatuses[0]?.restartCount];
  };
  expect(status()).toEqual(['True', 0]);
  await cloud.settle(operator.stop());
  await cloud.remove(StatefulSet, 'my-cloud-ovn-sb-db');
  await cloud.clock.advance(5 * 60_000);
  expect(status()).toEqual(['False', 0]);
  await cloud.startOperator({ identity: 'later' });
  await cloud.until(() => status()[0] === 'True');
  expect(status()).toEqual(['True', 0]);
  cloud.rehearsal.stop();
});
