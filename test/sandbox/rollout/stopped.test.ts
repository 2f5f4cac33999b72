import { HorizontalPodAutoscaler, type Kind, Secret } from '@openstack-operator/kube';
import { Glance, Keystone, MariaDB, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { sharedCloud } from './shared-cloud.ts';

const api = 'my-cloud-keystone-api';
const stopped = (workload: string) => ({
  status: 'False',
  reason: 'Stopped',
  message: `${workload} is stopped: its replicas are set to 0; set 1 or more to start it`,
});
const state = async (cloud: Cloud, spec: object) => {
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec });
  await cloud.clock.advance(60_000);
};

const shared = sharedCloud(() => readyCloud({ spec: identityOnly }));

test.each<[string, Kind, string, string]>([
  ['keystone', Keystone, 'my-cloud-keystone', `Deployment ${api}`],
  ['mariadb', MariaDB, 'my-cloud-mariadb', 'StatefulSet my-cloud-mariadb'],
])('%s with 0 replicas is stopped, not Ready, and starts again', async (field, kind, name, workload) => {
  const { cloud } = await shared();
  await state(cloud, { [field]: { replicas: 0 } });
  expect(cloud.get(...(workload.split(' ') as [string, string]))?.['status']).not.toHaveProperty('readyReplicas');
  expect(cloud.condition(kind, name, 'DeploymentReady')).toMatchObject(stopped(workload));
  expect(cloud.condition(kind, name)).toMatchObject(stopped(workload));
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud')).toMatchObject(stopped(workload));
  await state(cloud, { [field]: { replicas: 1 } });
  await cloud.ready();
});

test('what an autoscaler scales is not stopped by a stated 0', async () => {
  const { cloud } = await shared();
  const autoscaler: HorizontalPodAutoscaler = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: api, namespace: 'openstack' },
    spec: { minReplicas: 1, maxReplicas: 9, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: api } },
  };
  await cloud.settle(cloud.rehearsal.sandbox.client().create(HorizontalPodAutoscaler, autoscaler));
  await state(cloud, { keystone: { replicas: 0 } });
  await cloud.ready();
  expect(cloud.get('Deployment', api)?.['spec']).toMatchObject({ replicas: 1 });
  await cloud.remove(HorizontalPodAutoscaler, api);
  await cloud.clock.advance(60_000);
  expect(cloud.condition(Keystone, 'my-cloud-keystone')).toMatchObject(stopped(`Deployment ${api}`));
});

test('a Job that has to run again says which resource it waits for', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, glance: { enabled: true } } });
  await state(cloud, { keystone: { replicas: 0 } });
  await cloud.change(Secret, 'my-cloud-glance-service-password', { stringData: { password: 'another' } });
  await cloud.clock.advance(60_000);
  expect(cloud.condition(Glance, 'my-cloud-glance', 'EndpointReady')).toMatchObject({
    status: 'False',
    reason: 'Waiting',
    message: 'waiting for Keystone my-cloud-keystone, which is not Ready (Stopped)',
  });
  await state(cloud, { keystone: { replicas: 1 } });
  await cloud.ready();
});
